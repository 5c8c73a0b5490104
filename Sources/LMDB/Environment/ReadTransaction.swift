import CLMDB
import Synchronization

/// A fixed view of the environment. It ends when it goes out of scope; its slot is reused.
@safe package struct ReadTransaction: ~Copyable, Sendable {
  private let environment: Environment
  private let reader: ReaderHandle
  /// The pages that it reads; nil if the address space has no room for a map of our own.
  private let pages: SnapshotPages?

  /// The view for lookups.
  package var access: Access { unsafe Access(handle: reader.handle, pages: pages) }

  /// Begins one: under 0.2 µs when a slot is free.
  ///
  /// - Parameters:
  ///   - environment: The environment to read.
  ///   - tables: The tables that will be read. If LMDB reads them, they are resolved here, so that
  ///     reading has no side effects and is safe on several threads.
  /// - Throws: ``StorageError``: `.busy` when all 1,024 slots are taken, `.closed`, `.corrupt`.
  package init(_ environment: Environment, tables: [Table]) throws {
    try environment.health.check(forWriting: false)
    (reader, pages) = try ReadTransaction.begin(environment, tables)
    self.environment = environment
  }

  /// Pins the pages of the newest moment for a caller that reads them in its own way. Tables are
  /// not resolved, since their pages may be damaged.
  ///
  /// - Throws: ``StorageError``: `.busy`, `.closed`.
  package init(pinning environment: Environment) throws {
    try environment.health.check(forWriting: false)
    (reader, pages) = try ReadTransaction.begin(environment, nil)
    self.environment = environment
  }

  deinit {
    environment.readers.end(reader)
    environment.gate.leave()
  }

  private static func begin(
    _ environment: Environment, _ tables: [Table]?
  ) throws -> (ReaderHandle, SnapshotPages?) {
    var attempts = 0
    while true {
      try environment.enter()
      var handle: OpaquePointer?
      let code = unsafe environment.readers.begin(&handle, in: environment.handle)
      if code == MDB_SUCCESS, let handle = unsafe handle {
        let reader = unsafe ReaderHandle(handle: handle)
        guard let tables else { return (reader, nil) }
        return try resolve(tables, reader, environment)
      }
      // Inside the gate, so that the environment is not closed in the meantime.
      if code == MDB_READERS_FULL { environment.clearStaleReaders() }
      environment.gate.leave()
      attempts += 1
      guard attempts < 4, code == MDB_READERS_FULL || code == MDB_MAP_RESIZED else {
        throw StorageError(code: code, while: "beginning to read")
      }
      if code == MDB_MAP_RESIZED { try environment.resize(to: 0) }
    }
  }

  /// Resolves the tables of the moment that a reader pins; ends the reader if they are damaged.
  private static func resolve(
    _ tables: [Table], _ reader: ReaderHandle, _ environment: Environment
  ) throws -> (ReaderHandle, SnapshotPages?) {
    do {
      if let pages = unsafe try environment.readers.pages(
        pinnedBy: reader.handle, of: environment)
      {
        return (reader, pages)
      }
      let access = unsafe Access(handle: reader.handle)
      for table in tables { _ = try access.count(table) }
      return (reader, nil)
    } catch let error as StorageError {
      unsafe mdb_txn_abort(reader.handle)
      environment.gate.leave()
      throw environment.readers.readingError(error)
    }
  }
}
