// Commits that reach the file later, several at a time.
//
//     WriteTransaction ──▶ EntryBuffer ──▶ committed ──▶ settle(): one LMDB transaction, by key
//
//     start      written     committed      end
//       ├───────────┼────────────┼───────────┤
//       │ in the    │ committed, │ of the    │
//       │ file      │ not in it  │ writer    │
//
// LMDB writes each page that a transaction has changed, so that a small one costs as many pages as
// it has entries. Transactions that reach the file together share pages, and sorted entries find
// the place for the next one at the place of the last. (The write-back of a cache.)

import Synchronization

/// The commits to an environment that are not in its file yet.
///
/// They are lost with the process, so whoever writes this way must be able to make them again; nor
/// do readers see them. Call ``settle()`` before a reader begins that must.
///
/// Invariants:
/// 1. What is committed here follows the file's transaction `base`, and no other one. If another
///    process commits, it is dropped: the file has moved on without it. If it cannot be written, it
///    stays.
/// 2. Entries before `committed` never change. So one thread can write them to the file while
///    another runs a transaction.
/// 3. `start` ≤ `written` ≤ `committed` ≤ `end`. Asserted after each change.
@safe package final class WriteBehind: @unchecked Sendable {
  // It is Sendable because `buffer` is changed only by the one writer, and of its memory others
  // only read what lies before `committed`, which is behind the mutex like all the rest.

  private struct Places {
    /// The number of the file's transaction that all this follows.
    var base: UInt64 = 0
    var written = EntryBuffer.start
    var committed = EntryBuffer.start
    /// The number of transactions that begin in the file directly, since the last ones had to.
    var direct = 0
    /// The time of the first commit that is not in the file.
    var since = ContinuousClock.now
    /// True from the first waiting commit until somebody was asked to write it.
    var wantsWriting = false
  }

  let environment: Environment
  /// Behind a pointer, since Swift checks each access to a variable of a class.
  let buffer: UnsafeMutablePointer<EntryBuffer>
  private let records: EntryBuffer.Records
  private let tables: [Table]
  private let bytesMax: Int
  private let places = Mutex(Places())
  private let isPending = Atomic<Bool>(false)
  private let wasRead = Atomic<Bool>(false)

  /// - Parameters:
  ///   - environment: The environment to write to.
  ///   - bytesMax: The bytes of entries that are too many to wait; twice as many are reserved. With
  ///     0 every transaction writes to the file itself.
  package init(_ environment: Environment, bytesMax: Int) {
    self.environment = environment
    self.bytesMax = bytesMax
    tables = Array(environment.tables.values)
    unsafe buffer = .allocate(capacity: 1)
    unsafe buffer.initialize(to: EntryBuffer(capacity: 2 * bytesMax))
    records = unsafe buffer.pointee.records
  }

  deinit {
    unsafe buffer.deinitialize(count: 1)
    unsafe buffer.deallocate()
  }

  /// True if there are no commits that are not in the file.
  package var isEmpty: Bool { !isPending.load(ordering: .acquiring) }

  /// True if transactions may write behind.
  package var isEnabled: Bool { bytesMax > 0 }

  /// True if there are so many entries that they should be written.
  package var isFull: Bool {
    !isEmpty && places.withLock { $0.committed - EntryBuffer.start > bytesMax }
  }

  /// The time of the first commit that is not in the file; nil if there is none.
  package var since: ContinuousClock.Instant? {
    places.withLock { $0.written == $0.committed ? nil : $0.since }
  }

  /// True once after commits began to wait: the caller has them written later.
  package func takeRequest() -> Bool {
    if isEmpty { return false }
    return places.withLock { places in
      defer { places.wantsWriting = false }
      return places.wantsWriting
    }
  }

  // MARK: Writing to the file

  /// Writes all commits to the file, for a reader that is about to begin. Any thread may call it.
  ///
  /// The next transaction writes to the file itself: where there is a reader after each of them,
  /// there is nothing to gain.
  ///
  /// - Returns: False if another process has written to the file, so that they were dropped.
  /// - Throws: ``StorageError``; the commits stay, for the next call.
  /// - Complexity: nothing if there are none; otherwise a sort and a put for each entry, and one
  ///   commit of LMDB.
  package func settle() throws -> Bool {
    if !wasRead.load(ordering: .relaxed) { wasRead.store(true, ordering: .relaxed) }
    return try isPending.load(ordering: .acquiring) ? write() : true
  }

  /// Writes all commits to the file, for no reader.
  ///
  /// - Returns: As ``settle()``.
  /// - Throws: As ``settle()``.
  @discardableResult
  package func write() throws -> Bool {
    try places.withLock { places in
      if places.written == places.committed { return true }
      let isWritten = try write(places.written..<places.committed, after: places.base)
      if isWritten { places.base += 1 }
      places.written = places.committed
      isPending.store(false, ordering: .releasing)
      return isWritten
    }
  }

  private func write(_ range: Range<Int>, after base: UInt64) throws -> Bool {
    // LMDB would wait for a writer of another process, so that is found out first.
    if try environment.usage().transaction != base {
      _ = try newestView()
      return false
    }
    let entries = records.sorted(range)
    while true {
      do {
        let transaction = try DirectTransaction(environment)
        if transaction.number != base + 1 { return false }
        for entry in entries { try transaction.apply(entry) }
        try transaction.commit()
        return true
      } catch let error as StorageError where error.kind == .mapFull {
        // The map's maximum ends this.
        try environment.enlargeMap()
      }
    }
  }

  /// A view of the newest commit, which every later reader sees as well. If its process was killed
  /// before it had told readers of it, they would see the one before until somebody writes.
  private func newestView() throws -> ReadTransaction {
    let view = try ReadTransaction(environment, tables: tables)
    if try view.access.number == environment.usage().transaction { return view }
    _ = try DirectTransaction(environment)
    return try ReadTransaction(environment, tables: tables)
  }

  // MARK: For the writer

  /// True if a transaction should write to the file directly: if the one before it was read at
  /// once, or had to.
  func startsDirectly() -> Bool {
    if !isEnabled || wasRead.exchange(false, ordering: .relaxed) { return true }
    return places.withLock { places in
      if places.direct == 0 { return false }
      places.direct -= 1
      return true
    }
  }

  /// Has some of the next transactions write to the file directly, since this one had to.
  func preferDirect() { places.withLock { $0.direct = WriteBehind.directCount } }

  private static let directCount = 15

  /// Begins a transaction.
  ///
  /// - Returns: The view of the file that the buffer's entries follow.
  func begin() throws -> ReadTransaction {
    try places.withLock { places in
      let view = try newestView()
      let number = view.access.number
      if number != places.base || places.written == places.committed {
        unsafe buffer.pointee.clear()
        (places.written, places.committed) = (EntryBuffer.start, EntryBuffer.start)
        places.base = number
        isPending.store(false, ordering: .releasing)
      }
      return view
    }
  }

  /// Begins a transaction of LMDB that follows all that is committed here.
  ///
  /// - Throws: ``StorageError``; `.busy` if another process has committed since.
  func beginDirectly() throws -> DirectTransaction {
    let isWritten = try write()
    let transaction = try DirectTransaction(environment)
    let follows = places.withLock { transaction.number == $0.base + 1 }
    guard isWritten, follows else {
      throw StorageError(.busy, "another process has written to \(environment.path) meanwhile")
    }
    return transaction
  }

  /// Commits all that is in the buffer.
  func commit() {
    places.withLock { places in
      let end = unsafe buffer.pointee.end
      if places.committed == end { return }
      if places.written == places.committed { (places.since, places.wantsWriting) = (.now, true) }
      places.committed = end
      isPending.store(true, ordering: .releasing)
      assert(places.written <= places.committed)
    }
  }
}

extension DirectTransaction {
  /// Makes the change of a record.
  func apply(_ record: EntryBuffer.Record) throws {
    let table = record.table
    switch record.kind {
    case .put: try unsafe put(table, record.key.bytes, record.value.bytes)
    case .append: try unsafe put(table, record.key.bytes, record.value.bytes, .append)
    case .delete: try unsafe delete(table, record.key.bytes)
    }
  }
}
