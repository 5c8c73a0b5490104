import Cambium

/// Rows of an input become transactions, a batch at a time, so that an interrupted import can
/// continue where it was: the number of rows done is committed with each batch.
///
/// A row is what the input counts: a CSV record, a JSON line, or one value of a JSON document. It
/// may set several nodes.
final class RowImport {
  /// A node that a row sets.
  typealias Node = (path: NodePath, value: Value)

  /// A row of the input.
  struct Row {
    /// The node that its key names; nil where the key was made for it.
    let key: NodePath?
    let nodes: [Node]
    /// The number of bytes of the input before it.
    var offset: UInt64 = 0
  }

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
  private var waiting: [Row] = []
  private let duplicates: DuplicateKeys
  /// The number of committed rows, those of earlier runs included.
  private(set) var committed: UInt64
  /// The number of rows that an interrupted run had committed.
  let resumed: UInt64
  private(set) var transactions = 0
  /// The number of rows that were left out because their key was there.
  private(set) var leftOut: UInt64 = 0
  /// True from when a batch goes to the database until it is there.
  private var isCommitting = false
  /// The number of rows that were read, or passed over.
  private var row: UInt64 = 0

  /// Starts or resumes an import: two imports of one identity are the same. `open` gives the
  /// database; it is called at once unless that is new.
  init(
    _ open: @escaping @autoclosure () throws -> Database, isNew: Bool = false, into: NodePath,
    batch: Int, identity: [String], metadata: [String: String],
    duplicates: DuplicateKeys = DuplicateKeys(.refused), _ rules: UncheckedRules? = nil
  ) throws {
    self.open = open
    self.into = into
    self.batch = batch
    self.metadata = metadata
    self.rules = rules
    self.duplicates = duplicates
    cursor = "import/" + RowImport.fingerprint(identity)
    database = isNew ? nil : try open()
    // Nodes that were deleted in between are imported again.
    let isThere = try database?.read { try $0[into].exists } ?? false
    committed = isThere ? try database?.cursor(cursor) ?? 0 : 0
    resumed = committed
  }

  /// Takes each record of a CSV file as the row that is made of it, and finishes.
  func take(
    _ reader: inout CSVReader, _ bar: ProgressBar, _ row: (borrowing CSVReader) throws -> Row
  ) throws {
    do {
      while try reader.next() {
        let isNew = beginsRow(reader.progress, bar)
        guard isNew || duplicates.areNoted else { continue }
        var row = try row(reader)
        row.offset = reader.recordOffset
        try add(row, isNew: isNew)
      }
      try finish()
    } catch {
      throw placed(error, at: reader.recordOffset) { reader.error(at: $0, $1, hint: $2) }
    }
  }

  /// Takes each value of JSON as the row that is made of it and of its place, up to the end of the
  /// input or of the array that it is in, after which nothing may come; and finishes.
  func take(
    _ reader: inout JSONReader, _ bar: ProgressBar, _ row: (Value, UInt64) throws -> Row
  ) throws {
    var offset: UInt64 = 0
    do {
      while let event = try reader.next() {
        if event == .endArray {
          _ = try reader.next()
          break
        }
        let isNew = beginsRow(reader.progress, bar)
        offset = reader.eventOffset
        let value = try reader.value(from: event)
        guard isNew || duplicates.areNoted else { continue }
        var row = try row(value, offset)
        row.offset = offset
        try add(row, isNew: isNew)
      }
      try finish()
    } catch {
      throw placed(error, at: offset) { reader.error(at: $0, $1, hint: $2) }
    }
  }

  /// Takes the nodes of the next row, unless an earlier run has committed it.
  func takeRow(_ nodes: [Node]) throws {
    defer { row += 1 }
    if row >= resumed { try add(Row(key: nil, nodes: nodes)) }
  }

  /// Counts a row; false if an earlier run has committed it.
  private func beginsRow(
    _ progress: (done: UInt64, total: UInt64), _ bar: ProgressBar
  ) -> Bool {
    defer { row += 1 }
    if row % 1024 == 0 { bar.update("import", progress.done, of: progress.total) }
    return row >= resumed
  }

