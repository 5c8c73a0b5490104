// Commits that reach the file later, many at a time, while others are made.
//
//     WriteTransaction ──▶ front ─── full ──▶ back          two buffers (`EntryBuffer`)
//                            └────────┬────────┘
//                                     ▼
//                            the file: one transaction of LMDB, by key
//
//     a buffer:
//
//     start      written     committed      end
//       ├───────────┼────────────┼───────────┤
//       │ in the    │ committed, │ of the    │
//       │ file      │ not in it  │ writer    │
//
// LMDB writes each page that a transaction has changed, so that a small one costs as many pages as
// it has entries. Transactions that reach the file together share pages, and sorted entries find
// the place for the next one at the place of the last. The two buffers are the memtables of a
// log-structured merge tree: one is filled while the other one is written (O'Neil et al., 1996;
// LevelDB's `mem_` and `imm_`).

import Synchronization

/// The commits to an environment that are not in its file yet.
///
/// They are lost with the process, so whoever writes this way must be able to make them again; nor
/// do readers see them. Call ``settle()`` before a reader begins that must.
///
/// Invariants:
/// 1. What is committed here follows the file's transaction `base`, and no other one: first what is
///    in the back, then what is in front. If another process commits, it is dropped: the file has
///    moved on without it. If it cannot be written, it stays.
/// 2. Entries before `committed` never change. So one thread can write them to the file while
///    another runs a transaction, and commits it here.
/// 3. `start` ≤ `written` ≤ `committed` ≤ `end` in both buffers, and everything in the back is
///    committed. Asserted after each change of `committed`.
/// 4. Whoever writes commits to the file, drops them, or turns the buffers holds `writing`. While
///    one writes, a transaction may begin on the file as it was before, since the buffers still
///    have all that was committed since. A buffer that is wholly in the file is cleared without it.
@safe package final class WriteBehind: @unchecked Sendable {
  // It is Sendable because the buffers are changed only by the one writer, and of their memory
  // others only read what lies before `committed`, which is behind a mutex like all the rest.

  /// The time until which commits should be written.
  package enum Urgency: Sendable {
    case later
    /// A buffer is full, and once the other one is as well, the writer waits.
    case now
  }

  /// The commits in one buffer.
  private struct Commits {
    let records: EntryBuffer.Records
    var written = EntryBuffer.start
    var committed = EntryBuffer.start
    /// The time of the first one that is not in the file, or of the write before it.
    var since: ContinuousClock.Instant?

    init(_ records: EntryBuffer.Records) { self.records = records }

    var isEmpty: Bool { written == committed }
  }

  private struct Places {
    /// The number of the file's transaction that all this follows.
    var base: UInt64 = 0
    var front: Commits
    var back: Commits
    /// The number of transactions that begin in the file directly, since the last ones had to.
    var direct = 0
    /// Set when commits begin to wait, or some are left, until somebody was asked to write them.
    var request: Urgency?

    var isEmpty: Bool { front.isEmpty && back.isEmpty }
  }

  let environment: Environment
  /// Behind pointers, since Swift checks each access to a variable of a class.
  let front: UnsafeMutablePointer<EntryBuffer>
  private let back: UnsafeMutablePointer<EntryBuffer>
  private let tables: [Table]
  private let bytesMax: Int
  /// Held while commits are written to the file; before `places`.
  private let writing = Mutex(())
  private let places: Mutex<Places>
  private let isPending = Atomic<Bool>(false)
  private let wasRead = Atomic<Bool>(false)

  /// - Parameters:
  ///   - environment: The environment to write to.
  ///   - bytesMax: The bytes of entries with which a buffer is full; for each of the two, twice as
  ///     many are reserved. With 0 every transaction writes to the file itself.
  package init(_ environment: Environment, bytesMax: Int) {
    self.environment = environment
    self.bytesMax = bytesMax
    tables = Array(environment.tables.values)
    unsafe front = .allocate(capacity: 2)
    unsafe back = front + 1
    unsafe front.initialize(to: EntryBuffer(capacity: 2 * bytesMax))
    unsafe back.initialize(to: EntryBuffer(capacity: 2 * bytesMax))
    places = Mutex(
      Places(
        front: Commits(unsafe front.pointee.records), back: Commits(unsafe back.pointee.records)))
  }

  deinit {
    unsafe front.deinitialize(count: 2)
    unsafe front.deallocate()
  }

  /// True if there are no commits that are not in the file.
  package var isEmpty: Bool { !isPending.load(ordering: .acquiring) }

  /// True if transactions may write behind.
  package var isEnabled: Bool { bytesMax > 0 }

  /// True if there are so many entries in front that ``turn()`` should be called.
  package var isFull: Bool {
    !isEmpty && places.withLock { $0.front.committed - EntryBuffer.start > bytesMax }
  }

  /// True if a buffer that was full is not in the file yet; ``writeBack()`` writes it.
  package var isBackWaiting: Bool { !isEmpty && places.withLock { !$0.back.isEmpty } }

  /// The time of the first commit that is not in the file, or of the write before it; nil if there
  /// is none.
  package var since: ContinuousClock.Instant? {
    places.withLock { places in
      if !places.back.isEmpty { return places.back.since }
      return places.front.isEmpty ? nil : places.front.since
    }
  }

  /// Tells once, after commits began to wait, when the caller should have them written.
  package func takeRequest() -> Urgency? {
    isEmpty ? nil : places.withLock { $0.request.take() }
  }

  // MARK: Writing to the file

  /// Writes all commits until now to the file, for a reader that is about to begin. Any thread may
  /// call it.
  ///
  /// The next transaction writes to the file itself: where there is a reader after each of them,
  /// there is nothing to gain.
  ///
  /// - Returns: False if another process has written to the file, so that they were dropped.
  /// - Throws: ``StorageError``; the commits stay, for the next call.
  /// - Complexity: nothing if there are none; otherwise a sort and a put for each entry, and one
  ///   commit of LMDB, after that of another thread.
  package func settle() throws -> Bool {
    if !wasRead.load(ordering: .relaxed) { wasRead.store(true, ordering: .relaxed) }
    return try isPending.load(ordering: .acquiring) ? write() : true
  }

  /// Writes all commits until now to the file, for no reader.
  ///
  /// - Returns: As ``settle()``.
  /// - Throws: As ``settle()``.
  @discardableResult
  package func write() throws -> Bool {
    try writing.withLock { _ in try writeCommits(ofFront: true) }
  }

  /// Writes the buffer that was full to the file, and leaves the other one, which is being filled.
  ///
  /// - Returns: As ``settle()``.
  /// - Throws: As ``settle()``.
  @discardableResult
  package func writeBack() throws -> Bool {
    try writing.withLock { _ in try writeCommits(ofFront: false) }
  }

  /// Writes the commits in the back, and perhaps those in front; `writing` is held.
  private func writeCommits(ofFront: Bool) throws -> Bool {
    var (back, front, base) = places.withLock { ($0.back, $0.front, $0.base) }
    if !ofFront { front.committed = front.written }
    if back.isEmpty && front.isEmpty { return true }
    let isWritten = try write([back, front], after: base)
    places.withLock { places in
      if isWritten {
        places.base += 1
        if !back.isEmpty { places.back.written = back.committed }
        if !front.isEmpty { (places.front.written, places.front.since) = (front.committed, .now) }
      } else {
        // The commits made meanwhile do not follow the file either.
        places.back.written = places.back.committed
        places.front.written = places.front.committed
      }
      places.request = places.isEmpty ? nil : places.request ?? .later
      isPending.store(!places.isEmpty, ordering: .releasing)
    }
    return isWritten
  }

  private func write(_ commits: [Commits], after base: UInt64) throws -> Bool {
    // LMDB would wait for a writer of another process, so that is found out first.
    if try environment.usage().transaction != base {
      _ = try newestView()
      return false
    }
    let entries = commits.map { $0.records.sorted($0.written..<$0.committed) }
    while true {
      do {
        let transaction = try DirectTransaction(environment)
        if transaction.number != base + 1 { return false }
        for entry in entries.joined() { try transaction.apply(entry) }
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
  /// - Returns: The view of the file that the buffers' entries follow.
  func begin() throws -> ReadTransaction {
    if let view = try followedView() { return view }
    return try writing.withLock { _ in
      // Commits had just been written, of which `base` did not tell yet; or another process writes.
      let view = try newestView()
      if !follows(view) { drop(before: view) }
      return view
    }
  }

  /// A view of the file that the buffers follow; nil where that cannot be told.
  private func followedView() throws -> ReadTransaction? {
    let view = try newestView()
    if follows(view) { return view }
    return nil
  }

  /// True if the buffers follow a view of the file. A buffer of which the view has everything is
  /// cleared: nobody else reads it any more.
  private func follows(_ view: borrowing ReadTransaction) -> Bool {
    let number = view.access.number
    return places.withLock { places in
      if places.base != number { return false }
      if places.back.isEmpty { unsafe clear(back, &places.back) }
      if places.front.isEmpty { unsafe clear(front, &places.front) }
      return true
    }
  }

  private func clear(_ buffer: UnsafeMutablePointer<EntryBuffer>, _ commits: inout Commits) {
    unsafe buffer.pointee.clear()
    commits = Commits(commits.records)
  }

  /// Drops what is in the buffers, for a transaction that follows a view of the file; `writing` is
  /// held.
  private func drop(before view: borrowing ReadTransaction) {
    let number = view.access.number
    places.withLock { places in
      unsafe clear(back, &places.back)
      unsafe clear(front, &places.front)
      places.base = number
      isPending.store(false, ordering: .releasing)
    }
  }

  /// The newest entry of a key that is in a buffer: in front, or in the back, which lies behind it.
  @inline(__always)
  static func find(
    _ table: Table, _ key: UnsafeRawBufferPointer, _ front: UnsafeMutablePointer<EntryBuffer>
  ) -> EntryBuffer.Found {
    if unsafe front.pointee.isEmpty && front[1].isEmpty { return unsafe .none }
    let hash = unsafe EntryBuffer.hash(table, key)
    let found = unsafe front.pointee.find(table, key, hash)
    if case .none = unsafe found { return unsafe front[1].find(table, key, hash) }
    return unsafe found
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

  /// Commits all that is in front.
  func commit() {
    places.withLock { places in
      let end = unsafe front.pointee.end
      if places.front.committed == end { return }
      if places.isEmpty { places.request = .later }
      if places.front.isEmpty { places.front.since = .now }
      places.front.committed = end
      isPending.store(true, ordering: .releasing)
      assert(places.front.written <= places.front.committed)
    }
  }

  /// Goes on with an empty buffer, and leaves the full one to others, who are to be asked for
  /// ``writeBack()``. If the one before is not in the file yet, it is written first.
  ///
  /// The writer calls it between two transactions.
  ///
  /// - Throws: ``StorageError``; all stays as it was.
  package func turn() throws {
    try writing.withLock { _ in
      _ = try writeCommits(ofFront: false)
      places.withLock { places in
        precondition(unsafe front.pointee.end == places.front.committed, "turned in a transaction")
        unsafe clear(back, &places.back)
        swap(&places.front, &places.back)
        unsafe swap(&front.pointee, &back.pointee)
        places.request = .now
      }
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
