// Goal: no record of the log can be changed, taken out, exchanged or repeated without `verify`
// naming it. Method: the log of a closed database is edited through LMDB, as an attacker or a bad
// disk would, with checksums and head made right again, so that only the chain can show it.

import FoundationEssentials
import LMDB
import Testing

@testable import Cambium

/// A closed database of twelve transactions, whose log can be edited.
final class EditedLog: Sendable {
  static let count: UInt64 = 12
  let directory: TemporaryDirectory
  var path: String { "\(directory.path)/edited" }

  init() throws {
    directory = try TemporaryDirectory()
    let database = try Database(at: path)
    for number in 1...EditedLog.count {
      try database.write(metadata: ["number": "\(number)"]) { tx in
        try tx.set(NodePath(keys: ["nodes", .integer(Int64(number))]), to: .integer(Int64(number)))
        try tx.set("latest", to: ["number": .integer(Int64(number))])
      }
    }
    try database.close()
  }

  /// Changes the log in one transaction, and leaves the head as it should be after it.
  func edit(_ body: (borrowing LogEdit) throws -> Void) throws {
    let log = try Log(at: "\(path)/log", Database.Options().environment(readOnly: false))
    let edit = try LogEdit(log)
    try body(edit)
    try edit.commit()
    log.close()
  }

  /// Opens the database for a test, and closes it again.
  @discardableResult
  func open<R>(_ body: (Database) throws -> R) throws -> R {
    let database = try Database(at: path)
    let result = try body(database)
    try database.close()
    return result
  }
}

/// The log's open write transaction, without its rules.
struct LogEdit: ~Copyable {
  private let transaction: WriteTransaction
  private let tables: LogTables

  init(_ log: Log) throws {
    transaction = try WriteTransaction(log.lmdb)
    tables = log.tables
  }

  private var reader: LogReader {
    LogReader(access: transaction.access, tables: tables, damage: LogDamage())
  }

  func record(_ number: UInt64) throws -> TransactionRecord {
    try reader.record(SequenceNumber(number))
  }

  func bytes(_ number: UInt64) throws -> [UInt8] {
    try record(number).stored()
  }

  func remove(_ number: UInt64, part: UInt32 = 0) throws {
    let key = LogTables.recordKey(SequenceNumber(number), part: part)
    #expect(try key.lend { try transaction.delete(tables.records, $0) })
  }

  func put(_ bytes: [UInt8], at number: UInt64) throws {
    let key = LogTables.recordKey(SequenceNumber(number), part: 0)
    try key.lend { key in try bytes.lend { try transaction.put(tables.records, key, $0) } }
  }

  /// Changes a record, and makes the chain right from there on.
  func forge(_ number: UInt64, _ change: (inout TransactionRecord) -> Void) throws {
    var link = number == 1 ? TransactionRecord.firstLink : try record(number - 1).link
    for next in number...EditedLog.count {
      var record = try record(next)
      if next == number { change(&record) }
      record.link = record.chained(to: link)
      link = record.link
      try put(record.stored(), at: next)
    }
    var head = try reader.head()
    head.link = link
    try setHead(head)
  }

  private func setHead(_ head: LogHead) throws {
    let name = Array("head".utf8)
    try name.lend { key in
      try MetaEntry.seal(head.stored(), name: name).lend {
        try transaction.put(tables.meta, key, $0)
      }
    }
  }

  consuming func commit() throws {
    var head = try reader.head()
    head.transaction = transaction.access.number
    try setHead(head)
    try transaction.commit()
  }
}

@Suite("The chain of the log")
struct LogTests {
  /// The numbers of the records that a text names.
  private static func names(_ text: String) -> [UInt64] {
    let words = text.split { !$0.isLetter && !$0.isNumber }
    return zip(words, words.dropFirst()).compactMap { $0 == "record" ? UInt64($1) : nil }
  }

