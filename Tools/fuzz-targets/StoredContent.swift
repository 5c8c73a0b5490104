@testable import Cambium

/// The content of a node, decoded, encoded and decoded again.
enum StoredContent {
  /// More names than the records of the fixtures have.
  private static let catalog: Catalog = {
    var catalog = Catalog()
    for id in 0..<300 as Range<NameID> { try? catalog.define("name \(id)", as: id) }
    return catalog
  }()

  /// Reads a stored value and uses all of it.
  static func value(_ bytes: [UInt8]) throws {
    let value = try bytes.lend { try Value($0) }
    _ = value.hashValue
    _ = "\(value)"
    require(value == value, "\(value) is itself")
    requireReturn(of: value, { try $0.stored() }) { try $0.lend { try Value($0) } }
  }

  /// Reads a stored record in each of the ways that there are.
  static func record(_ bytes: [UInt8]) throws {
    unlessRefused("properties") { try properties(bytes) }
    unlessRefused("a record taken apart") { try builder(bytes) }
    let record = try bytes.lend { try ValueMap(stored: $0, catalog) }
    _ = record.hashValue
    requireReturn(of: record, encoded) { try $0.lend { try ValueMap(stored: $0, catalog) } }
  }

  private static func encoded(_ record: ValueMap) throws -> [UInt8] {
    var encoder = RecordEncoder()
    return try encoder.encode(record) { name in
      guard let id = catalog.id(of: name) else { fatalError("fuzz: \(name) is not defined") }
      return id
    }
  }

  private static func properties(_ bytes: [UInt8]) throws {
    try bytes.lend { record in
      let table = try RecordTable(record)
      for name in 0..<300 as Range<NameID> {
        if let range = try table.find(record, name) { _ = try Value(record.extracting(range)) }
      }
    }
  }

  private static func builder(_ bytes: [UInt8]) throws {
    let stored = try bytes.lend { try RecordBuilder($0) }.stored()
    let again = mustSucceed("taking apart again") { try stored.lend { try RecordBuilder($0) } }
    require(again.stored() == stored, "a record that was taken apart has one form")
  }
}
