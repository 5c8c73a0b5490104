import LMDB

/// Finds present records below one node, one after the other.
///
/// It keeps its place: a key on the page of the last one costs no descent from the root, and keys
/// from an index often are.
final class RecordCursor {
  private var cursor: Cursor
  private var treeKey: [UInt8] = []

  init(_ reader: StateReader, node: UInt64) throws {
    cursor = try Cursor(reader.access, reader.tables.tree)
    treeKey.append(bigEndian: node)
  }

  /// Lends the record of a key.
  ///
  /// - Returns: nil where there is none.
  @inline(__always)
  func lend<R>(_ key: RawSpan, _ body: (RawSpan) throws -> R) throws -> R? {
    treeKey.removeSubrange(8...)
    treeKey.append(key)
    guard try treeKey.lend({ try cursor.seek($0) }) else { return nil }
    return try cursor.withEntry { found, version in
      guard treeKey.lend({ $0.equals(found) }) else { return nil }
      let header = try NodeHeader(version, key: found)
      guard header.kind == .record else { return nil }
      return try body(version.extracting(droppingFirst: header.contentOffset))
    }
  }
}
