// A small database as files, so that a byte of them can be changed, and all that can be read of it.

import FoundationEssentials
import LMDB
import Synchronization
import Testing

@testable import Cambium

/// One of the two data files.
enum DataFile: String, CaseIterable, Sendable {
  case log = "log"
  case state = "state-1"

  var tables: [String] { self == .log ? LogTables.names : StateTables.names }
}

/// A closed database with something of everything in it.
struct DamagedDatabase: Sendable {
  /// An entry of a table.
  struct Entry: Equatable, Sendable {
    let key: [UInt8]
    let value: [UInt8]
  }

  /// The entries of each table.
  typealias Content = [String: [Entry]]

  let images: [DataFile: [UInt8]]
  /// The content of the sound database's files.
  let contents: [DataFile: Content]
  /// Everything that can be read from the sound database.
  let text: String
  let digest: [UInt8]
  private let blob: Blob

  init() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/sound"
    let database = try Database(at: path)
    blob = try DamagedDatabase.fill(database)
    try database.close()
    var images: [DataFile: [UInt8]] = [:]
    for file in DataFile.allCases {
      images[file] = Array(try Data(contentsOf: URL(filePath: "\(path)/\(file.rawValue)/data.mdb")))
    }
    self.images = images
    let again = try Database(at: path)
    text = try DamagedDatabase.read(again, blob)
    digest = try expectSound(again)
    try again.close()
    var contents: [DataFile: Content] = [:]
    for file in DataFile.allCases {
      contents[file] = try DamagedDatabase.content(of: file, at: "\(path)/\(file.rawValue)")
    }
    self.contents = contents
  }

  /// Eight transactions, a blob, a consumer and a cursor.
  private static func fill(_ database: Database) throws -> Blob {
    let blob = try database.store(Data((0..<3_000).map { UInt8(truncatingIfNeeded: $0 &* $0) }))
    try database.write(metadata: ["who": "ada"]) { tx in
      try tx.set("users/ada", to: ["name": "Ada", "born": 1815, "tags": ["a", "b"]])
      try tx.set("users/bob", to: ["name": "Bob"])
      try tx.set("film", to: .blob(blob))
    }
    try database.write { tx in
      try tx.update("users/ada", ["born": 1816, "note": "x"])
      try tx.append("c", to: "users/ada", "tags")
    }
    try database.write { tx in try tx.remove("users/bob") }
    try database.write { tx in try tx.restore("users/bob", removedAt: 3) }
    try database.write { tx in try tx.move("users/bob", to: "people/1/bob") }
    for number in 0..<12 {
      try database.write { tx in try tx.increment("count", by: .integer(Int64(number))) }
    }
    try database.write { tx in
      try tx.event("sold", ["what": "book"])
      try tx.advance("mailer", to: 3)
      try tx.saveCursor("import", 7)
    }
    return blob
  }
}

// MARK: Reading

extension DamagedDatabase {
  /// All entries of a file's tables.
  static func content(of file: DataFile, at path: String) throws -> Content {
    var options = Database.Options().environment(readOnly: true)
    options.tables = file.tables
    let environment = try Environment(at: path, options)
    defer { environment.close() }
    let transaction = try ReadTransaction(environment, tables: [])
    var content: Content = [:]
    for name in file.tables {
      var entries: [Entry] = []
      var cursor = try Cursor(transaction.access, environment.table(name))
      var isThere = try cursor.first()
      while isThere {
        entries.append(cursor.withEntry { Entry(key: $0.array(), value: $1.array()) })
        isThere = try cursor.next()
      }
      content[name] = entries
    }
    return content
  }

  /// The whole content of a database, at each moment.
  static func read(_ database: Database, _ blob: Blob) throws -> String {
    var text = ""
    for sequence in 0...(try database.head.rawValue) {
      try database.read(at: .sequence(SequenceNumber(sequence))) { snapshot in
        var nodes = try snapshot.root.descendants()
        while let node = try nodes.next() {
          text +=
            "\(node.path) \(try node.value.map { "\($0)" } ?? "-") \(try node.modified ?? 0)\n"
        }
      }
    }
    var commits = try database.commits()
    while let commit = try commits.next() {
      text += "\(commit.sequence) \(commit.time.microseconds) \(commit.origin) "
      text += "\(commit.metadata) \(commit.events) \(try commit.changes.fetch())\n"
    }
    try database.read { snapshot in try snapshot.read(blob) { text += "\(Array($0).hex)\n" } }
    text += "\(try database.consumer("mailer").position()) \(try database.cursor("import") ?? 0)"
    return text
  }
}