  /// Takes a row whose key is looked at first; one that is not new was committed by an earlier run.
  private func add(_ row: Row, isNew: Bool) throws {
    let isTaken = try row.key.map { try duplicates.takes($0, row.offset) } ?? true
    if !isNew { return }
    if !isTaken { leftOut += 1 }
    try add(isTaken ? row : Row(key: nil, nodes: []))
  }

  /// Takes a row; every `batch` of them are committed.
  ///
  /// - Throws: ``Failure`` after Ctrl-C, once the batch is committed.
  func add(_ row: Row) throws {
    waiting.append(row)
    if waiting.count >= batch {
      try commit(isLast: false)
      if Signals.isInterrupted { throw Failure.stopped() }
    }
  }

  /// Commits what is left, and forgets the position: run again, the import starts over.
  func finish() throws {
    if !waiting.isEmpty || committed > 0 { try commit(isLast: true) }
    _ = try openDatabase()
  }

  /// The error with the place of the row that it is about: the last one read, or one that waits.
  private func placed(
    _ error: any Error, at offset: UInt64, _ place: (UInt64, String, String?) -> InputError
  ) -> any Error {
    switch error {
    case let error as DuplicateKeys.Found:
      return error.at(place(error.offset, "", nil), place(error.first, "", nil).place)
    case DatabaseError.badKey(_, let reason) where !isCommitting:
      return place(offset, "expected a key, but \(reason)", nil)
    case let error as ValidationError:
      return place(offset, error.messages.joined(separator: "; "), nil)
    default: return refused(error).map { place($0.offset, $0.reason, $0.hint) } ?? error
    }
  }

  /// The place in the input of the row that the database refused, the reason, and what to do; nil
  /// where no row is to blame. The database sees rows only when their batch is committed.
  private func refused(_ error: any Error) -> (offset: UInt64, reason: String, hint: String?)? {
    func row(_ path: NodePath) -> Row? {
      waiting.last { row in row.nodes.contains { path.isWithin($0.path) } }
    }
    switch error {
    case DatabaseError.invalid(let violations):
      guard let row = violations.first.flatMap({ row($0.path) }) else { return nil }
      return (row.offset, violations.map(\.description).joined(separator: "; "), nil)
    case DatabaseError.notUnique(let path, let index, let owner):
      let names = index.joined(separator: ", ")
      return row(path).map { ($0.offset, "\(path): \(names) is taken by \(owner)", nil) }
    case DatabaseError.badValue(let path, let reason):
      return row(path).map { ($0.offset, "\(path) cannot hold this value: \(reason)", nil) }
    case DatabaseError.badKey(let key, let reason):
      let row = waiting.first { $0.nodes.contains { $0.value.hasMember(key) } }
      return row.map { ($0.offset, "expected the name of a property, but \(reason)", nil) }
    case DatabaseError.transactionTooLarge(let bytes, let limit):
      let (size, most) = (Quantity.bytes(bytes), Quantity.bytes(limit))
      return waiting.last.map {
        (
          $0.offset, "the batch that this row belongs to has \(size), and the limit is \(most)",
          "choose a smaller --batch"
        )
      }
    default: return nil
    }
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
    let done = committed + UInt64(waiting.count)
    let (rows, cursor, skipsPresent) = (waiting, cursor, duplicates.treatment == .skip)
    let database = try openDatabase()
    isCommitting = true
    let (sequence, present) = try database.write(metadata: metadata) { tx in
      var present: UInt64 = 0
      for row in rows {
        if skipsPresent, let key = row.key, try tx[key].exists {
          present += 1
          continue
        }
        for node in row.nodes { try tx.set(node.path, to: node.value) }
      }
      try tx.saveCursor(cursor, isLast ? 0 : done)
      return (tx.sequence, present)
    }
    isCommitting = false
    leftOut += present
    if !rows.isEmpty { rules?.note(changesOf: sequence, in: database, under: into) }
    if !rows.isEmpty { transactions += 1 }
    committed = done
    waiting.removeAll(keepingCapacity: true)
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

extension Value {
  /// True for a map that has a member of a name.
  fileprivate func hasMember(_ name: String) -> Bool {
    if case .map(let record) = self { record[name] != nil } else { false }
  }
}
