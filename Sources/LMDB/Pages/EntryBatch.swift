// Entries that lie side by side on a leaf, read ahead by a walk.
//
//     checks of bounds and order, seals of this module ─▶ batch ─▶ keep some, or a part ─▶ use
//
// Each step goes over the whole batch before the next one begins, so that a walk is some short
// loops instead of a chain of calls for each entry.
//
// The functions that take closures are public, though only this package uses them: the compiler of
// Swift 6.3 inlines those that are `package` in no other module.

/// Some entries of one leaf, in the order of a walk. A checksum that belongs to the table's owner
/// is not checked yet (``Seal/ownLeading``).
@safe public struct EntryBatch: ~Copyable {
  /// An entry's key and value in the map.
  @safe @usableFromInline struct Entry {
    @usableFromInline let key: UnsafeRawBufferPointer
    @usableFromInline let value: UnsafeRawBufferPointer
    /// The entry's place in the batch as it was read.
    @usableFromInline let place: Int

    @usableFromInline @inline(__always)
    init(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, place: Int) {
      unsafe (self.key, self.value, self.place) = unsafe (key, value, place)
    }

    /// The entry without the first bytes of both.
    @inlinable @inline(__always)
    func dropping(_ counts: (key: Int, value: Int)) -> Entry {
      unsafe Entry(
        key: UnsafeRawBufferPointer(rebasing: key.dropFirst(counts.key)),
        value: UnsafeRawBufferPointer(rebasing: value.dropFirst(counts.value)), place: place)
    }
  }

  /// The sizes of the first batches are 2, 4 and 8, as many walks are short.
  private static let (firstMost, shortMost, longMost) = (2, 8, 64)

  @usableFromInline var entries: UnsafeMutablePointer<Entry>?
  @usableFromInline var used = 0
  private var capacity = 0
  /// The most entries that this batch may have; 0 before the first one of a walk.
  private var most = 0
  /// The error that the entry behind the last one gave.
  @usableFromInline var failure: (any Error)?

  /// The number of entries.
  @inlinable public var count: Int { used }

  /// Makes an empty batch, which has no memory yet.
  init() { unsafe entries = nil }

  deinit { unsafe entries?.deallocate() }

  // MARK: Reading

  /// True while more entries can be added to the batch.
  @inline(__always)
  var hasRoom: Bool { used < most }

  /// Has the next batch be the first one of a walk.
  @usableFromInline
  mutating func restart() { most = 0 }

  /// Begins the next batch.
  ///
  /// - Parameter limit: The most entries that are wanted.
  /// - Returns: True if it is the first of a walk.
  mutating func begin(upTo limit: Int = .max) -> Bool {
    let isFirst = most == 0
    used = 0
    failure = nil
    most = min(isFirst ? EntryBatch.firstMost : 2 * most, EntryBatch.longMost, limit)
    if most > capacity {
      unsafe entries?.deallocate()
      capacity = most > EntryBatch.shortMost ? EntryBatch.longMost : EntryBatch.shortMost
      unsafe entries = .allocate(capacity: capacity)
    }
    return isFirst
  }

  /// Adds an entry, for which there must be room.
  @inline(__always)
  mutating func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    unsafe (entries.unsafelyUnwrapped + used).initialize(
      to: Entry(key: key, value: value, place: used))
    used &+= 1
  }

  // MARK: Using

  /// Lends an entry of the batch.
  @inlinable @inline(__always)
  public func lend<R>(
    _ index: Int, _ body: (_ key: RawSpan, _ value: RawSpan) throws -> R
  ) rethrows -> R {
    precondition(index < used)
    let entry = unsafe entries.unsafelyUnwrapped[index]
    return try unsafe body(entry.key.bytes, entry.value.bytes)
  }

  /// The place that an entry had in the batch before others were left out.
  @inlinable
  public func place(_ index: Int) -> Int {
    precondition(index < used)
    return unsafe entries.unsafelyUnwrapped[index].place
  }

  /// Leaves entries out, or the first bytes of them. An error ends the batch before its entry, so
  /// that those before it can be used; ``throwFailure()`` throws it then.
  ///
  /// - Parameter part: Takes a key and a value. Returns how many bytes of both are to be dropped,
  ///   or nil for an entry that is left out.
  @inlinable @inline(__always)
  public mutating func keep(
    _ part: (_ key: RawSpan, _ value: RawSpan) throws -> (key: Int, value: Int)?
  ) {
    guard let entries = unsafe entries else { return }
    var kept = 0
    do {
      for index in 0..<used {
        let entry = unsafe entries[index]
        guard let counts = unsafe try part(entry.key.bytes, entry.value.bytes) else { continue }
        unsafe entries[kept] = entry.dropping(counts)
        kept &+= 1
      }
    } catch { failure = error }
    used = kept
  }

  /// Throws the error at which the batch ended, if it did.
  ///
  /// - Throws: The error of the closure that ``keep(_:)`` called.
  public func throwFailure() throws {
    if let failure { throw failure }
  }
}
