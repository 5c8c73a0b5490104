import CLMDB
import LMDB

/// An environment made with LMDB's own calls, in a directory of its own that it removes.
///
/// Its content is random but follows from a seed, and is meant to reach every shape a file can
/// have: several tables, values in overflow runs, splits and merges, free lists, nested and aborted
/// transactions, tables cleared and dropped.
@safe final class ScratchEnvironment {
  let directory: String
  var file: String { directory + "/data.mdb" }
  private var handle: OpaquePointer?
  private var reader: OpaquePointer?

  /// An empty directory, or one with a data file.
  init(image: [UInt8]? = nil) throws {
    var template = Array("/tmp/lmdb-scratch-XXXXXX".utf8CString)
    directory = unsafe template.withUnsafeMutableBufferPointer { buffer in
      guard let name = buffer.baseAddress, unsafe mkdtemp(name) != nil else { return "" }
      return unsafe String(cString: name)
    }
    if directory.isEmpty { throw Failure(code: errno, call: "mkdtemp") }
    if let image { try ScratchFile.store(image, at: file) }
  }

  deinit {
    close()
    for name in ["data.mdb", "lock.mdb"] { _ = unsafe unlink(directory + "/" + name) }
    _ = unsafe rmdir(directory)
  }

  struct Failure: Error {
    let code: Int32
    let call: String
  }

  static func check(_ code: Int32, _ call: String = #function) throws {
    if code != MDB_SUCCESS { throw Failure(code: code, call: call) }
  }
}

// MARK: The file

enum ScratchFile {
  static func store(_ bytes: [UInt8], at path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    defer { close(descriptor) }
    guard unsafe write(descriptor, bytes, bytes.count) == bytes.count else {
      throw ScratchEnvironment.Failure(code: errno, call: "write")
    }
  }

  static func contents(of path: String) throws -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Int(Files.size(of: path)))
    guard unsafe pread(descriptor, &bytes, bytes.count, 0) == bytes.count else {
      throw ScratchEnvironment.Failure(code: errno, call: "pread")
    }
    return bytes
  }
}

// MARK: LMDB's calls

extension ScratchEnvironment {
  func open() throws {
    try Self.check(unsafe mdb_env_create(&handle))
    try Self.check(unsafe mdb_env_set_mapsize(handle, 1 << 30))
    try Self.check(unsafe mdb_env_set_maxdbs(handle, 16))
    try Self.check(unsafe mdb_env_open(handle, directory, UInt32(MDB_NOTLS | MDB_NOSYNC), 0o644))
  }

  func close() {
    endReading()
    if let open = unsafe handle { unsafe mdb_env_close(open) }
    unsafe handle = nil
  }

  /// Holds the newest snapshot until ``endReading()``, and says its transaction.
  @discardableResult
  func beginReading() throws -> UInt64 {
    endReading()
    try Self.check(unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &reader))
    return unsafe UInt64(mdb_txn_id(reader))
  }

  func endReading() {
    if let reading = unsafe reader { unsafe mdb_txn_abort(reading) }
    unsafe reader = nil
  }

  func copyCompacted(to other: ScratchEnvironment) throws {
    try Self.check(unsafe mdb_env_copy2(handle, other.directory, UInt32(MDB_CP_COMPACT)))
  }

  /// Runs `body` in a transaction that commits, unless it throws.
  func write<R>(_ body: (ScratchTransaction) throws -> R) throws -> R {
    var transaction: OpaquePointer?
    try Self.check(unsafe mdb_txn_begin(handle, nil, 0, &transaction))
    return try unsafe ScratchTransaction.run(transaction, body)
  }

  func read<R>(_ body: (ScratchTransaction) throws -> R) throws -> R {
    var transaction: OpaquePointer?
    try Self.check(unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction))
    defer { unsafe mdb_txn_abort(transaction) }
    return try body(unsafe ScratchTransaction(handle: transaction))
  }
}

