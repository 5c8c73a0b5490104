import CLMDB
import Synchronization

/// One LMDB file with its tables: opens it safely, and lends transactions.
///
/// Invariants, by hazard (H1 to H29, listed in the Architecture article):
/// 1. Flags are `MDB_NOTLS`, and `MDB_NOSYNC` only for a file that can be rebuilt (H1).
///    Checked with `mdb_env_get_flags` after opening.
/// 2. A file is open once per process (H9); ``Registration``.
/// 3. A damaged, truncated or foreign file never reaches LMDB (H3): ``FileCheck`` reads it first.
/// 4. All tables are opened here, once, and keep their handles (H25).
/// 5. After an I/O error, a panic, a fork or a replaced file no transaction begins (H10, H11, H22);
///    ``EnvironmentHealth``.
/// 6. All processes that have the file open see each other's numbers (H19); ``NamespaceClaim``.
/// 7. The map is resized, and the environment closed, only while no transaction lives in this
///    process (H13); ``Gate``.
@safe package final class Environment: @unchecked Sendable {
  // It is Sendable because LMDB's environment handle may be used from any thread, and everything
  // mutable here is behind a Mutex or an Atomic.

  /// The options for opening an environment.
  package struct Options: Sendable {
    /// The tables, created in a new file unless `readOnly`.
    package var tables: [String]
    /// The tables whose keys are seldom looked up by a transaction that writes behind. It keeps no
    /// lookup of what it writes to them, and the first key that it looks up there makes it a
    /// transaction of LMDB.
    package var blindTables: Set<String> = []
    /// Address space to reserve at first, in bytes; grows by doubling.
    package var mapSize: Int
    /// The most that the map may grow to, in bytes.
    package var mapSizeMax: Int
    /// True if a commit waits for the disk. False only where the content can be derived again.
    package var synced: Bool
    /// True to refuse writing.
    package var readOnly: Bool
    /// True to accept a file system on which memory maps and locks of several machines disagree.
    package var acceptsNetworkFileSystem = false
    /// True if the files are unlinked as soon as they are open, so that they disappear with the
    /// process, however it ends.
    package var isAnonymous = false
    /// Converts a reader's error into the one that is thrown to the environment's user.
    package var readingError: @Sendable (StorageError) -> any Error = { $0 }

    package init(
      tables: [String], mapSize: Int = 1 << 38, mapSizeMax: Int = 1 << 42, synced: Bool = true,
      readOnly: Bool = false
    ) {
      self.tables = tables
      self.mapSize = mapSize
      self.mapSizeMax = mapSizeMax
      self.synced = synced
      self.readOnly = readOnly
    }
  }

  /// The number of tables that an environment may have.
  static let tablesMax = 64

  /// The directory that holds `data.mdb` and `lock.mdb`.
  package let path: String
  /// True if the environment was opened for reading only.
  package let isReadOnly: Bool

  let handle: OpaquePointer
  let gate = Gate()
  let mapSizeMax: Int
  let tables: [String: Table]
  /// The tables of which transactions that write behind keep no lookup.
  let blindTables: BlindTables
  let readers: ReaderPool
  /// The failures after which nothing may be written.
  package let health: EnvironmentHealth
  /// Nil once LMDB's handle is released.
  private let registration: Mutex<Registration?>
  let commits = Atomic<Int>(0)
  /// True once no transaction can begin any more.
  let isClosed = Atomic<Bool>(false)

  /// Opens the environment in a directory that exists.
  ///
  /// - Throws: ``StorageError``: `.missing`, `.corrupt`, `.alreadyOpen`, `.unsupported`,
  ///   `.readOnly`.
  package init(at path: String, _ options: Options) throws {
    try Environment.checkLibrary()
    let directory = try Directory.open(path)
    registration = Mutex(try Registration(directory))
    unsafe (handle, tables) = try Environment.open(path, options)
    self.path = path
    isReadOnly = options.readOnly
    mapSizeMax = options.mapSizeMax
    blindTables = BlindTables(options.blindTables.compactMap { [tables] in tables[$0] })
    readers = ReaderPool(tables, options.readingError)
    let names = [EnvironmentFiles.data, EnvironmentFiles.lock]
    if options.isAnonymous {
      for name in names { try? DirectoryEntry(directory, name).remove() }
    }
    health = EnvironmentHealth(
      path: path, isReadOnly: isReadOnly,
      files: OpenFiles(options.isAnonymous ? [] : names, in: directory))
    clearStaleReaders()
  }

  deinit { release() }

  /// Closes now, unless a transaction of this process is still open: then it closes when the last
  /// reference is released. Nothing can begin afterwards.
  package func close() {
    isClosed.store(true, ordering: .relaxed)
    _ = try? gate.exclusively(of: .all, timeout: .milliseconds(100)) { () throws(StorageError) in
      release()
    }
  }

  private func release() {
    guard let registration = registration.withLock({ $0.take() }) else { return }
    readers.discard()
    unsafe mdb_env_close(handle)
    _ = consume registration
  }

  /// True unless it is certain that no other process has the environment open.
  ///
  /// - Complexity: one system call, about 0.4 µs.
  package var isShared: Bool { registration.withLock { $0?.isShared ?? true } }

  /// The table of a name given when opening.
  package func table(_ name: String) throws(StorageError) -> Table {
    guard let table = tables[name] else { throw StorageError(.invalid, "no table \(name)") }
    return table
  }
}

