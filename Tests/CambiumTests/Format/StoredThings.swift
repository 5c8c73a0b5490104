// A thing of each kind that is stored, and all that reads it: what the tests of damage damage.

import FoundationEssentials
import Testing

@testable import Cambium

/// Something stored, and how it is read.
struct StoredThing: Sendable, CustomTestStringConvertible {
  let name: String
  let bytes: [UInt8]
  /// True if reading must fail after any change to the bytes.
  let isChecked: Bool
  /// Reads all of it.
  let read: @Sendable ([UInt8]) throws -> Void

  var testDescription: String { name }

  /// Reads damaged bytes, and expects the right kind of answer.
  func expectNoTrap(_ damaged: [UInt8], _ what: @autoclosure () -> String) {
    do {
      try read(damaged)
      if isChecked { Issue.record("\(name), \(what()): no error") }
    } catch DatabaseError.corrupt {
    } catch DatabaseError.unsupported where !isChecked {
    } catch {
      Issue.record("\(name), \(what()): \(error)")
    }
  }
}

extension StoredThing {
  static let all: [StoredThing] =
    values + [smallRecord, largeRecord, links, operations] + keys + versions + entries + unsealed

  private static func unchecked(
    _ name: String, _ bytes: [UInt8], _ read: @escaping @Sendable ([UInt8]) throws -> Void
  ) -> StoredThing {
    StoredThing(name: name, bytes: bytes, isChecked: false, read: read)
  }

  private static func checked(
    _ name: String, _ bytes: [UInt8], _ read: @escaping @Sendable ([UInt8]) throws -> Void
  ) -> StoredThing {
    StoredThing(name: name, bytes: bytes, isChecked: true, read: read)
  }

  /// Reads a value and uses all of it.
  static func use(_ bytes: [UInt8]) throws {
    let value = try Value.decoded(bytes)
    _ = value.hashValue
    _ = "\(value)"
    guard value == value else { throw DatabaseError.misuse(reason: "\(value) is not itself") }
    let again = try value.stored()
    guard try Value.decoded(again) == value else {
      throw DatabaseError.misuse(reason: "\(value) does not come back")
    }
  }

  private static let values =
    GoldenValue.all.filter { !$0.hex.contains("C901") }
    .map { unchecked("value: \($0.name)", [UInt8](hex: $0.hex), use) }
    + [
      unchecked("value: nested", (try? ValueRoundTripTests.nested(40).stored()) ?? [], use)
    ]

  private static let catalog: Catalog = {
    var catalog = Catalog()
    for id in 0..<300 as Range<NameID> { try? catalog.define("name \(id)", as: id) }
    return catalog
  }()

  private static let smallRecord = unchecked("small record", GoldenRecordTests.small, readRecord)

  private static let largeRecord = unchecked(
    "large record",
    [UInt8](
      hex: """
        01 03000000
        03000000 01000000   07000000 03000000   02010000 0A000000
        02   03 05   0D 05 0E 01 61 01 00
        """), readRecord)