  /// Expects that the log is sound up to a record, and that all who read it name that one.
  private func expectBreak(
    at number: UInt64, in log: EditedLog, _ what: String,
    location: SourceLocation = #_sourceLocation
  ) throws {
    try log.open { database in
      let findings = try database.verify().findings
      #expect(findings.map(\.part) == ["log"], "\(what)", sourceLocation: location)
      #expect(
        findings.map { Self.names($0.description) } == [[number]], "\(what): \(findings)",
        sourceLocation: location)
      let copy = "\(log.directory.path)/copy"
      for body in [{ try database.rebuild() }, { try database.replay(to: copy) }] {
        let error = #expect(throws: DatabaseError.self, sourceLocation: location, performing: body)
        let text = error.map { "\($0)" } ?? ""
        #expect(Self.names(text) == [number], "\(what): \(text)", sourceLocation: location)
      }
      #expect(!Files.exists(copy), sourceLocation: location)
      #expect(
        try database.read { try $0["latest"]["number"] } == 12, "the state is untouched",
        sourceLocation: location)
    }
  }

  @Test("holds when nothing is changed")
  func sound() throws {
    let log = try EditedLog()
    try log.edit { edit in
      for number in 1...EditedLog.count { try edit.put(edit.record(number).stored(), at: number) }
      try edit.forge(1) { _ in }
    }
    try log.open { try expectSound($0) }
  }

  @Test("breaks at a record with a wrong byte", arguments: 1...EditedLog.count)
  func damaged(_ number: UInt64) throws {
    let log = try EditedLog()
    try log.edit { edit in
      let bytes = try edit.bytes(number)
      try edit.put(bytes.changing(bytes.count / 2, by: 1), at: number)
    }
    try expectBreak(at: number, in: log, "a byte of \(number)")
  }

  @Test("breaks at a record whose content was changed", arguments: 1...EditedLog.count)
  func changed(_ number: UInt64) throws {
    let changes: [(String, (inout TransactionRecord) -> Void)] = [
      ("operations", { $0.operations[$0.operations.count - 1] ^= 1 }),
      ("salt", { $0.salt[0] ^= 1 }),
      ("metadata", { $0.metadata["number"] = "forged" }),
      ("time", { $0.time += 1 }),
      ("clock", { $0.clock.rawValue += 1 }),
      ("origin", { $0.origin = UUID() }),
      ("link", { $0.link[31] ^= 1 }),
    ]
    for (what, change) in changes {
      let log = try EditedLog()
      try log.edit { edit in
        var record = try edit.record(number)
        change(&record)
        try edit.put(record.stored(), at: number)
      }
      try expectBreak(at: number, in: log, "\(what) of \(number)")
    }
  }

  @Test("breaks after a record that was changed with its own link", arguments: 1..<EditedLog.count)
  func relinked(_ number: UInt64) throws {
    let log = try EditedLog()
    try log.edit { edit in
      var record = try edit.record(number)
      record.metadata["number"] = "forged"
      let previous = number == 1 ? TransactionRecord.firstLink : try edit.record(number - 1).link
      record.link = record.chained(to: previous)
      try edit.put(record.stored(), at: number)
    }
    try expectBreak(at: number + 1, in: log, "the link of \(number)")
  }

  @Test("ends with the link that the head holds")
  func relinkedLast() throws {
    let log = try EditedLog()
    try log.edit { edit in
      var record = try edit.record(EditedLog.count)
      record.metadata["number"] = "forged"
      record.link = record.chained(to: try edit.record(EditedLog.count - 1).link)
      try edit.put(record.stored(), at: EditedLog.count)
    }
    let findings = try log.open { try $0.verify().findings }
    #expect(findings.map(\.description) == ["the head does not end the chain"])
  }

  @Test("breaks at a record that is missing", arguments: 1...EditedLog.count)
  func removed(_ number: UInt64) throws {
    let log = try EditedLog()
    try log.edit { edit in try edit.remove(number) }
    try expectBreak(at: number, in: log, "no \(number)")
  }

  @Test("breaks where records were exchanged, renumbered or not", arguments: 1..<EditedLog.count)
  func swapped(_ number: UInt64) throws {
    for isRenumbered in [false, true] {
      let log = try EditedLog()
      try log.edit { edit in
        var (first, second) = (try edit.record(number), try edit.record(number + 1))
        if isRenumbered { (first.sequence, second.sequence) = (second.sequence, first.sequence) }
        try edit.put(second.stored(), at: number)
        try edit.put(first.stored(), at: number + 1)
      }
      try expectBreak(at: number, in: log, "\(number) and the next, renumbered: \(isRenumbered)")
    }
  }

  @Test("breaks at a record that repeats the one before", arguments: 2...EditedLog.count)
  func repeated(_ number: UInt64) throws {
    for isRenumbered in [false, true] {
      let log = try EditedLog()
      try log.edit { edit in
        var record = try edit.record(number - 1)
        if isRenumbered { record.sequence = SequenceNumber(number) }
        try edit.put(record.stored(), at: number)
      }
      try expectBreak(at: number, in: log, "\(number - 1) again, renumbered: \(isRenumbered)")
    }
  }

  @Test("does not hide what a record must not say", arguments: [2, 7, EditedLog.count])
  func forged(_ number: UInt64) throws {
    let changes: [(String, (inout TransactionRecord) -> Void)] = [
      ("clock", { $0.clock.rawValue = 1 }),
      ("count", { $0.operationCount += 1 }),
      ("operations", { $0.operations[0] = 0xEE }),
      ("end", { $0.operations.removeLast() }),
    ]
    for (what, change) in changes {
      let log = try EditedLog()
      try log.edit { edit in try edit.forge(number, change) }
      let findings = try log.open { try $0.verify().findings }
      #expect(findings.map { Self.names($0.description) } == [[number]], "\(what): \(findings)")
    }
  }
}