extension Environment {
  /// LMDB 0.9.26 to 0.9.31 destroy a mutex that other processes use (ITS 9278, 10095).
  private static func checkLibrary() throws(StorageError) {
    var major: Int32 = 0
    var minor: Int32 = 0
    var patch: Int32 = 0
    _ = unsafe mdb_version(&major, &minor, &patch)
    guard major == 0, minor == 9, !(26...31).contains(patch) else {
      throw StorageError(
        .unsupported, "LMDB \(major).\(minor).\(patch) is not supported; 0.9.24 is what is tested")
    }
  }

  private static func open(
    _ path: String, _ options: Options
  ) throws -> (OpaquePointer, [String: Table]) {
    if !options.acceptsNetworkFileSystem, let name = Platform.networkFileSystem(of: path) {
      throw StorageError(
        .unsupported, "\(path) is on \(name), where locks and maps cannot be relied on")
    }
    let file = "\(path)/data.mdb"
    let isNew = try !Files.exists(file) || PageLookup.check(options.tables, in: file).main.isEmpty
    let files = try EnvironmentFiles(in: path, isReadOnly: options.readOnly)
    let handle = try unsafe reserveMapAndOpen(path, options)
    do {
      try unsafe files.check(handle)
      return unsafe (handle, try openTables(options, handle, isNew: isNew))
    } catch {
      unsafe mdb_env_close(handle)
      throw error
    }
  }

  /// Opens with the largest map that the address space allows: a sanitizer, valgrind or a limit may
  /// refuse the size asked for first (H15).
  private static func reserveMapAndOpen(
    _ path: String, _ options: Options
  ) throws(StorageError) -> OpaquePointer {
    var size = options.mapSize
    while true {
      do {
        return try unsafe open(path, options, mapSize: size)
      } catch {
        guard error.kind == .noAddressSpace, size > 1 << 26 else { throw error }
        size /= 2
      }
    }
  }

  private static func open(
    _ path: String, _ options: Options, mapSize: Int
  ) throws(StorageError) -> OpaquePointer {
    var created: OpaquePointer?
    try check(unsafe mdb_env_create(&created), "preparing \(path)")
    guard let handle = unsafe created else { throw StorageError(.invalid, "no environment") }
    do {
      try check(
        unsafe mdb_env_set_maxdbs(handle, UInt32(Environment.tablesMax)),
        "setting the number of tables")
      try check(
        unsafe mdb_env_set_maxreaders(handle, UInt32(EnvironmentFiles.readersMax)),
        "setting the number of readers")
      try check(unsafe mdb_env_set_mapsize(handle, mapSize), "reserving \(mapSize) bytes")
      var flags = UInt32(MDB_NOTLS)
      if !options.synced { flags |= UInt32(MDB_NOSYNC) }
      if options.readOnly { flags |= UInt32(MDB_RDONLY) }
      try check(unsafe mdb_env_open(handle, path, flags, 0o600), "opening \(path)")
      try unsafe checkFlags(handle, flags, path)
      return unsafe handle
    } catch {
      unsafe mdb_env_close(handle)
      throw error
    }
  }

