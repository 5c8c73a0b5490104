// A whole number of any size, designed for addition: a window of limbs in two's complement. Zeros
// below the window and the sign above it are not kept.
//
//     … 0 0 0 | limb limb limb | sign sign …        limb i counts 2^(64·i)
//               ↑ start
//
// Stored: length (varint); unless that is 0, the place of the first byte (varint) and the bytes,
// little-endian, without zeros at the lower end and with the shortest sign extension at the upper
// one. So a number has one stored form, whatever was added to reach it.

/// A whole number of any size for sums.
struct WideInteger: Sendable {
  /// The place of the first limb.
  private var start = 0
  /// The limbs; the last one is all sign, so that adding a limb cannot overflow.
  private var limbs: [UInt64] = [0]

  /// Zero.
  init() {}

  private var sign: UInt64 { (limbs.last ?? 0) >> 63 == 1 ? .max : 0 }

  /// True if it is less than zero.
  var isNegative: Bool { sign != 0 }

  /// Adds a number of 128 bits in two's complement, times 2^(64·place).
  @inline(__always)
  mutating func add(_ low: UInt64, _ high: UInt64, at place: Int) {
    makeRoom(place)
    var index = place - start
    let (first, carry) = limbs[index].addingReportingOverflow(low)
    limbs[index] = first
    index += 1
    addHigh(high, carry, from: index)
  }

  /// Adds the upper limb, the carry, and the sign all the way up.
  @inline(__always)
  private mutating func addHigh(_ high: UInt64, _ carry: Bool, from start: Int) {
    var (index, carry, addend) = (start, carry, high)
    let extensionLimb: UInt64 = high >> 63 == 1 ? .max : 0
    while index < limbs.count {
      let (sum, first) = limbs[index].addingReportingOverflow(addend)
      let (total, second) = sum.addingReportingOverflow(carry ? 1 : 0)
      limbs[index] = total
      carry = first || second
      addend = extensionLimb
      index += 1
      // Nothing is left to add: no carry to zeros, or a carry to ones.
      if (extensionLimb == 0) != carry { break }
    }
    if sign != limbs[limbs.count - 1] { limbs.append(sign) }
  }

  /// Ensures that the window holds two limbs from a place on, and one of sign above them.
  @inline(__always)
  private mutating func makeRoom(_ place: Int) {
    if place < start {
      limbs.insert(contentsOf: repeatElement(0, count: start - place), at: 0)
      start = place
    }
    while limbs.count < place - start + 3 { limbs.append(sign) }
  }

  /// Adds another number, or subtracts it.
  mutating func add(_ other: WideInteger, negated: Bool = false) {
    let magnitude = other.magnitude
    let isNegative = other.isNegative != negated
    for (index, limb) in magnitude.enumerated() where limb != 0 {
      let value = isNegative ? -Int128(limb) : Int128(limb)
      add(
        UInt64(truncatingIfNeeded: value), UInt64(truncatingIfNeeded: value >> 64),
        at: other.start + index)
    }
  }

  /// The limbs of the number without its sign, from its first place on.
  private var magnitude: [UInt64] {
    guard isNegative else { return limbs }
    var carry = true
    return limbs.map { limb in
      let (sum, overflow) = (~limb).addingReportingOverflow(carry ? 1 : 0)
      carry = overflow
      return sum
    }
  }

  /// The limbs of the number without its sign, from place 0 on.
  var magnitudeFromZero: [UInt64] { Array(repeating: 0, count: start) + magnitude }
}

extension WideInteger: Hashable {
  static func == (a: WideInteger, b: WideInteger) -> Bool { a.stored == b.stored }

  func hash(into hasher: inout Hasher) { hasher.combine(stored) }
}

// MARK: The stored form

extension WideInteger {
  /// The stored form.
  private var stored: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  /// Adds the stored form.
  func append(to bytes: inout [UInt8]) {
    var all: [UInt8] = []
    for limb in limbs { all.append(littleEndian: limb) }
    let filler: UInt8 = isNegative ? 0xFF : 0
    var end = all.count
    while end > 0, all[end - 1] == filler, end == 1 || all[end - 2] >> 7 == filler >> 7 { end -= 1 }
    // For -1 one byte is kept, which is all sign.
    if isNegative && end == 0 { end = 1 }
    let first = all[..<end].firstIndex { $0 != 0 } ?? end
    bytes.append(varint: UInt64(end - first))
    if first == end { return }
    bytes.append(varint: UInt64(start * 8 + first))
    bytes += all[first..<end]
  }

  /// The maximum length of a stored number, in bytes.
  private static let bytesMax: UInt64 = 512

  /// Reads the stored form.
  init(_ bytes: RawSpan, at offset: inout Int) throws {
    let count = try bytes.length(at: &offset)
    if count == 0 {
      self.init()
      return
    }
    let first = try bytes.varint(at: &offset)
    guard first < WideInteger.bytesMax, count < WideInteger.bytesMax else {
      throw DatabaseError.corrupt(reason: "a stored sum is too large")
    }
    let stored = try bytes.array(offset, count)
    offset += count
    self.init(stored, from: Int(first))
  }

  private init(_ bytes: [UInt8], from first: Int) {
    start = first / 8
    let filler: UInt8 = (bytes.last ?? 0) >> 7 == 1 ? 0xFF : 0
    var padded = [UInt8](repeating: 0, count: first % 8) + bytes
    repeat { padded.append(filler) } while padded.count % 8 != 0
    limbs = stride(from: 0, to: padded.count, by: 8).map { index in
      padded[index..<(index + 8)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    let sign = sign
    if limbs.last != sign { limbs.append(sign) }
  }
}
