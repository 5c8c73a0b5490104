// Goal: what is written today is read for ever. Method: the bytes of each kind of value, key, path
// and record, written out by hand from the file format, must be what is stored, and must be read
// as that.

import FoundationEssentials
import Testing

@testable import Cambium

/// A value with its stored form.
struct GoldenValue: Sendable, CustomTestStringConvertible {
  let name: String
  let value: Value
  let hex: String

  init(_ name: String, _ value: Value, _ hex: String) {
    self.name = name
    self.value = value
    self.hex = hex
  }

  var testDescription: String { name }

  static let uuid = (try? [UInt8](0x10...0x1F).lend { try $0.uuid(at: 0) }) ?? UUID()
  /// 2026-01-02 03:04:05.678901 UTC.
  static let date = Date(microseconds: 1_767_323_045_678_901)

  static let all: [GoldenValue] = numbers + texts + decimals + containers

  private static let numbers = [
    GoldenValue("null", .null, "00"),
    GoldenValue("false", false, "01"),
    GoldenValue("true", true, "02"),
    GoldenValue("integer 0", 0, "03 00"),
    GoldenValue("integer -1", -1, "03 FF"),
    GoldenValue("integer 127", 127, "03 7F"),
    GoldenValue("integer -128", -128, "03 80"),
    GoldenValue("integer 128", 128, "04 8000"),
    GoldenValue("integer -129", -129, "04 7FFF"),
    GoldenValue("integer 32,768", 32_768, "05 00800000"),
    GoldenValue("integer -32,769", -32_769, "05 FF7FFFFF"),
    GoldenValue("integer 2³¹", 2_147_483_648, "06 0000008000000000"),
    GoldenValue("smallest integer", .integer(.min), "06 0000000000000080"),
    GoldenValue("double 1.5", 1.5, "07 000000000000F83F"),
    GoldenValue("double -0.0", .double(-0.0), "07 0000000000000080"),
    GoldenValue(
      "NaN with a payload", .double(Double(bitPattern: 0xFFF8_0000_DEAD_BEEF)),
      "07 EFBEADDE0000F8FF"),
  ]

  private static let texts = [
    GoldenValue("empty text", "", "08"),
    GoldenValue("text", "aé\u{0}😀", "08 61 C3A9 00 F09F9880"),
    GoldenValue("text that combines", "e\u{301}", "08 65 CC81"),
    GoldenValue("no bytes", .data(Data()), "09"),
    GoldenValue("bytes", .data(Data([0, 0xFF])), "09 00FF"),
    GoldenValue("date", .date(date), "0A 354F57F65E470600"),
    GoldenValue("date 0", .date(Date(timeIntervalSince1970: 0)), "0A 0000000000000000"),
    GoldenValue("distant past", .date(.distantPast), "0A 008025C5D83F23FF"),
    GoldenValue("distant future", .date(.distantFuture), "0A 000072C986B3E300"),
    GoldenValue("UUID", .uuid(uuid), "0B 101112131415161718191A1B1C1D1E1F"),
    GoldenValue("reference to the root", .reference(.root), "0F"),
    GoldenValue(
      "reference", .reference("a/1/~1"),
      """
      0F
      03 61 00                ; text a
      01 8000000000000001     ; integer 1
      03 2F 00                ; text /
      """),
    GoldenValue(
      "blob", .blob(Blob(hash: [UInt8](0x80..<0xA0), size: 0x0102)),
      """
      10
      808182838485868788898A8B8C8D8E8F909192939495969798999A9B9C9D9E9F   ; hash
      0201000000000000                                                   ; size
      """),
  ]

  private static let decimals = [
    GoldenValue("decimal 0", .decimal(0), "0C 00 00"),
    GoldenValue("decimal 7", .decimal(7), "0C 00 00 07"),
    GoldenValue("decimal 12.5", decimal("12.5"), "0C 00 FF 7D"),
    GoldenValue("decimal -0.001", decimal("-0.001"), "0C 01 FD 01"),
    GoldenValue("decimal 300.01", decimal("300.01"), "0C 00 FE 3175"),
    GoldenValue("decimal 1e127", decimal("1e127"), "0C 00 7F 01"),
    GoldenValue("decimal -9e-128", decimal("-9e-128"), "0C 01 80 09"),
    GoldenValue(
      "decimal of 38 digits", decimal(String(repeating: "9", count: 38)),
      "0C 00 00 FFFFFFFF3F228A097AC4865AA84C3B4B"),
    GoldenValue("decimal NaN", .decimal(.nan), "0C 02 00"),
  ]

  private static func decimal(_ text: String) -> Value { .decimal(Decimal(string: text) ?? .nan) }