/// A transaction of LMDB, without any of the guards that the real one has.
@safe struct ScratchTransaction {
  /// Creates a table of the kind that is not supported.
  static let duplicates = MDB_CREATE | MDB_DUPSORT

  let handle: OpaquePointer?

  static func run<R>(
    _ handle: OpaquePointer?, _ body: (ScratchTransaction) throws -> R
  ) throws -> R {
    do {
      let result = try body(unsafe ScratchTransaction(handle: handle))
      try ScratchEnvironment.check(unsafe mdb_txn_commit(handle), "commit")
      return result
    } catch let failure as ScratchEnvironment.Failure where failure.call == "commit" {
      throw failure
    } catch {
      unsafe mdb_txn_abort(handle)
      throw error
    }
  }

  /// Runs `body` in a transaction inside this one.
  func nested<R>(_ body: (ScratchTransaction) throws -> R) throws -> R {
    var child: OpaquePointer?
    let environment = unsafe mdb_txn_env(handle)
    try ScratchEnvironment.check(unsafe mdb_txn_begin(environment, handle, 0, &child))
    return try unsafe ScratchTransaction.run(child, body)
  }

  func table(_ name: String?, _ flags: Int32 = MDB_CREATE) throws -> UInt32 {
    var table: UInt32 = 0
    try ScratchEnvironment.check(unsafe mdb_dbi_open(handle, name, UInt32(flags), &table))
    return table
  }

  func put(_ key: [UInt8], _ value: [UInt8], in table: UInt32, _ flags: Int32 = 0) throws {
    var (key, value) = (key, value)
    let code = unsafe key.withUnsafeMutableBytes { key in
      unsafe value.withUnsafeMutableBytes { value in
        var left = unsafe MDB_val(mv_size: key.count, mv_data: key.baseAddress)
        var right = unsafe MDB_val(mv_size: value.count, mv_data: value.baseAddress)
        return unsafe mdb_put(handle, table, &left, &right, UInt32(flags))
      }
    }
    try ScratchEnvironment.check(code)
  }

  func remove(_ key: [UInt8], from table: UInt32) throws {
    var key = key
    let code = unsafe key.withUnsafeMutableBytes { key in
      var left = unsafe MDB_val(mv_size: key.count, mv_data: key.baseAddress)
      return unsafe mdb_del(handle, table, &left, nil)
    }
    if code != MDB_NOTFOUND { try ScratchEnvironment.check(code) }
  }

  func clear(_ table: UInt32, drop: Bool) throws {
    try ScratchEnvironment.check(unsafe mdb_drop(handle, table, drop ? 1 : 0))
  }

  /// LMDB's own statistics of a table, in the form of the walker's report.
  func counts(of table: UInt32, name: String) throws -> PageWalker.TableReport {
    var statistics = MDB_stat()
    try ScratchEnvironment.check(unsafe mdb_stat(handle, table, &statistics))
    var report = PageWalker.TableReport(name: name)
    report.depth = Int(statistics.ms_depth)
    report.entries = UInt64(statistics.ms_entries)
    report.branchPages = UInt64(statistics.ms_branch_pages)
    report.leafPages = UInt64(statistics.ms_leaf_pages)
    report.overflowPages = UInt64(statistics.ms_overflow_pages)
    return report
  }

  /// Reads every byte of a table, and returns its keys.
  func scan(_ table: UInt32) throws -> [[UInt8]] {
    var cursor: OpaquePointer?
    try ScratchEnvironment.check(unsafe mdb_cursor_open(handle, table, &cursor))
    defer { unsafe mdb_cursor_close(cursor) }
    var keys: [[UInt8]] = []
    var sum: UInt8 = 0
    var (key, value) = unsafe (MDB_val(), MDB_val())
    var code = unsafe mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
    while code == MDB_SUCCESS {
      keys.append(unsafe Array(UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size)))
      let bytes = unsafe Array(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
      sum = bytes.reduce(sum, &+)
      code = unsafe mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    if code != MDB_NOTFOUND { try ScratchEnvironment.check(code) }
    return keys
  }
}

// MARK: Random content

/// The seeds of a random test, which the runner prints with it.
///
/// `CAMBIUM_TEST_SCALE` multiplies their number, for a nightly run; `CAMBIUM_TEST_SEED` is the
/// first.
enum Seeds {
  static func first(_ count: Int) -> Range<Int> {
    let start = setting("CAMBIUM_TEST_SEED") ?? 0
    return start..<(start + count * (setting("CAMBIUM_TEST_SCALE") ?? 1))
  }

