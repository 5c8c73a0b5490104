// Goal: a stored record holds what it was made of, however it is made and read. Method: the
// borders between its two forms, and random records from a seed, read as a whole, by property, and
// taken apart.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("A stored record")
struct RecordCodingTests {
  /// Names in an order of definition that is not the order of their bytes.
  private static func catalog(_ count: Int, _ random: inout FormatRandom) throws -> Catalog {
    var catalog = Catalog()
    var id: NameID = 0
    while catalog.count < count {
      let name = random.keyText()
      if catalog.id(of: name) == nil {
        try catalog.define(name, as: id)
        id += 1
      }
    }
    return catalog
  }

  private static func encode(_ record: ValueMap, _ catalog: Catalog) throws -> [UInt8] {
    var encoder = RecordEncoder()
    return try encoder.encode(record) { try #require(catalog.id(of: $0)) }
  }

  @Test("is encoded with the numbers that its names have by now, when the state has lost some")
  func forgetting() throws {
    let kept = KeptBuffers()
    let record: ValueMap = ["a": 1, "b": 2]
    var asked = 0
    func encode(_ buffers: WritingBuffers, from first: NameID) throws -> [UInt8] {
      asked = 0
      return try buffers.encoder.encode(record) { name in
        asked += 1
        return name == "a" ? first : first + 1
      }
    }
    let buffers = kept.take(names: 4)
    let stored = try encode(buffers, from: 3)
    kept.keep(buffers, names: 5)
    let again = kept.take(names: 5)
    #expect(try encode(again, from: 3) == stored && asked == 0)
    kept.keep(again, names: 5)
    let lost = kept.take(names: 4)
    #expect(try encode(lost, from: 2) != stored && asked == 2)
  }

  @Test("comes back as a whole and by property", arguments: FormatSeeds.first(4))
  func roundTrip(seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    let catalog = try Self.catalog(60, &random)
    for _ in 0..<150 {
      var record = ValueMap()
      for _ in 0..<random.below(20) { record[random.pick(catalog.names)] = random.value(depth: 2) }
      let stored = try Self.encode(record, catalog)
      try stored.lend { bytes in
        #expect(areExactlyEqual(.map(try ValueMap(stored: bytes, catalog)), .map(record)))
        let table = try RecordTable(bytes)
        #expect(table.count == record.count)
        for (id, name) in catalog.names.enumerated() {
          let range = try table.find(bytes, NameID(id))
          let value = try range.map { try Value(bytes.extracting($0)) }
          #expect(value == record[name], "\(name), seed \(seed)")
        }
      }
    }
  }

  @Test("is the same bytes when it is built up and cut down", arguments: FormatSeeds.first(4))
  func builder(seed: UInt64) throws {
    var random = FormatRandom(seed: 100 + seed)
    let catalog = try Self.catalog(20, &random)
    var record = ValueMap()
    var builder = RecordBuilder()
    for _ in 0..<300 {
      let name = random.pick(catalog.names)
      let value: Value? = random.chance(oneIn: 3) ? nil : random.value(depth: 2)
      record[name] = value
      builder[try #require(catalog.id(of: name))] = try value?.stored()
      #expect(builder.stored() == (try Self.encode(record, catalog)), "seed \(seed)")
    }
    #expect(builder.count == record.count)
  }

  @Test("is small up to 255 properties, 65,535 bytes and name 65,535")
  func forms() throws {
    let numbers = Dictionary(uniqueKeysWithValues: (0..<256).map { ("n\($0)", NameID($0)) })
    let many = ValueMap(numbers.keys.map { (name: $0, value: .integer(1)) })
    try expectForm(many, numbers, isLarge: true)
    var fewer = many
    fewer["n7"] = nil
    try expectForm(fewer, numbers, isLarge: false)
    for (count, isLarge) in [(65_534, false), (65_535, true)] {
      let text = String(repeating: "x", count: count)
      try expectForm(["n0": .string(text)], numbers, isLarge: isLarge)
      try expectForm(
        ["n0": .string(String(text.dropLast())), "n1": true], numbers, isLarge: isLarge)
    }
    try expectForm(["a": 1, "b": 2], ["a": 0, "b": 0xFFFF], isLarge: false)
    try expectForm(["a": 1, "b": 2], ["a": 0x10000, "b": 0], isLarge: true)
    try expectForm(["a": 1, "b": 2], ["a": .max, "b": 0], isLarge: true)
  }

  private func expectForm(
    _ record: ValueMap, _ names: [String: NameID], isLarge: Bool,
    location: SourceLocation = #_sourceLocation
  ) throws {
    let stored = try GoldenRecordTests.stored(record, names)
    #expect(stored[0] == (isLarge ? 1 : 0), sourceLocation: location)
    try stored.lend { bytes in
      let table = try RecordTable(bytes)
      #expect(table.count == record.count, sourceLocation: location)
      for member in record.members {
        let name = try #require(names[member.name])
        let range = try #require(try table.find(bytes, name))
        #expect(try Value(bytes.extracting(range)) == member.value, sourceLocation: location)
      }
      #expect(try RecordBuilder(bytes).stored() == stored, sourceLocation: location)
    }
  }

  @Test("does not depend on the records that were stored before it")
  func encoder() throws {
    struct Refused: Error {}
    let names: [String: NameID] = ["a": 5, "b": 3, "c": 9]
    let records: [ValueMap] = [
      ["a": 1, "b": 2], ["b": 3, "a": 4], [:], ["a": 1], ["c": 1], ["a": 5, "b": 6],
    ]
    var encoder = RecordEncoder()
    for record in records + records.reversed() {
      let expected = try GoldenRecordTests.stored(record, names)
      #expect(try encoder.encode(record) { try #require(names[$0]) } == expected)
      #expect(throws: Refused.self) {
        _ = try encoder.encode(["a": 1, "bad": 2]) { name in
          guard let id = names[name] else { throw Refused() }
          return id
        }
      }
      #expect(try encoder.encode(record) { try #require(names[$0]) } == expected)
      encoder.forget()
      #expect(try encoder.encode([:]) { _ in throw Refused() } == [0, 0])
      let renamed = try encoder.encode(record) { try #require(names[$0]) + 1 }
      #expect(try renamed == GoldenRecordTests.stored(record, names.mapValues { $0 + 1 }))
      encoder.forget()
    }
  }

  @Test("with a damaged table is an error")
  func damage() {
    let damaged = [
      "", "00", "01", "02 00", "00 01", "00 01 0300", "00 01 0300 0000 02", "00 01 0300 0200 02",
      "00 02 0300 0100 0400 0100 02 02", "00 02 0300 0200 0400 0100 02 02",
      "00 02 0400 0100 0300 0200 02 02", "00 02 0300 0100 0300 0200 02 02",
      "01 FFFFFFFF", "01 01000000 03000000 FFFFFFFF 02", "01 00000080",
    ]
    for hex in damaged {
      #expect(throws: DatabaseError.self, "\(hex)") {
        try [UInt8](hex: hex).lend { _ = try RecordBuilder($0) }
      }
    }
  }
}
