// Lookup of many keys in sequence: if a key is on the same leaf as the last one, only that leaf is
// searched, without a descent from the root; keys that are announced are looked for together.

import CLMDB

/// Looks keys up in a table that does not change meanwhile. It must end before its transaction.
@safe public struct NearLookup: ~Copyable {
  private let access: Access
  private let table: Table
  @usableFromInline var value = unsafe MDB_val()
  /// The leaf that held the last key.
  private var leaf: MappedPage?
  /// True if the last key was the first one, or on another leaf than the one before it: those that
  /// follow are worth announcing.
  package private(set) var isScattered = false
  /// The keys that were announced.
  private var expected: JointLookup?

  /// The number of keys that are looked for together; of more that are announced at once, the rest
  /// is not.
  package static let expectedMax = JointLookup.most

  package init(_ access: Access, _ table: Table) {
    self.access = access
    self.table = table
  }

  /// Announces a key that is about to be looked up. Some keys that are announced one after the
  /// other are looked for together, which takes less time where each is on another leaf.
  package mutating func expect(_ key: RawSpan) {
    if access.pages == nil { return }
    if expected == nil { expected = JointLookup() }
    unsafe key.withUnsafeBytes { unsafe expected?.add($0) }
  }

  /// Looks a key up and lends its value.
  ///
  /// - Returns: nil if there is none.
  @inlinable
  public mutating func lend<R>(_ key: RawSpan, _ body: (RawSpan) throws -> R) throws -> R? {
    guard try find(key) else { return nil }
    return try unsafe value.lend(body)
  }

  @usableFromInline
  mutating func find(_ key: RawSpan) throws -> Bool {
    guard let found = unsafe try key.withUnsafeBytes({ unsafe try value(of: $0) }) else {
      return false
    }
    unsafe value = unsafe found
    return true
  }

  /// The value of a key, without its seal.
  mutating func value(of key: UnsafeRawBufferPointer) throws -> MDB_val? {
    if key.count == 0 || key.count > keyBytesMax { return nil }
    guard let pages = access.pages else { return unsafe try access.find(table, key) }
    let before = leaf
    defer { isScattered = leaf.map { before?.isSame(as: $0) != true } ?? false }
    do throws(StorageError) {
      return unsafe try pages.find(table, key, near: &leaf, &expected)
    } catch { throw pages.readingError(error) }
  }
}