  private static func setting(_ name: String) -> Int? {
    unsafe getenv(name).flatMap { unsafe Int(String(cString: $0)) }
  }
}

/// SplitMix64: the same numbers from the same seed, everywhere.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  /// Scrambled, or the next seed would give the same numbers one later.
  init(seed: Int) { state = Self.scrambled(UInt64(bitPattern: Int64(seed))) }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    return Self.scrambled(state)
  }

  private static func scrambled(_ number: UInt64) -> UInt64 {
    var z = number
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
  mutating func chance(oneIn count: Int) -> Bool { below(count) == 0 }

  mutating func bytes(_ count: Int) -> [UInt8] {
    let first = UInt8(truncatingIfNeeded: next())
    return (0..<count).map { first &+ UInt8(truncatingIfNeeded: $0) }
  }
}

extension ScratchEnvironment {
  static let tableNames = ["log", "nodes", "index", "blobs"]

  /// One random transaction; about one in eight is aborted.
  func changeAtRandom(_ random: inout SeededGenerator, operations: Int = 60) throws {
    struct Abort: Error {}
    do {
      try write { transaction in
        for _ in 0..<(1 + random.below(3)) {
          do {
            try transaction.nestedAtRandom(&random) { child, random in
              try child.changeTableAtRandom(&random, operations: random.below(operations))
              if random.chance(oneIn: 6) { throw Abort() }
            }
          } catch is Abort {}
        }
        if random.chance(oneIn: 8) { throw Abort() }
      }
    } catch is Abort {}
  }
}

extension ScratchTransaction {
  /// Here, or one time in three in a nested transaction.
  fileprivate func nestedAtRandom(
    _ random: inout SeededGenerator,
    _ body: (ScratchTransaction, inout SeededGenerator) throws -> Void
  ) throws {
    if random.chance(oneIn: 3) {
      try nested { try body($0, &random) }
    } else {
      try body(self, &random)
    }
  }

  fileprivate func changeTableAtRandom(_ random: inout SeededGenerator, operations: Int) throws {
    let name = ScratchEnvironment.tableNames[random.below(4)]
    let table = try table(name)
    if random.chance(oneIn: 25) { return try clear(table, drop: false) }
    let removals = random.below(4)
    for _ in 0..<operations {
      // Long keys make a tree of several levels from few pages.
      var key = random.bytes(name == "index" ? 200 + random.below(300) : 4 + random.below(20))
      key[0] = UInt8(random.below(100))
      if random.below(4) < removals {
        try remove(key, from: table)
      } else {
        let large = name == "blobs" && random.chance(oneIn: 3)
        try put(key, random.bytes(large ? random.below(20_000) : random.below(200)), in: table)
      }
    }
    if random.chance(oneIn: 3) { try churn(&random, in: table) }
  }

  /// Puts and takes back at once: pages at the end of the file that will never be written.
  private func churn(_ random: inout SeededGenerator, in table: UInt32) throws {
    let keys = (0..<random.below(8)).map { _ in random.bytes(30) }
    for key in keys { try put(key, random.bytes(random.below(6_000)), in: table) }
    for key in keys { try put(key, random.bytes(random.below(4_000)), in: table) }
    for key in keys where !random.chance(oneIn: 5) { try remove(key, from: table) }
  }
}
