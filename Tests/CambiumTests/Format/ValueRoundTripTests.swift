// Goal: every value comes back exactly, down to the bits. Method: the borders of each type, and
// random values from a seed, stored and read again; compared by `areExactlyEqual`, not by the
// engine's `==`.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("A stored value")
struct ValueRoundTripTests {
  /// Stores a value, reads it, and expects the same; returns the stored form.
  @discardableResult
  static func roundTrip(
    _ value: Value, _ note: String = "", location: SourceLocation = #_sourceLocation
  ) throws -> [UInt8] {
    let bytes = try value.stored()
    let back = try Value.decoded(bytes)
    #expect(
      areExactlyEqual(back, value), "\(value) came back as \(back) \(note)",
      sourceLocation: location)
    #expect(back == value, "\(value) is not \(back) \(note)", sourceLocation: location)
    #expect(back.hashValue == value.hashValue, "\(value) \(note)", sourceLocation: location)
    #expect(try back.stored() == bytes, "\(value) \(note)", sourceLocation: location)
    return bytes
  }

  @Test("comes back exactly", arguments: FormatSeeds.first(20))
  func comesBack(seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    for index in 0..<400 {
      try Self.roundTrip(random.value(), "(seed \(seed), value \(index))")
    }
  }

  @Test("is equal to another only when their bytes are", arguments: FormatSeeds.first(4))
  func equality(seed: UInt64) throws {
    var random = FormatRandom(seed: 1_000 + seed)
    let values = (0..<150).map { _ in random.value(depth: 1) }
    let bytes = try values.map { try $0.stored() }
    for a in values.indices {
      for b in values.indices {
        let isSame = bytes[a] == bytes[b]
        #expect((values[a] == values[b]) == isSame, "\(values[a]), \(values[b]), seed \(seed)")
      }
    }
  }

  @Test("is an integer in the fewest bytes", arguments: FormatRandom.integerBorders)
  func integers(_ number: Int64) throws {
    let bytes = try Self.roundTrip(.integer(number))
    let widths: [Int: ClosedRange<Int64>] = [
      1: -128...127, 2: -32_768...32_767, 4: -2_147_483_648...2_147_483_647,
    ]
    let width = widths.keys.sorted().first { widths[$0]?.contains(number) == true }
    #expect(bytes.count == 1 + (width ?? 8))
  }

  @Test("keeps each bit of a double", arguments: FormatRandom.doublePatterns)
  func doubles(_ pattern: UInt64) throws {
    let bytes = try Self.roundTrip(.double(Double(bitPattern: pattern)))
    #expect(bytes.count == 9)
  }

  @Test("tells an integer from a double, and the kinds of nothing apart")
  func kindsStayApart() throws {
    let values: [Value] = [
      .integer(1), .double(1), .bool(true), .string("1"), .decimal(1), .null, .string(""),
      .data(Data()), .array([]), .map([:]), .reference(.root), .array([.null]), .map(["": .null]),
      .double(0), .double(-0.0), .integer(0), .bool(false), .data(Data("1".utf8)),
    ]
    for (index, value) in values.enumerated() {
      try Self.roundTrip(value)
      #expect(values.firstIndex(of: value) == index, "\(value) equals an earlier one")
    }
    #expect(Set(values).count == values.count)
  }

  @Test("does not normalize text")
  func text() throws {
    let pairs = [("\u{E9}", "e\u{301}"), ("\u{212B}", "\u{C5}"), ("\u{AC00}", "\u{1100}\u{1161}")]
    for (a, b) in pairs {
      #expect(a == b, "Swift's own comparison has changed")
      #expect(try Self.roundTrip(.string(a)) != Self.roundTrip(.string(b)))
      #expect(Value.string(a) != .string(b))
      let both = ValueMap([(name: a, value: .integer(1)), (name: b, value: .integer(2))])
      #expect(both.count == 2)
      try Self.roundTrip(.map(both))
    }
    for text in ["", "\u{0}", "a\u{0}b", "\r\n", "\u{FEFF}", "\u{FFFF}", "\u{10FFFF}", "🇩🇪"] {
      try Self.roundTrip(.string(text))
    }
    try Self.roundTrip(.string(String(repeating: "\u{0}é", count: 100_000)))
  }

  @Test("keeps bytes of any content")
  func data() throws {
    try Self.roundTrip(.data(Data()))
    try Self.roundTrip(.data(Data(0...255)))
    try Self.roundTrip(.data(Data(repeating: 0, count: 70_000)))
    let slice = Data(0...255)[100..<120]
    try Self.roundTrip(.data(slice))
  }

  @Test(
    "keeps decimals to the last digit and the last zero",
    arguments: [
      "0", "-0", "0e5", "0e-128", "1", "-1", "10", "1000", "1e127", "1000e127", "-1000e127",
      "99e126",
      "1e-128", "-15e-128", "1000e-128", "0.1", "-123.4500", "1e-38",
      "12345678901234567890123456789012345678", "99999999999999999999999999999999999999e89",
      "-0.99999999999999999999999999999999999999", "12345678901234567890123456789012345678e-128",
      "340282366920938463463374607431768211455", "340282366920938463463374607431768211455e127",
      "123456789012345678901234567890123456780e120", "18446744073709551616", "-4294967296.5",
    ])
  func decimals(_ text: String) throws {
    let decimal = try #require(Decimal(string: text))
    #expect(!decimal.isNaN)
    try Self.roundTrip(.decimal(decimal))
    try Self.roundTrip(.decimal(-decimal))
  }

  @Test("keeps decimals that were computed, and what is none", arguments: FormatSeeds.first(3))
  func computedDecimals(seed: UInt64) throws {
    var random = FormatRandom(seed: 200 + seed)
    for decimal in [.nan, .greatestFiniteMagnitude, .leastNonzeroMagnitude] as [Decimal] {
      try Self.roundTrip(.decimal(decimal))
    }
    // Small exponents, since Foundation's own arithmetic traps where one leaves its eight bits.
    for _ in 0..<2_000 {
      var decimal = Decimal(random.below(1_000_000)) / Decimal(1 + random.below(1_000))
      for _ in 0..<3 {
        let other = Decimal(1 + random.below(1_000_000)) / 100
        switch random.below(4) {
        case 0: decimal += other
        case 1: decimal -= other
        case 2: decimal *= other
        default: decimal /= other
        }
      }
      try Self.roundTrip(.decimal(decimal), "(seed \(seed))")
    }
  }

  @Test("keeps UUIDs, references and blobs")
  func references() throws {
    for byte in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
      let uuid = try [UInt8](repeating: byte, count: 16).lend { try $0.uuid(at: 0) }
      try Self.roundTrip(.uuid(uuid))
      try Self.roundTrip(.blob(Blob(hash: [UInt8](repeating: byte, count: 32), size: .max)))
    }
    let deep = NodePath(keys: (0..<10_000).map { Key.integer(Int64($0)) })
    for path in [.root, "a", "a/-1/~0~1", deep] as [NodePath] {
      try Self.roundTrip(.reference(path))
    }
  }
}

