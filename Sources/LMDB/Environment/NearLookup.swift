// Lookup of many keys in sequence: if a key is on the same leaf as the last one, only that leaf is
// searched, without a descent from the root.

import CLMDB

/// Looks keys up in a table that does not change meanwhile. It must end before its transaction.
@safe package struct NearLookup: ~Copyable {
  private let access: Access
  private let table: Table
  @usableFromInline var value = unsafe MDB_val()
  /// The leaf that held the last key.
  private var leaf: MappedPage?

  package init(_ access: Access, _ table: Table) {
    self.access = access
    self.table = table
  }

  /// Looks a key up and lends its value.
  ///
  /// - Returns: nil if there is none.
  @inlinable
  package mutating func lend<R>(_ key: RawSpan, _ body: (RawSpan) throws -> R) throws -> R? {
    guard try find(key) else { return nil }
    return try unsafe value.lend(body)
  }

  @usableFromInline
  mutating func find(_ key: RawSpan) throws -> Bool {
    if key.byteCount == 0 || key.byteCount > keyBytesMax { return false }
    let found = unsafe try key.withUnsafeBytes { key throws -> MDB_val? in
      guard let pages = access.pages else { return unsafe try access.find(table, key) }
      do throws(StorageError) { return unsafe try pages.find(table, key, near: &leaf) } catch {
        throw pages.readingError(error)
      }
    }
    guard let found = unsafe found else { return false }
    unsafe value = unsafe found
    return true
  }
}