// MARK: Judging

extension DamagedDatabase {
  /// The outcome of a fault.
  enum Verdict: Hashable, Sendable {
    /// The page walker refuses the file, so that LMDB never sees it.
    case refused
    /// The byte belongs to nothing.
    case harmless
    /// The content of this table has changed, and an error or a finding said so.
    case noticed(String)
    /// The state was dropped, and rebuilt from the log.
    case mended
  }

  /// A difference in a table's content.
  private struct Difference {
    let table: String
    /// True if only values differ, and all code that reads them checks them.
    let isChecked: Bool
  }

  /// Changes a byte of one file, and uses the database.
  func judge(_ file: DataFile, _ offset: Int, _ mask: UInt8) throws -> Verdict {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/damaged"
    try store(at: path, file, offset, mask)
    let data = "\(path)/\(file.rawValue)/data.mdb"
    do {
      try FileCheck.check(data)
      if try !PageWalker.walk(data).isSound { return .refused }
    } catch is FileDamage {
      return .refused
    }
    let content: Content
    do { content = try DamagedDatabase.content(of: file, at: "\(path)/\(file.rawValue)") } catch let
      error as StorageError where error.kind == .corrupt && file == .log
    {
      // The name of a table was changed.
      let refusal = #expect(throws: (any Error).self) { try Database(at: path).close() }
      return refusal == nil ? .harmless : .noticed("the tables")
    }
    let difference = difference(of: content, in: file)
    let what = "\(file) \(offset) ^ \(mask) (\(difference?.table ?? "nothing"))"
    do {
      return try use(path, difference, what)
    } catch let error as DatabaseError {
      #expect(difference != nil, "\(what): \(error)")
      return .noticed(difference?.table ?? "nothing")
    }
  }

  private func difference(of content: Content, in file: DataFile) -> Difference? {
    for table in file.tables {
      let (found, expected) = (content[table] ?? [], contents[file]?[table] ?? [])
      if found == expected { continue }
      let isChecked = found.map(\.key) == expected.map(\.key)
      return Difference(
        table: table, isChecked: isChecked && !["counts", "removals"].contains(table))
    }
    return nil
  }

  private func store(at path: String, _ file: DataFile, _ offset: Int, _ mask: UInt8) throws {
    for other in DataFile.allCases {
      let directory = "\(path)/\(other.rawValue)"
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      var image = images[other] ?? []
      if other == file { image[offset] ^= mask }
      try Data(image).write(to: URL(filePath: "\(directory)/data.mdb"))
    }
  }

  /// Opens, reads and verifies.
  private func use(_ path: String, _ difference: Difference?, _ what: String) throws -> Verdict {
    let heard = ToldDiagnostics()
    var options = Database.Options()
    options.diagnostics = { heard.add("\($0)") }
    let database = try Database(at: path, options: options)
    defer { try? database.close() }
    let text = read(database, what)
    let findings = verify(database, what)
    let isMended = !heard.isEmpty
    if difference == nil || isMended {
      #expect(text == self.text, "\(what): a false alarm")
      // An entry of the log whose name was damaged stays where it is, and verify still says so.
      let isLeftover = isMended && difference?.table == "meta" && what.hasPrefix("log")
      #expect(findings == [] || isLeftover, "\(what): a false alarm")
      return isMended ? .mended : .harmless
    }
    #expect(findings != [], "\(what): verify finds nothing")
    if difference?.isChecked == true {
      #expect(text == nil || text == self.text, "\(what): something wrong was read")
    }
    return .noticed(difference?.table ?? "")
  }

  /// Everything that can be read, or nil where an error said that it cannot.
  private func read(_ database: Database, _ what: String) -> String? {
    do { return try DamagedDatabase.read(database, blob) } catch is DatabaseError {
      return nil
    } catch {
      Issue.record("\(what): \(error) is no DatabaseError")
      return nil
    }
  }

  private func verify(_ database: Database, _ what: String) -> [Verification.Finding]? {
    do {
      let verification = try database.verify()
      if verification.isSound { #expect(verification.digest == digest, "\(what)") }
      return verification.findings
    } catch {
      Issue.record("\(what): damage is a finding, not the error \(error)")
      return nil
    }
  }
}

/// Collects the diagnostics that a database reports, from any thread.
private final class ToldDiagnostics: Sendable {
  private let texts = Mutex<[String]>([])

  var isEmpty: Bool { texts.withLock { $0.isEmpty } }

  func add(_ text: String) { texts.withLock { $0.append(text) } }
}
