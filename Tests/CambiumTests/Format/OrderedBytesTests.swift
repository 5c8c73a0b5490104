import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

/// The order of values as bytes. Goal: for any two values, comparing the bytes says what comparing
/// the values says. Method: random pairs, close to each other and to the limits, compared by a
/// function that knows nothing of bytes.
@Suite("The order of values")
struct OrderedBytesTests {
  /// The places of kinds in the order.
  private static func kind(_ value: Value) -> Int {
    switch value {
    case .null: 0
    case .bool: 1
    case .integer, .double: 2
    case .decimal: 3
    case .date: 4
    case .uuid: 5
    case .string: 6
    case .data: 7
    default: 8
    }
  }

  /// Less than, equal to or greater than zero.
  private static func compare(_ a: Value, _ b: Value) -> Int {
    if kind(a) != kind(b) { return kind(a) - kind(b) }
    switch (a, b) {
    case (.bool(let a), .bool(let b)): return (a ? 1 : 0) - (b ? 1 : 0)
    case (.integer(let a), .integer(let b)): return a < b ? -1 : a > b ? 1 : 0
    case (.double(let a), .double(let b)): return compare(a, b)
    case (.integer(let a), .double(let b)): return compare(a, b)
    case (.double(let a), .integer(let b)): return -compare(b, a)
    case (.decimal(let a), .decimal(let b)):
      if a.isNaN || b.isNaN { return (a.isNaN ? 1 : 0) - (b.isNaN ? 1 : 0) }
      return a < b ? -1 : a > b ? 1 : 0
    case (.date(let a), .date(let b)):
      return a.microseconds < b.microseconds ? -1 : a.microseconds > b.microseconds ? 1 : 0
    case (.string(let a), .string(let b)): return compare(Array(a.utf8), Array(b.utf8))
    case (.data(let a), .data(let b)): return compare(Array(a), Array(b))
    case (.uuid(let a), .uuid(let b)):
      return compare(Array(a.uuidString.utf8), Array(b.uuidString.utf8))
    default: return 0
    }
  }

  private static func compare(_ a: Double, _ b: Double) -> Int {
    if a.isNaN || b.isNaN { return (a.isNaN ? 1 : 0) - (b.isNaN ? 1 : 0) }
    return a < b ? -1 : a > b ? 1 : 0
  }

  private static func compare(_ a: Int64, _ b: Double) -> Int {
    if b.isNaN || b >= 0x1p63 { return -1 }
    if b < -0x1p63 { return 1 }
    let whole = Int64(b.rounded(.down))
    if a != whole { return a < whole ? -1 : 1 }
    return b > b.rounded(.down) ? -1 : 0
  }

  private static func compare(_ a: [UInt8], _ b: [UInt8]) -> Int {
    a.lexicographicallyPrecedes(b) ? -1 : a == b ? 0 : 1
  }

  private static func value(_ random: inout SeededGenerator) -> Value {
    switch random.below(12) {
    case 0: return .null
    case 1: return .bool(random.oneIn(2))
    case 2, 3: return .integer(integer(&random))
    case 4, 5: return .double(double(&random))
    case 6: return .decimal(decimal(&random))
    case 7: return .date(Date(microseconds: Int64(random.below(5)) - 2))
    case 8: return .string(String(decoding: bytes(&random), as: UTF8.self))
    case 9: return .data(Data(bytes(&random)))
    case 10: return .integer(Int64(truncatingIfNeeded: random.next()))
    default: return .double(Double(bitPattern: random.next()))
    }
  }

  private static func integer(_ random: inout SeededGenerator) -> Int64 {
    let bases: [Int64] = [0, 1 << 53, -(1 << 53), .max - 600, .min + 600, 1 << 62, 255]
    return bases[random.below(bases.count)] + (Int64(random.below(1200)) - 600)
  }

  private static func double(_ random: inout SeededGenerator) -> Double {
    let some: [Double] = [
      0, -0.0, .nan, .infinity, -.infinity, 0x1p53, -0x1p53, 0x1p63, -0x1p63,
      .leastNonzeroMagnitude,
    ]
    return random.oneIn(2)
      ? some[random.below(some.count)] : Double(integer(&random)) + (random.oneIn(2) ? 0.5 : 0)
  }

