/// The treatment of an existing entry by a put.
package enum PutMode: Sendable {
  /// Replaces the entry if the key exists.
  case replace
  /// Appends; the key is larger than all others in the table.
  case append
}

/// The writer: puts, deletions and lookups that see them, and savepoints.
///
/// The type is noncopyable, so the compiler proves that the transaction ends once: `commit`
/// consumes it, and leaving scope any other way aborts. It must begin and end on one thread (H7).
///
///     directly           LMDB's transaction from the beginning
///     behind             entries are kept in memory; single keys are looked up there, then in
///                        the file. The first cursor, or the first lookup in a blind table,
///                        makes it a transaction of LMDB.
@safe package struct WriteTransaction: ~Copyable {
  /// In one place, to which its views lead.
  private let writer: UnsafeMutablePointer<EntryWriter>

  /// Begins; waits for another process's writer without a limit, so hold a ``FileLock`` first.
  ///
  /// - Parameters:
  ///   - environment: The environment to write to.
  ///   - behind: The earlier commits that may not be in the file yet; nil if there are none.
  ///   - isDirect: True to write to the file with this commit; false to write behind as well, if
  ///     that is worth while. One thread at a time may write behind.
  /// - Throws: ``StorageError``.
  package init(
    _ environment: Environment, behind: WriteBehind? = nil, isDirect: Bool = true
  ) throws {
    let made = try EntryWriter(environment, behind, isDirect: isDirect)
    unsafe writer = .allocate(capacity: 1)
    unsafe writer.initialize(to: made)
  }

  deinit {
    unsafe writer.deinitialize(count: 1)
    unsafe writer.deallocate()
  }

  /// True if it is a transaction of LMDB; false while it writes behind.
  package func isDirect() -> Bool { unsafe writer.pointee.isDirect }

  /// Writes to the file with this commit, from now on.
  package func writeDirectly() throws { unsafe try writer.pointee.writeDirectly() }

  /// The view for lookups, which includes this transaction's writes; it changes with each
  /// savepoint.
  package var access: Access { unsafe writer.pointee.access ?? Access(writer: writer) }

  /// Looks up a key that may be written next, or is near the last one. Within the same page the
  /// cost is a search of the page instead of a descent from the root, and so is that of a `put` of
  /// the key.
  ///
  /// - Complexity: 0.1 to 0.7 µs.
  @inline(__always)
  package func get<R>(
    _ table: Table, _ key: RawSpan, _ body: (RawSpan) throws -> R
  ) throws -> R? {
    let found = unsafe try key.withUnsafeBytes { unsafe try writer.pointee.findNear(table, $0) }
    return try unsafe found?.lend(body)
  }

  /// The keys on both sides of a key, among those that have its first bytes. A transaction that
  /// writes behind knows those of the file alone: so a key that the file does not have, or that is
  /// deleted, is found this way only if all that concerned it was written directly.
  ///
  /// - Parameters:
  ///   - key: The key, which need not be there.
  ///   - table: The table.
  ///   - prefix: The number of first bytes that count.
  /// - Returns: The nearest keys with these bytes.
  /// - Throws: ``StorageError``.
  /// - Complexity: one descent, 0.3 to 0.8 µs.
  package func neighbors(
    of key: RawSpan, in table: Table, _ prefix: Int
  ) throws -> KeyNeighbors {
    unsafe try writer.pointee.neighbors(of: key, in: table, prefix)
  }

  /// Writes an entry.
  ///
  /// - Throws: ``StorageError``; `.mapFull` makes the whole transaction unusable.
  @inline(__always)
  package func put(
    _ table: Table, _ key: RawSpan, _ value: RawSpan, _ mode: PutMode = .replace
  ) throws {
    unsafe try writer.pointee.put(table, key, value, mode)
  }

  /// Removes an entry.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - key: The key of the entry.
  ///   - isKnown: True if the caller has just found it, so that it need not be looked up again.
  /// - Returns: True if there was one. Unspecified for a blind table: a transaction that writes
  ///   behind does not look.
  /// - Throws: ``StorageError``.
  @discardableResult
  package func delete(_ table: Table, _ key: RawSpan, isKnown: Bool = false) throws -> Bool {
    unsafe try writer.pointee.delete(table, key, isKnown: isKnown)
  }

  /// Begins a savepoint.
  ///
  /// - Returns: The view from now on.
  @discardableResult
  package mutating func savepoint() throws -> Access {
    unsafe try writer.pointee.savepoint()
    return access
  }

  /// Keeps what was written since the last savepoint.
  ///
  /// - Returns: The view from now on.
  @discardableResult
  package mutating func release() throws -> Access {
    unsafe try writer.pointee.release()
    return access
  }

  /// Undoes what was written since the last savepoint.
  ///
  /// - Returns: The view from now on.
  @discardableResult
  package mutating func rollBack() -> Access {
    unsafe writer.pointee.rollBack()
    return access
  }

  /// The number of open savepoints.
  package var savepoints: Int { unsafe writer.pointee.savepoints }

  /// Makes the changes visible, and durable where the environment is synced; or, if it is written
  /// behind, keeps them for ``WriteBehind/settle()``.
  ///
  /// - Throws: ``StorageError``. After `.diskFull` nothing was stored; after `.inputOutput` the
  ///   outcome is unknown and the environment is poisoned.
  package consuming func commit() throws { unsafe try writer.pointee.commit() }
}
