import Cambium

/// Rows of an input become transactions, a batch at a time, so that an interrupted import can
/// continue where it was: the number of rows done is committed with each batch.
///
/// A row is what the input counts: a CSV record, a JSON line, or one value of a JSON document. It
/// may set several nodes.
final class RowImport {
  /// A node that a row sets.
  typealias Node = (path: NodePath, value: Value)

  let into: NodePath
  private let open: () throws -> Database
  /// A database that is not there yet is made with the first batch, so that input that cannot be
  /// read leaves none behind.
  private var database: Database?
  private let batch: Int
  private let metadata: [String: String]
  private let rules: UncheckedRules?
  /// Under this name the database keeps how many rows are done.
  private let cursor: String
  private var waiting: [Node] = []
  private var waitingRows: UInt64 = 0
  /// The number of committed rows, those of earlier runs included.
  private(set) var committed: UInt64
  /// The number of rows that an interrupted run had committed.
  let resumed: UInt64
  private(set) var transactions = 0
  /// The number of rows that were read, or passed over.
  private var row: UInt64 = 0

  /// Starts or resumes an import: two imports of one identity are the same. `open` gives the
  /// database; it is called at once unless that is new.
  init(
    _ open: @escaping @autoclosure () throws -> Database, isNew: Bool = false, into: NodePath,
    batch: Int, identity: [String], metadata: [String: String], _ rules: UncheckedRules? = nil
  ) throws {
    self.open = open
    self.into = into
    self.batch = batch
    self.metadata = metadata
    self.rules = rules
    cursor = "import/" + RowImport.fingerprint(identity)
    database = isNew ? nil : try open()
    // Nodes that were deleted in between are imported again.
    let isThere = try database?.read { try $0[into].exists } ?? false
    committed = isThere ? try database?.cursor(cursor) ?? 0 : 0
    resumed = committed
  }

  /// Takes each record of a CSV file as the nodes that are made of it.
  func take(
    _ reader: inout CSVReader, _ bar: ProgressBar,
    _ nodes: (borrowing CSVReader) throws -> [Node]
  ) throws {
    while try reader.next() {
      guard beginsRow(reader.progress, bar) else { continue }
      do { try add(nodes(reader)) } catch DatabaseError.badKey(_, let reason) {
        throw reader.error("expected a key, but \(reason)")
      }
    }
  }

  /// Takes each value of JSON, up to the end of the input or of the array that it is in, as the
  /// nodes that are made of it and of its place.
  func take(
    _ reader: inout JSONReader, _ bar: ProgressBar, _ nodes: (Value, UInt64) throws -> [Node]
  ) throws {
    while let event = try reader.next(), event != .endArray {
      let isNew = beginsRow(reader.progress, bar)
      let offset = reader.eventOffset
      let value = try reader.value(from: event)
      if !isNew { continue }
      do { try add(nodes(value, offset)) } catch DatabaseError.badKey(_, let reason) {
        throw reader.error(at: offset, "expected a key, but \(reason)")
      } catch let error as ValidationError {
        throw reader.error(at: offset, error.messages.joined(separator: "; "))
      }
    }
  }

  /// Takes the nodes of the next row, unless an earlier run has committed it.
  func takeRow(_ nodes: [Node]) throws {
    defer { row += 1 }
    if row >= resumed { try add(nodes) }
  }

  /// Counts a row; false if an earlier run has committed it.
  private func beginsRow(
    _ progress: (done: UInt64, total: UInt64), _ bar: ProgressBar
  ) -> Bool {
    defer { row += 1 }
    if row % 1024 == 0 { bar.update("import", progress.done, of: progress.total) }
    return row >= resumed
  }

  /// Takes a row; every `batch` of them are committed.
  ///
  /// - Throws: ``Failure`` after Ctrl-C, once the batch is committed.
  func add(_ nodes: [Node]) throws {
    waiting += nodes
    waitingRows += 1
    if waitingRows >= batch {
      try commit(isLast: false)
      if Signals.isInterrupted { throw Failure.stopped() }
    }
  }

  /// Commits what is left, and forgets the position: run again, the import starts over.
  func finish() throws {
    if waitingRows > 0 || committed > 0 { try commit(isLast: true) }
    _ = try openDatabase()
  }

  /// Closes the database; does nothing where it was not opened.
  func close() throws { try database?.close() }

  private func openDatabase() throws -> Database {
    if let database { return database }
    let database = try open()
    self.database = database
    return database
  }

  private func commit(isLast: Bool) throws {
    let done = committed + waitingRows
    let (nodes, cursor) = (waiting, cursor)
    let database = try openDatabase()
    let sequence = try database.write(metadata: metadata) { tx in
      for node in nodes { try tx.set(node.path, to: node.value) }
      try tx.saveCursor(cursor, isLast ? 0 : done)
      return tx.sequence
    }
    if !nodes.isEmpty { rules?.note(changesOf: sequence, in: database, under: into) }
    if !nodes.isEmpty { transactions += 1 }
    committed = done
    waiting.removeAll(keepingCapacity: true)
    waitingRows = 0
  }

  /// A short name for some words (FNV-1a, 64 bits).
  static func fingerprint(_ words: [String]) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in words.joined(separator: "\u{0}").utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    return String(hash, radix: 16)
  }
}

/// The key of a row, from some of its members.
struct RowKey: Sendable {
  /// The members whose values make the key; none for a key in order of time.
  let columns: [String]

  /// - Parameter list: `COLUMN[,COLUMN…]`, or nil.
  init(_ list: String?) {
    columns = list.map { $0.split(separator: ",").map(String.init) } ?? []
  }

  /// The key that a row's values make.
  ///
  /// One value makes it as it is written; several are joined by commas, with `%` and `,` in them
  /// written as `%25` and `%2C`, so that different values never make the same key.
  ///
  /// - Parameter text: Gives the text of a column, or throws where the row has none.
  /// - Returns: The key; a fresh one, in order of time, where there are no columns.
  /// - Throws: The error of `text`; `DatabaseError.badKey` for values that no key can have.
  func key(_ text: (String) throws -> String) throws -> Key {
    switch columns.count {
    case 0: return Key.unique()
    case 1: return try Key(try text(columns[0]))
    default: return try Key(try columns.map { RowKey.escaped(try text($0)) }.joined(separator: ","))
    }
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "%": escaped += "%25"
      case ",": escaped += "%2C"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
