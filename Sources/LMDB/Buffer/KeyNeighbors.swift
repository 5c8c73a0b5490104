/// The keys on both sides of a key, among those of a table that have its first bytes.
package struct KeyNeighbors {
  /// The greatest key before it; nil if there is none.
  package private(set) var before: [UInt8]?
  /// The least key at or after it; nil if there is none.
  package private(set) var next: [UInt8]?

  init() {}

  /// Looks for them: one descent, and a step. The first `prefix` bytes are common to all.
  init(of key: RawSpan, in table: Table, _ prefix: Int, _ access: Access) throws {
    let start = key.extracting(first: prefix)
    var cursor = try Cursor(access, table)
    let hasNext = try cursor.seek(key)
    if hasNext { next = KeyNeighbors.key(cursor, start) }
    if try hasNext ? cursor.previous() : cursor.last() {
      before = KeyNeighbors.key(cursor, start)
    }
  }

  /// The key at a cursor, if it begins with some bytes.
  private static func key(_ cursor: borrowing Cursor, _ start: RawSpan) -> [UInt8]? {
    cursor.withEntry { key, _ in
      unsafe key.withUnsafeBytes { key in
        unsafe start.withUnsafeBytes { start in
          unsafe key.starts(with: start) ? unsafe Array(key) : nil
        }
      }
    }
  }
}
