// Random text, keys, paths and values that a seed repeats, with all that is awkward among them.

import FoundationEssentials
import Simulation

@testable import Cambium

/// The seeds of a random test, which the runner prints with it: the first ones, or the one that the
/// environment's `CAMBIUM_SEED` names.
enum FormatSeeds {
  static func first(_ count: UInt64) -> [UInt64] {
    let wish = ProcessInfo.processInfo.environment["CAMBIUM_SEED"].flatMap { UInt64($0) }
    return wish.map { [$0] } ?? Array(1...count)
  }
}

/// Makes random things of the format from a seed.
struct FormatRandom: RandomNumberGenerator {
  /// The blobs that are there to be referred to.
  var blobs: [Blob] = []
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func next() -> UInt64 { generator.next() }

  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

  mutating func chance(oneIn count: Int) -> Bool { below(count) == 0 }

  mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }

  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }

  /// A length that is often small, sometimes not.
  mutating func length(upTo limit: Int) -> Int {
    chance(oneIn: 8) ? below(limit + 1) : below(min(limit, 12) + 1)
  }
}

// MARK: Text

extension FormatRandom {
  /// Scalars that confuse code that compares characters: parts that combine, pairs that are equal
  /// when normalized, ends of lines, noncharacters, other planes.
  private static let awkward = [
    "\u{0}\t\r\n \"'/~\\\u{7F}\u{85}\u{A0}", "\u{E9}\u{301}\u{308}\u{212B}\u{C5}",
    "\u{1100}\u{1161}\u{AC00}\u{200D}\u{202E}\u{FEFF}", "\u{FFFD}\u{FFFE}\u{FFFF}\u{10FFFF}",
    "\u{1F600}\u{1F1E9}\u{1F1EA}",
  ].flatMap(\.unicodeScalars)

  private mutating func scalar() -> Unicode.Scalar {
    switch below(4) {
    case 0: return pick(FormatRandom.awkward)
    case 1: return Unicode.Scalar(UInt32(below(0x11_0000))) ?? "\u{D7FF}"
    default: return Unicode.Scalar(UInt8(0x20 + below(0x5F)))
    }
  }

  /// Text of any scalars, empty one time in some.
  mutating func text(upTo limit: Int = 200) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<length(upTo: limit) { text.append(scalar()) }
    return String(text)
  }

  /// Text that may be a key or a property's name.
  mutating func keyText() -> String {
    while true {
      let text = text(upTo: 120)
      if (try? Key.checked(text)) != nil { return text }
    }
  }
}

// MARK: Keys and paths

extension FormatRandom {
  mutating func key() -> Key {
    switch below(4) {
    case 0: return .integer(integer())
    case 1: return .uuid(uuid())
    default: return (try? Key(keyText())) ?? .integer(0)
    }
  }

  mutating func path(upTo depth: Int = 6) -> NodePath {
    NodePath(keys: (0..<below(depth + 1)).map { _ in key() })
  }

  mutating func uuid() -> UUID { uuid(bytes(16)) }

  private func uuid(_ bytes: [UInt8]) -> UUID {
    (try? bytes.lend { try $0.uuid(at: 0) }) ?? UUID()
  }
}

// MARK: Values

extension FormatRandom {
  /// The numbers where an integer's stored form gets wider, and their neighbours.
  static let integerBorders: [Int64] = [
    0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, -32769, 65535, 65536,
    2_147_483_647, 2_147_483_648, -2_147_483_648, -2_147_483_649, 4_294_967_295, 4_294_967_296,
    .max, .max - 1, .min, .min + 1,
  ]

  /// Bit patterns of doubles that careless code loses: signs of zero, NaNs of either kind with what
  /// they carry, infinities, the smallest and the largest.
  static let doublePatterns: [UInt64] = [
    0, 1 << 63, 1, 1 << 63 | 1, 0x000F_FFFF_FFFF_FFFF, 0x0010_0000_0000_0000, 0x7FEF_FFFF_FFFF_FFFF,
    0x7FF0_0000_0000_0000, 0xFFF0_0000_0000_0000, 0x7FF0_0000_0000_0001, 0x7FF8_0000_0000_0000,
    0xFFF8_0000_DEAD_BEEF, 0x7FFF_FFFF_FFFF_FFFF, 0x3FF0_0000_0000_0000, 0x4340_0000_0000_0001,
  ]

  mutating func integer() -> Int64 {
    chance(oneIn: 2)
      ? pick(FormatRandom.integerBorders) : Int64(bitPattern: next()) >> Int64(below(64))
  }

  mutating func double() -> Double {
    Double(bitPattern: chance(oneIn: 2) ? pick(FormatRandom.doublePatterns) : next())
  }

  /// A moment that `Date` can hold to the microsecond: it counts in doubles, from 2001.
  mutating func date() -> Date {
    switch below(6) {
    case 0: return pick([.distantPast, .distantFuture, Date(timeIntervalSince1970: 0)])
    case 1: return Date(timeIntervalSince1970: Double(below(400_000_000_000)) - 200_000_000_000)
    default: return Date(microseconds: Int64(bitPattern: next()) >> 13)
    }
  }

  /// Up to 38 digits and any exponent that this many digits can have.
  mutating func decimal() -> Decimal {
    if chance(oneIn: 30) { return .nan }
    let digits = (0...below(38)).map { _ in String(below(10)) }.joined()
    let exponent = below(256) - 128
    let text = "\(chance(oneIn: 2) ? "-" : "")\(digits)e\(exponent)"
    return Decimal(string: text) ?? 0
  }

  /// A reference to a blob: any, or one of ``blobs`` where values are stored in a database.
  mutating func blob() -> Blob {
    let any = Blob(hash: bytes(32), size: next())
    return blobs.isEmpty ? any : blobs[Int(any.size % UInt64(blobs.count))]
  }

  /// A value without others in it.
  mutating func scalarValue() -> Value {
    switch below(12) {
    case 0: .null
    case 1: .bool(chance(oneIn: 2))
    case 2, 3: .integer(integer())
    case 4: .double(double())
    case 5: .string(text())
    case 6: .data(Data(bytes(length(upTo: 300))))
    case 7: .date(date())
    case 8: .uuid(uuid())
    case 9: .decimal(decimal())
    case 10: .reference(path())
    default: .blob(blob())
    }
  }

  /// Any value; arrays and maps down to `depth`.
  mutating func value(depth: Int = 3) -> Value {
    guard depth > 0, chance(oneIn: 3) else { return scalarValue() }
    if chance(oneIn: 2) { return .array((0..<below(6)).map { _ in value(depth: depth - 1) }) }
    return .map(record(depth: depth) { $0.text(upTo: 20) })
  }

  /// A record, with names from a closure.
  mutating func record(depth: Int, _ name: (inout FormatRandom) -> String) -> ValueMap {
    var record = ValueMap()
    for _ in 0..<below(6) { record[name(&self)] = value(depth: depth - 1) }
    return record
  }
}
