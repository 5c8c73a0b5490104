import LMDB

/// An empty directory of a test's own, removed with all in it when the test lets it go.
final class ScratchDirectory: Sendable {
  let path: String

  init() throws {
    let temporary = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    path = "\(temporary)/lmdb-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"
    try Files.createDirectory(path)
  }

  deinit { try? Files.removeDirectory(path) }

  /// Opens it as an environment with the table `words`.
  func open(
    tables: [String] = ["words"], mapSize: Int = 1 << 24, mapSizeMax: Int = 1 << 30,
    synced: Bool = false, readOnly: Bool = false, blindTables: Set<String> = []
  ) throws -> Environment {
    var options = Environment.Options(
      tables: tables, mapSize: mapSize, mapSizeMax: mapSizeMax, synced: synced, readOnly: readOnly)
    options.blindTables = blindTables
    return try Environment(at: path, options)
  }

  /// Creates an environment that holds `count` words, and closes it.
  func fill(_ count: Int) throws {
    let environment = try open()
    try environment.write { transaction, table in
      for number in 0..<count { try transaction.put(table, "word \(number)", "value \(number)") }
    }
    environment.close()
  }

  var data: String { "\(path)/data.mdb" }
}

extension Environment {
  /// Writes to the table `words`, and commits.
  func write(_ body: (inout WriteTransaction, Table) throws -> Void) throws {
    let table = try table("words")
    var transaction = try WriteTransaction(self)
    try body(&transaction, table)
    try transaction.commit()
  }

  func put(_ key: String, _ value: String) throws {
    try write { transaction, table in try transaction.put(table, key, value) }
  }

  func get(_ key: String) throws -> String? {
    let table = try table("words")
    let transaction = try ReadTransaction(self, tables: [table])
    return try transaction.access.get(table, key)
  }
}

extension WriteTransaction {
  func put(_ table: Table, _ key: String, _ value: String, _ mode: PutMode = .replace) throws {
    let (key, value) = (Array(key.utf8), Array(value.utf8))
    try key.lend { key in try value.lend { try put(table, key, $0, mode) } }
  }

  @discardableResult
  func delete(_ table: Table, _ key: String) throws -> Bool {
    let key = Array(key.utf8)
    return try key.lend { try delete(table, $0) }
  }
}

extension Access {
  func get(_ table: Table, _ key: String) throws -> String? {
    let key = Array(key.utf8)
    return try key.lend { try get(table, $0) { $0.text } }
  }
}

extension [UInt8] {
  /// Lends the bytes.
  func lend<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try unsafe withUnsafeBytes { try unsafe body($0.bytes) }
  }
}

extension Cursor {
  /// Goes to the first entry at or after a key.
  ///
  /// - Returns: The entry's key.
  mutating func find(_ key: String) throws -> String? {
    try Array(key.utf8).lend { try seek($0) } ? self.key : nil
  }

  /// Goes to the last entry before a key.
  ///
  /// - Returns: The entry's key.
  mutating func find(before key: String) throws -> String? {
    try Array(key.utf8).lend { try seekBefore($0) } ? self.key : nil
  }

  /// The key of the entry at the cursor.
  var key: String { withEntry { key, _ in key.text } }

  /// The value of the entry at the cursor.
  var text: String { withEntry { _, value in value.text } }
}

extension RawSpan {
  /// The bytes as text.
  var text: String {
    unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }
}

/// The kind of a storage error that a body throws; nil where it throws none.
func kind(of body: () throws -> Void) throws -> StorageError.Kind? {
  do {
    try body()
    return nil
  } catch let error as StorageError {
    return error.kind
  }
}