  private static func decimal(_ random: inout SeededGenerator) -> Decimal {
    if random.oneIn(10) { return .nan }
    let digits = ["0", "1", "10", "105", "99", "1000000000000000000000000000000000000"]
    let sign = random.oneIn(2) ? "-" : ""
    let exponent = random.below(7) - 3
    return Decimal(string: "\(sign)\(digits[random.below(digits.count)])e\(exponent)") ?? 0
  }

  private static func bytes(_ random: inout SeededGenerator) -> [UInt8] {
    let some: [UInt8] = [0, 1, 97, 98, 0x7F]
    return (0..<random.below(5)).map { _ in some[random.below(some.count)] }
  }

  @Test("is that of their bytes, up and down", arguments: SeededGenerator.seeds(1, 2, 3))
  func order(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20_000 {
      let (a, b) = (Self.value(&random), Self.value(&random))
      let expected = Self.compare(a, b).signum()
      let up = try Self.compare(OrderedBytes.of(a), OrderedBytes.of(b))
      #expect(up == expected, "\(a) and \(b), seed \(seed)")
      let down = try Self.compare(
        OrderedBytes.of(a, isDescending: true), OrderedBytes.of(b, isDescending: true))
      #expect(down == -expected, "\(a) and \(b) descending, seed \(seed)")
    }
  }

  @Test("of two values after each other goes by the first, then by the second")
  func rows() throws {
    var random = SeededGenerator(seed: 4)
    for _ in 0..<20_000 {
      let (a, b) = (Self.value(&random), Self.value(&random))
      let (c, d) = (Self.value(&random), Self.value(&random))
      let rows = try (
        OrderedBytes.of(a) + OrderedBytes.of(b), OrderedBytes.of(c) + OrderedBytes.of(d)
      )
      let first = Self.compare(a, c).signum()
      let expected = first == 0 ? Self.compare(b, d).signum() : first
      #expect(Self.compare(rows.0, rows.1) == expected, "\(a), \(b) and \(c), \(d)")
    }
  }

  @Test("of decimals takes whole numbers among them")
  func decimals() throws {
    let ascending: [Value] = [
      .integer(.min), .decimal(-1.5), .integer(-1), .integer(0), .decimal(0.25), .integer(1),
      .decimal(Decimal(string: "1.0001") ?? 0), .integer(10), .integer(.max),
    ]
    let bytes = try ascending.map { try OrderedBytes.of($0, as: .decimal) }
    for (a, b) in zip(bytes, bytes.dropFirst()) { #expect(a.lexicographicallyPrecedes(b)) }
    #expect(
      try OrderedBytes.of(.integer(5), as: .decimal) == OrderedBytes.of(.decimal(5), as: .decimal))
  }

  @Test("takes texts as one that differ in what a collation ignores")
  func collations() throws {
    for (a, b) in [("Straße", "STRASSE"), ("Éa", "éA"), ("ABC", "abc"), ("\u{E9}", "e\u{301}")] {
      #expect(try Self.folded(a, .ignoringCase) == Self.folded(b, .ignoringCase))
      #expect(try Self.folded(a, .binary) != Self.folded(b, .binary))
    }
    #expect(try Self.folded("Éa", .ignoringCase) != Self.folded("Ea", .ignoringCase))
    let plain = Collation.ignoringCaseAndDiacritics
    #expect(try Self.folded("Ångström", plain) == Self.folded("angstrom", plain))
  }

  private static func folded(_ text: String, _ collation: Collation) throws -> [UInt8] {
    try OrderedBytes.of(.string(text), as: .string, collation)
  }

  @Test("of references is that of the keys that they name")
  func references() throws {
    let type = PropertyType.reference("users")
    let uuid = try #require(UUID(uuidString: "0190F5C2-0000-7000-8000-000000000001"))
    let keys: [Value] = ["-5", "7", .integer(42), .uuid(uuid), "ada", "bob"]
    let bytes = try keys.map { try OrderedBytes.of($0, as: type) }
    for (a, b) in zip(bytes, bytes.dropFirst()) { #expect(a.lexicographicallyPrecedes(b)) }
    #expect(try OrderedBytes.of("42", as: type) == OrderedBytes.of(.integer(42), as: type))
    #expect(
      try OrderedBytes.of(.string(uuid.uuidString.lowercased()), as: type)
        == OrderedBytes.of(.uuid(uuid), as: type))
  }
}