  private static func checkFlags(
    _ handle: OpaquePointer, _ flags: UInt32, _ path: String
  ) throws(StorageError) {
    var actual: UInt32 = 0
    try check(unsafe mdb_env_get_flags(handle, &actual), "reading the flags of \(path)")
    let forbidden = UInt32(MDB_WRITEMAP | MDB_MAPASYNC | MDB_NOLOCK | MDB_NOMETASYNC)
    guard actual & forbidden == 0, (actual ^ flags) & UInt32(MDB_NOSYNC | MDB_NOTLS) == 0 else {
      throw StorageError(.invalid, "\(path) opened with flags \(actual) instead of \(flags)")
    }
  }

  /// Opens the tables: through a reader if they all exist, since a writer could wait forever for
  /// another process's writer. They are created only in a new file: if one is missing from an old
  /// file, the file is damaged, and LMDB may crash when it writes to it.
  private static func openTables(
    _ options: Options, _ environment: OpaquePointer, isNew: Bool
  ) throws(StorageError) -> [String: Table] {
    if let tables = try unsafe openTables(options.tables, environment, creating: false) {
      return tables
    }
    if options.readOnly || !isNew { throw StorageError(.corrupt, "a table is missing") }
    return try unsafe openTables(options.tables, environment, creating: true) ?? [:]
  }

  /// - Returns: nil if a table is missing.
  private static func openTables(
    _ names: [String], _ environment: OpaquePointer, creating: Bool
  ) throws(StorageError) -> [String: Table]? {
    let transaction = try unsafe begin(environment, creating ? 0 : UInt32(MDB_RDONLY))
    var tables: [String: Table] = [:]
    for name in names {
      var index: UInt32 = 0
      let code = unsafe mdb_dbi_open(
        transaction, name, creating ? UInt32(MDB_CREATE) : 0, &index)
      guard code == MDB_SUCCESS else {
        unsafe mdb_txn_abort(transaction)
        if code == MDB_NOTFOUND { return nil }
        throw StorageError(code: code, while: "opening the table \(name)")
      }
      tables[name] = Table(index: index)
    }
    try check(unsafe mdb_txn_commit(transaction), "opening tables")
    return tables
  }

  /// Begins a transaction of an environment that nobody else uses yet in this process. Another
  /// process may have made the map larger since it was opened.
  private static func begin(
    _ environment: OpaquePointer, _ mode: UInt32
  ) throws(StorageError) -> OpaquePointer? {
    var attempts = 0
    while true {
      var transaction: OpaquePointer?
      let code = unsafe mdb_txn_begin(environment, nil, mode, &transaction)
      attempts += 1
      guard code == MDB_MAP_RESIZED, attempts < 4 else {
        try check(code, "opening tables")
        return unsafe transaction
      }
      try check(unsafe mdb_env_set_mapsize(environment, 0), "taking over the map's size")
    }
  }

  /// Enters the gate; every use of the handle is between this and `gate.leave`.
  func enter() throws(StorageError) {
    gate.enter()
    if isClosed.load(ordering: .relaxed) {
      gate.leave()
      throw StorageError(.closed, "\(path) is closed")
    }
  }

  func whileOpen<R>(
    _ body: () throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try enter()
    defer { gate.leave() }
    return try body()
  }
}

/// Tables of an environment, as bits by their indexes; those whose index is too large are left out.
struct BlindTables: Sendable {
  private let bits: UInt64

  init(_ tables: [Table]) { bits = tables.reduce(0) { $0 | 1 << UInt64($1.index) } }

  @inline(__always)
  func contains(_ table: Table) -> Bool { bits & 1 << UInt64(table.index) != 0 }
}

/// A table's handle, valid as long as its environment.
public struct Table: Sendable, Hashable {
  let index: UInt32
  /// The protection of its entries.
  let seal: Seal

  init(index: UInt32, seal: Seal = .none) {
    self.index = index
    self.seal = seal
  }

  /// The same table, with entries that have been protected since the first one.
  package func sealed(_ seal: Seal) -> Table { Table(index: index, seal: seal) }

  /// The bytes that protection adds to each value.
  package var sealBytes: Int { seal.addedCount }
}
