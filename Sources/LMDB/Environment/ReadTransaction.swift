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
    try environment.health.check()
    (reader, pages) = try ReadTransaction.begin(environment, tables)
    self.environment = environment
  }

  /// Pins the pages of the newest moment for a caller that reads them in its own way. Tables are
  /// not resolved, since their pages may be damaged.
  ///
  /// - Throws: ``StorageError``: `.busy`, `.closed`.
  package init(pinning environment: Environment) throws {
    try environment.health.check()
    (reader, pages) = try ReadTransaction.begin(environment, nil)
    self.environment = environment
  }

  deinit {
    environment.readers.end(reader)
    if pages == nil { environment.gate.leave() } else { environment.gate.leaveAside() }
  }

  private static func begin(
    _ environment: Environment, _ tables: [Table]?
  ) throws -> (ReaderHandle, SnapshotPages?) {
    var attempts = 0
    while true {
      try environment.enter()
      var handle: OpaquePointer?
      var code = unsafe environment.readers.begin(&handle, in: environment.handle)
      if code == MDB_SUCCESS, let handle = unsafe handle {
        let reader = unsafe ReaderHandle(handle: handle)
        guard let tables else { return (reader, nil) }
        if let resolved = try resolve(tables, reader, environment) { return resolved }
        code = MDB_MAP_RESIZED
      } else {
        // Inside the gate, so that the environment is not closed in the meantime.
        if code == MDB_READERS_FULL { environment.clearStaleReaders() }
        environment.gate.leave()
      }
      attempts += 1
      switch code {
      case MDB_READERS_FULL where attempts < 4: break
      // Each time the map was made at least twice as large.
      case MDB_MAP_RESIZED where attempts < Int.bitWidth: try environment.resize(to: 0)
      default: throw StorageError(code: code, while: "beginning to read")
      }
    }
  }

  /// Resolves the tables of the moment that a reader pins; ends the reader if they are damaged.
  ///
  /// - Returns: nil if another process has made the map larger, after which the reader has ended.
  private static func resolve(
    _ tables: [Table], _ reader: ReaderHandle, _ environment: Environment
  ) throws -> (ReaderHandle, SnapshotPages?)? {
    do {
      if let pages = unsafe try environment.readers.pages(
        pinnedBy: reader.handle, of: environment)
      {
        environment.gate.stepAside()
        return (reader, pages)
      }
      let access = unsafe Access(handle: reader.handle)
      for table in tables { _ = try access.count(table) }
      return (reader, nil)
    } catch let error as StorageError {
      unsafe mdb_txn_abort(reader.handle)
      environment.gate.leave()
      // The reader is renewed where the page of its moment is about to be overwritten.
      if error.code == MDB_MAP_RESIZED { return nil }
      throw environment.readers.readingError(error)
    }
  }
}
