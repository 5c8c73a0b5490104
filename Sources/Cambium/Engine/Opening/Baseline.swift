import LMDB

/// The state as of the horizon, without the history before it: it replaces the records that
/// compaction has dropped. It is as precious as the log.
///
///     name.cambium/baseline-<n>/data.mdb      n is the newest record that is folded in; an erasure
///                                             replaces it by baseline-<n>.1, .2 and so on
///
/// It is made as a rebuild makes a state: from the previous baseline, by folding records. Starting
/// from a checkpoint would be shorter, but nothing proves that all of its bytes are correct, and
/// the input of a baseline cannot be folded again. So it has the same bytes in tree and counts as a
/// state that never stopped folding, and so has everything folded after it. It is copied, never
/// opened: its digest stays that in the log.
///
/// Invariants:
/// 1. It is durable before the log names it, and the log names it before a record is dropped.
/// 2. The state that it holds is cut at its own record.
struct Baseline {
  let directory: OpenDirectory
  let mark: BaselineMark

  static func directory(_ mark: BaselineMark) -> String {
    "baseline-\(mark.sequence)" + (mark.edition > 0 ? ".\(mark.edition)" : "")
  }

  var path: String { "\(directory.path)/\(Baseline.directory(mark))" }

  /// The baseline that the log names; nil while nothing was dropped.
  static func current(_ directory: OpenDirectory) throws -> Baseline? {
    try directory.log.read { try current(directory, $0) }
  }

  /// The baseline that a view of the log names.
  static func current(_ directory: OpenDirectory, _ log: LogReader) throws -> Baseline? {
    let mark = try log.baseline()
    return mark.sequence > .zero ? Baseline(directory: directory, mark: mark) : nil
  }

  /// Copies a database's baseline durably next to another log that is being created.
  static func copy(_ mark: BaselineMark, of database: String, beside log: Log) throws {
    if mark.sequence == .zero { return }
    let directory = "\(Files.parent(of: log.path))/\(directory(mark))"
    try Files.createDirectory(directory)
    try copy(mark, of: database, into: directory)
    try Files.sync("\(directory)/data.mdb")
    try Files.sync(directory)
  }

  /// Copies the file of a database's baseline after checking it.
  private static func copy(_ mark: BaselineMark, of database: String, into directory: String) throws
  {
    if mark.sequence == .zero { return }
    let file = "\(database)/\(Baseline.directory(mark))/data.mdb"
    guard try Files.exists(file) && Files.digest(file) == mark.digest else {
      throw damage(mark)
    }
    try Files.copy(file, to: "\(directory)/data.mdb")
  }

  /// Makes a state from the baseline of a database, to continue folding from. Entries that an
  /// earlier fold has derived from the tree are derived again; the tree and its history stay
  /// unchanged.
  ///
  /// - Parameters:
  ///   - mark: The baseline; nothing is made from the one of an empty log.
  ///   - database: The path of its database.
  ///   - directory: An empty directory.
  ///   - options: The options with which environments are opened.
  /// - Throws: ``DatabaseError/corrupt(reason:)`` if the file is not the one that was named;
  ///   ``DatabaseError/unsupported(path:reason:)`` if a later fold has made it.
  static func makeState(
    from mark: BaselineMark, of database: String, in directory: String,
    _ options: Environment.Options
  ) throws {
    if mark.sequence == .zero { return }
    guard mark.fold <= StateMark.foldNumber else {
      throw StateMark.unknownFold(mark.fold, database)
    }
    try copy(mark, of: database, into: directory)
    if mark.fold == StateMark.foldNumber { return }
    let state = try State(at: directory, generation: 0, options)
    defer { state.environment.close() }
    try state.deriveAnew()
  }

  private static func damage(_ mark: BaselineMark) -> DatabaseError {
    .corrupt(reason: "the baseline of transaction \(mark.sequence) is not what was stored")
  }

  /// The size of its file.
  var bytes: UInt64 { Files.size(of: "\(path)/data.mdb") }

  /// Makes a state from it, to continue folding from.
  func makeState(in place: String) throws {
    try Baseline.makeState(
      from: mark, of: directory.path, in: place, directory.options.environment(readOnly: false))
  }

  /// Compares the file with its digest.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  func check() throws {
    guard try Files.digest("\(path)/data.mdb") == mark.digest else {
      throw Baseline.damage(mark)
    }
  }
}

extension State {
  /// Derives again the entries that are derived from the tree.
  func deriveAnew() throws {
    // They may take as much room again as the whole file.
    let room = Int(clamping: Files.size(of: "\(environment.path)/data.mdb"))
    var replay = try Replay(into: self)
    try replay.step(room: room) { projector in
      try projector.folds.renewAll()
      return nil
    }
  }
}

extension Files {
  /// BLAKE2b-256 of a file's content.
  static func digest(_ path: String) throws -> [UInt8] {
    let digest = Digest()
    try Files.forEachPiece(of: path) { digest.update($0) }
    return digest.finish()
  }
}