  /// Reads a record in each of the ways that there are.
  private static func readRecord(_ bytes: [UInt8]) throws {
    var failure: (any Error)?
    for read in [readMembers, readProperties, takeApart] {
      do { try read(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private static func readMembers(_ bytes: [UInt8]) throws {
    let record = try bytes.lend { try ValueMap(stored: $0, catalog) }
    _ = record.hashValue
  }

  private static func readProperties(_ bytes: [UInt8]) throws {
    try bytes.lend { record in
      let table = try RecordTable(record)
      for name in 0..<300 as Range<NameID> {
        if let range = try table.find(record, name) { _ = try Value(record.extracting(range)) }
      }
    }
  }

  private static func takeApart(_ bytes: [UInt8]) throws {
    let builder = try bytes.lend { try RecordBuilder($0) }
    let again = builder.stored()
    guard try again.lend({ try RecordBuilder($0) }).stored() == again else {
      throw DatabaseError.misuse(reason: "a record does not come back")
    }
  }

  private static let links = unchecked(
    "links", (try? GoldenLinksTests.links(after: 79).links.stored()) ?? []
  ) {
    let links = try $0.lend { try VersionLinks($0) }
    for moment in 0..<90 as Range<UInt64> { _ = try links.oldest(after: moment) }
    _ = try links.all
  }

  private static let operations = unchecked(
    "operations", GoldenOperation.all.flatMap { [UInt8](hex: $0.hex) }
  ) { bytes in
    var reader = OperationReader(bytes)
    while let operation = try reader.next() { _ = "\(operation)" }
  }

  private static let keys = [
    unchecked("text key", [UInt8](hex: "03 C3A9 61 F09F9880")) {
      _ = try $0.lend { try Key($0) }.description
    },
    unchecked("path", GoldenPath.bytes) {
      let path = try NodePath(checking: $0)
      guard NodePath(keys: path.keys) == path, path.depth == path.keys.count else {
        throw DatabaseError.misuse(reason: "\(path) is not its keys")
      }
    },
  ]
}

private enum GoldenPath {
  static let bytes = [UInt8](
    hex: """
      03 7573657273 00
      01 7FFFFFFFFFFFFFFB
      02 101112131415161718191A1B1C1D1E1F
      03 612FC3A962 00
      """)
}

// MARK: Checksums

extension StoredThing {
  private static let versions = [
    ("version of a value", GoldenVersionTests.plain),
    ("version with links", GoldenVersionTests.complete),
    ("version without content", GoldenVersionTests.container),
  ].map { name, bytes in
    checked(name, bytes) { version in
      try GoldenVersionTests.treeKey.lend { key in
        try version.lend { version in
          let header = try NodeHeader(version, key: key)
          if header.hasLinks { _ = try header.links(version) }
          _ = version.extracting(droppingFirst: header.contentOffset)
        }
      }
    }
  }

  private static func entry(
    _ name: String, _ bytes: [UInt8], _ body: @escaping @Sendable (RawSpan) throws -> Void
  ) -> StoredThing {
    checked("entry \(name)", bytes) {
      try $0.lend { try MetaEntry.open($0, name: Array(name.utf8), body) }
    }
  }

  private static let entries = [
    checked("transaction record", GoldenLogTests.storedRecord) {
      _ = try $0.lend { try TransactionRecord($0) }
    },
    entry("format", GoldenLogTests.formatEntry) { _ = try FormatEntry($0) },
    entry("head", GoldenLogTests.headEntry) { _ = try LogHead($0) },
    entry("state", GoldenLogTests.stateEntry) { _ = try StateMark($0) },
    chunk("chunk as it is", Array("Cambium".utf8)),
    chunk("compressed chunk", [UInt8](repeating: 7, count: 1_000)),
    checked("manifest of a backup", GoldenBackupTests.manifest) { _ = try BackupManifest($0) },
  ]

  private static func chunk(_ name: String, _ content: [UInt8]) -> StoredThing {
    let key = GoldenLogTests.blob.key(0)
    return checked(name, content.lend { BlobChunk.stored($0, key: key) }) {
      _ = try $0.lend { try BlobChunk.content($0, key: key) }
    }
  }

  /// The same entries, and what the pieces of a backup hold, as if the checksum had been made after
  /// the damage.
  private static let unsealed = [
    unchecked("start of a backup", GoldenBackupTests.start) {
      _ = try $0.lend { try PartStart($0) }
    },
    unchecked("end of a backup", GoldenBackupTests.end) { bytes in
      let end = try bytes.lend { try PartEnd($0) }
      _ = end.stored()
    },
    unchecked("baseline of a backup", GoldenBackupTests.baseline) {
      _ = try $0.lend { try BaselineMark($0) }
    },
    unchecked("fields of format", Array(GoldenLogTests.formatEntry.dropLast(8))) {
      _ = try $0.lend { try FormatEntry($0) }
    },
    unchecked("fields of head", Array(GoldenLogTests.headEntry.dropLast(8))) {
      _ = try $0.lend { try LogHead($0) }
    },
    unchecked("fields of state", Array(GoldenLogTests.stateEntry.dropLast(8))) {
      _ = try $0.lend { try StateMark($0) }
    },
    unchecked("fields of a transaction record", GoldenLogTests.storedRecord) { bytes in
      guard bytes.count >= 8 else { throw DatabaseError.corrupt(reason: "too short") }
      var bytes = bytes
      let sum = bytes.lend { Checksum.of($0.extracting(droppingFirst: 8)) }
      bytes.store(sum, at: 0)
      let record = try bytes.lend { try TransactionRecord($0) }
      _ = record.chained(to: TransactionRecord.firstLink)
    },
    unchecked("fields of a version", GoldenVersionTests.complete) { bytes in
      guard bytes.count >= 8 else { throw DatabaseError.corrupt(reason: "too short") }
      try GoldenVersionTests.treeKey.lend { key in
        var bytes = bytes
        let seed = Checksum.of(key)
        bytes.store(bytes.lend { Checksum.of($0.extracting(droppingFirst: 8), seed: seed) }, at: 0)
        try bytes.lend { version in
          let header = try NodeHeader(version, key: key)
          if header.hasLinks { _ = try header.links(version) }
          _ = version.extracting(droppingFirst: header.contentOffset)
        }
      }
    },
  ]
}
