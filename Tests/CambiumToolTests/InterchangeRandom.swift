import Cambium
import FoundationEssentials

/// Random numbers that a seed repeats (SplitMix64), and random values of every kind.
struct InterchangeRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }

  /// Bytes, up to `max` of them.
  mutating func bytes(max: Int) -> [UInt8] {
    (0..<below(max + 1)).map { _ in UInt8.random(in: 0...255, using: &self) }
  }

  /// Text with all that is awkward somewhere.
  mutating func text(max: Int = 12) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<below(max + 1) { text.append(scalar()) }
    return String(text)
  }

  private mutating func scalar() -> UnicodeScalar {
    if below(3) > 0 { return UnicodeScalar(UInt8(0x61 + below(26))) }
    if below(2) > 0 {
      return pick(Array("\"\\,\n\r\t\0 $/~'é€😀\u{7F}\u{9F}\u{202E}\u{FEFF}{}[]:".unicodeScalars))
    }
    while true {
      if let scalar = UnicodeScalar(UInt32.random(in: 0...0x10FFFF, using: &self)) { return scalar }
    }
  }

  /// A double of any bit pattern, and often a plain one.
  mutating func double() -> Double {
    switch below(4) {
    case 0: Double(bitPattern: next())
    case 1: Double(Int64.random(in: -1000...1000, using: &self)) / 8
    case 2: Double(Int64.random(in: -100_000...100_000, using: &self)) / 100
    default:
      pick([0, -0.0, .infinity, -.infinity, .nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude])
    }
  }

  /// An integer of any size.
  mutating func integer() -> Int64 { Int64(bitPattern: next()) >> Int64(below(64)) }

  /// A date; with a fraction only in times for which `Date` has room for microseconds.
  mutating func date() -> Date {
    let microseconds =
      below(2) == 0
      ? Int64.random(in: -7_000_000_000...7_000_000_000, using: &self) * 1_000_000
      : Int64.random(in: 0...4_000_000_000_000_000, using: &self)
    return Date(microseconds: microseconds)
  }

  mutating func uuid() -> UUID {
    var text = ""
    for count in [8, 4, 4, 4, 12] {
      if !text.isEmpty { text += "-" }
      for _ in 0..<count { text += String(below(16), radix: 16) }
    }
    return UUID(uuidString: text) ?? UUID()
  }

  mutating func decimal() -> Decimal {
    if below(20) == 0 { return .nan }
    var digits = ""
    for _ in 0...below(38) { digits += String(below(10)) }
    let significand = Decimal(string: digits) ?? 0
    let exponent = below(2) == 0 ? -below(6) : below(200) - 100
    return Decimal(
      sign: below(2) == 0 ? .plus : .minus, exponent: exponent, significand: significand)
  }

  mutating func key() -> Key {
    switch below(3) {
    case 0: return .integer(integer())
    case 1: return .uuid(uuid())
    default:
      let text = String(text().unicodeScalars.filter { $0 != "\0" })
      return (try? Key(text)) ?? 0
    }
  }

  mutating func blob() -> Blob {
    let hash = (0..<32).map { _ in UInt8.random(in: 0...255, using: &self) }
    return Blob(hash: hash, size: next() >> UInt64(below(64)))
  }

  mutating func record(depth: Int) -> ValueMap {
    ValueMap((0..<below(5)).map { _ in (name: name(), value: value(depth: depth)) })
  }

  private mutating func name() -> String {
    below(4) == 0 ? pick(["$", "$$", "$date", "$blob", "$$data", "size", ""]) : text()
  }

  /// A value of any kind, nested up to `depth`.
  mutating func value(depth: Int) -> Value {
    switch below(depth > 0 ? 13 : 11) {
    case 0: return .null
    case 1: return .bool(below(2) == 0)
    case 2: return .integer(integer())
    case 3: return .double(double())
    case 4: return .string(text())
    case 5: return .data(Data(bytes(max: 9)))
    case 6: return .date(date())
    case 7: return .uuid(uuid())
    case 8: return .decimal(decimal())
    case 9: return .reference(NodePath(keys: (0..<below(4)).map { _ in key() }))
    case 10: return .blob(blob())
    case 11: return .array((0..<below(5)).map { _ in value(depth: depth - 1) })
    default: return .map(record(depth: depth - 1))
    }
  }
}