  private static let containers = [
    GoldenValue("empty array", [], "0D"),
    GoldenValue(
      "array", [1, [true], .null],
      """
      0D
      02 03 01        ; 2 bytes: integer 1
      03 0D 01 02     ; 3 bytes: array of (1 byte: true)
      01 00           ; 1 byte: null
      """),
    GoldenValue(
      "array with a long element", [.string(String(repeating: "x", count: 200))],
      "0D C901 08" + String(repeating: "78", count: 200)),
    GoldenValue("empty map", [:], "0E"),
    GoldenValue(
      "map", ["é": .null, "a": 1, "": ["b": false]],
      """
      0E
      00       05 0E 01 62 01 01   ; no name: map of (b: false)
      01 61    02 03 01            ; a: integer 1
      02 C3A9  01 00               ; é: null
      """),
  ]
}

@Suite("The stored form of values, byte by byte,")
struct GoldenValueTests {
  @Test("is what the file format says", arguments: GoldenValue.all)
  func values(_ golden: GoldenValue) throws {
    let bytes = [UInt8](hex: golden.hex)
    #expect(try golden.value.stored().hex == bytes.hex)
    #expect(areExactlyEqual(try Value.decoded(bytes), golden.value))
  }

  @Test("is shown here for every tag")
  func allTags() throws {
    let tags = Set(try GoldenValue.all.map { try #require([UInt8](hex: $0.hex).first) })
    #expect(tags == Set(0...0x10))
    for tag in (0x11...0xFF) as ClosedRange<UInt8> {
      #expect(
        throws: DatabaseError.corrupt(reason: "a stored value has the unknown kind \(tag)")
      ) { try Value.decoded([tag] + [UInt8](repeating: 0, count: 40)) }
    }
  }
}

@Suite("The stored form of keys and paths, byte by byte,")
struct GoldenKeyTests {
  @Test(
    "is what the file format says",
    arguments: [
      (.integer(5), "01 8000000000000005"),
      (.integer(-1), "01 7FFFFFFFFFFFFFFF"),
      (.integer(.min), "01 0000000000000000"),
      (.integer(.max), "01 FFFFFFFFFFFFFFFF"),
      (.uuid(GoldenValue.uuid), "02 101112131415161718191A1B1C1D1E1F"),
      (.text("é/~"), "03 C3A9 2F 7E"),
      (.text("05"), "03 3035"),
    ] as [(Key, String)])
  func keys(_ key: Key, _ hex: String) throws {
    #expect(KeyTests.stored(key).hex == [UInt8](hex: hex).hex)
    #expect(try [UInt8](hex: hex).lend { try Key($0) } == key)
  }

  @Test("puts the keys of a path one after the other")
  func path() throws {
    let path: NodePath = "users/-5/10111213-1415-1617-1819-1a1b1c1d1e1f/a~1b"
    let bytes = [UInt8](
      hex: """
        03 7573657273 00                        ; text users
        01 7FFFFFFFFFFFFFFB                     ; integer -5
        02 101112131415161718191A1B1C1D1E1F     ; UUID
        03 612F62 00                            ; text a/b
        """)
    #expect(path.bytes.hex == bytes.hex)
    #expect(try NodePath(checking: bytes) == path)
    #expect(NodePath.root.bytes.isEmpty)
  }
}

@Suite("The stored form of records, byte by byte,")
struct GoldenRecordTests {
  static let small = [UInt8](
    hex: """
      00             ; small
      03             ; 3 properties
      0300 0400      ; name 3, its value ends at 4
      0700 0700      ; name 7, ends at 7
      0201 0800      ; name 258, ends at 8
      08 416461      ; text Ada
      04 1707        ; integer 1815
      00             ; null
      """)
  static let large = [UInt8](
    hex: """
      01                       ; large
      02000000                 ; 2 properties
      03000000 01000000        ; name 3, its value ends at 1
      00000100 03000000        ; name 65,536, ends at 3
      02                       ; true
      03 05                    ; integer 5
      """)

  /// Stores a record whose names have these numbers.
  static func stored(_ record: ValueMap, _ names: [String: NameID]) throws -> [UInt8] {
    var encoder = RecordEncoder()
    return try encoder.encode(record) { try #require(names[$0]) }
  }

  @Test("is what the file format says")
  func records() throws {
    let ada: ValueMap = ["name": "Ada", "born": 1815, "note": .null]
    let names: [String: NameID] = ["name": 3, "born": 7, "note": 258, "wide": 65_536]
    #expect(try Self.stored(ada, names).hex == Self.small.hex)
    #expect(try Self.stored(["name": true, "wide": 5], names).hex == Self.large.hex)
    #expect(try Self.stored([:], names).hex == "0000")
  }

  @Test("is the same when it is put together property by property")
  func builder() throws {
    for stored in [Self.small, Self.large, [0, 0]] {
      let builder = try stored.lend { try RecordBuilder($0) }
      #expect(builder.stored().hex == stored.hex)
    }
    var builder = RecordBuilder()
    builder[65_536] = [3, 5]
    builder[3] = [2]
    #expect(builder.stored().hex == Self.large.hex)
  }
}
