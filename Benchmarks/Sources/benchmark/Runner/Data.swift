/// The reason why a run failed, in one sentence.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// The same numbers on every machine and in every run: SplitMix64 (Steele, Lea, Flood, 2014).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  @inline(__always)
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return SeededGenerator.mixed(state)
  }

  /// A number in `0..<bound`, a little biased and without division.
  @inline(__always)
  mutating func next(below bound: Int) -> Int {
    Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  @inline(__always)
  static func mixed(_ value: UInt64) -> UInt64 {
    var mixed = value
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// The results of a computation, folded into 64 bits, so that a faster wrong answer shows.
struct Digest: Equatable {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  @inline(__always)
  mutating func add(_ word: UInt64) {
    value = (value ^ word) &* 0x0000_0100_0000_01B3
    value ^= value >> 29
  }

  @inline(__always)
  mutating func add(_ word: Int64) { add(UInt64(bitPattern: word)) }

  /// Folds the bytes in, eight at a time.
  @inline(__always)
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var offset = 0
    while offset &+ 8 <= bytes.count {
      unsafe add(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset &+= 8
    }
    while offset < bytes.count {
      unsafe add(UInt64(bytes[offset]))
      offset &+= 1
    }
    add(UInt64(truncatingIfNeeded: bytes.count))
  }
}