// MARK: Dates

extension ValueRoundTripTests {
  @Test("keeps each microsecond that a date can hold", arguments: FormatSeeds.first(3))
  func dates(seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    // A double, counting seconds from 2001, has room for microseconds in the years 1729 to 2273.
    let range: ClosedRange<Int64> = -7_600_000_000_000_000...9_500_000_000_000_000
    let borders = [
      0, 1, -1, 999_999, 1_000_000, -999_999, -1_000_000, range.lowerBound, range.upperBound,
    ]
    for time in borders + (0..<5_000).map({ _ in Int64.random(in: range, using: &random) }) {
      let date = Date(microseconds: time)
      guard date.microseconds == time else {
        Issue.record("\(time) became \(date.microseconds), seed \(seed)")
        continue
      }
      try Self.roundTrip(.date(date), "(seed \(seed))")
    }
  }

  @Test("is the date nearest to any, and then stays that", arguments: FormatSeeds.first(3))
  func anyDates(seed: UInt64) throws {
    var random = FormatRandom(seed: 100 + seed)
    for _ in 0..<5_000 {
      let time = Double(Int64(bitPattern: random.next()) >> Int64(1 + random.below(60))) / 1_000_003
      let date = Date(timeIntervalSinceReferenceDate: time)
      let back = try Value.decoded(Value.date(date).stored())
      #expect(back == .date(date), "\(time), seed \(seed)")
      guard case .date(let again) = back else { continue }
      #expect(abs(again.timeIntervalSinceReferenceDate - time) <= 0.5e-6 + time.ulp, "\(time)")
      try Self.roundTrip(back, "(seed \(seed))")
    }
  }

  @Test("is refused where a date is beyond all time, and clamped where one is compared with it")
  func endlessDates() throws {
    let ends: [(Double, Int64)] = [
      (.infinity, .max), (-.infinity, .min), (1e300, .max), (-1e300, .min), (.nan, 0),
    ]
    for (time, microseconds) in ends {
      let date = Date(timeIntervalSinceReferenceDate: time)
      #expect(date.microseconds == microseconds)
      #expect(throws: DatabaseError.self) { try Value.date(date).stored() }
      let constant = try Value.decoded(Value.date(date).storedConstant())
      #expect(constant == .date(date), "\(time)")
    }
    // No build stores these, so that reading them is damage; the ends are what older builds stored.
    let unstored: [Int64] = [.min + 1, .max - 1, 9_100_000_000_000_000_000]
    for time in unstored {
      let stored = [ValueTag.date] + [UInt8](littleEndian: UInt64(bitPattern: time))
      #expect(throws: DatabaseError.self) { try Value.decoded(stored) }
    }
    for time in [Int64.min, .min + 1, .max, .max - 1] { _ = Date(microseconds: time).microseconds }
  }
}

// MARK: Nesting

extension ValueRoundTripTests {
  /// Arrays and maps by turns, so many of them around a number.
  static func nested(_ depth: Int) -> Value {
    (0..<depth).reduce(.integer(7)) { inner, level in
      level.isMultiple(of: 2) ? .array([inner]) : .map(["in": inner])
    }
  }

  @Test("nests down to the limit, and not one deeper")
  func nesting() throws {
    for depth in [0, 1, 2, 99, Value.nestingMax] { try Self.roundTrip(Self.nested(depth)) }
    for depth in [Value.nestingMax + 1, 150, 5_000] {
      let error = #expect(throws: DatabaseError.self) { try Self.nested(depth).stored() }
      guard case .badValue(_, let reason)? = error else {
        Issue.record("\(depth) deep: \(error.map { "\($0)" } ?? "nothing")")
        continue
      }
      #expect(reason.contains("100 deep") && reason.contains("child nodes"))
    }
  }

  @Test("that nests too deep is damage, not a trap")
  func storedNesting() throws {
    for levels in [101, 200, 3_000] {
      var bytes: [UInt8] = [ValueTag.null]
      for _ in 0..<levels {
        var outer: [UInt8] = [ValueTag.array]
        outer.append(varint: UInt64(bytes.count))
        bytes = outer + bytes
      }
      #expect(throws: DatabaseError.corrupt(reason: "a stored value nests too deep")) {
        try Value.decoded(bytes)
      }
    }
  }
}
