// Looking up many keys, one after the other: where a key lies on the leaf of the last one, that
// leaf is searched, and the way there is spared.

import CLMDB

/// Looks keys up in a table that is only read meanwhile. It must end before its transaction does.
@safe package struct NearLookup: ~Copyable {
  private let access: Access
  private let table: Table
  @usableFromInline var value = unsafe MDB_val()
  /// Where the last key was.
  private var leaf: MappedPage?

  package init(_ access: Access, _ table: Table) {
    self.access = access
    self.table = table
  }

  /// Looks a key up and lends its value.
  ///
  /// - Returns: nil where there is none.
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
