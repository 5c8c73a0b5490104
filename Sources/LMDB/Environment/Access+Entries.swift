// Walks over the entries of a table.

extension Access {
  /// Visits the entries of a table whose keys begin with these bytes, in the order of the keys,
  /// until `body` returns false.
  ///
  /// - Throws: Any error that `body` throws; ``StorageError`` as ``Cursor/seek(_:)`` does.
  @inlinable @inline(__always)
  public func walk(
    _ table: Table, startingWith prefix: [UInt8] = [],
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Bool
  ) throws {
    var cursor = try Cursor(self, table)
    let isThere = try unsafe prefix.isEmpty ? cursor.first() : cursor.seek(prefix.span.bytes)
    if !isThere { return }
    try cursor.walk(isReversed: false) { key, value in
      guard key.starts(with: prefix) else { return false }
      return try body(key, value)
    }
  }

  /// Visits all of them.
  package func forEach(
    _ table: Table, startingWith prefix: [UInt8] = [],
    _ body: (_ key: RawSpan, _ value: RawSpan) throws -> Void
  ) throws {
    try walk(table, startingWith: prefix) { key, value in
      try body(key, value)
      return true
    }
  }
}

extension RawSpan {
  @usableFromInline
  func starts(with prefix: [UInt8]) -> Bool {
    if byteCount < prefix.count { return false }
    return unsafe extracting(0..<prefix.count).withUnsafeBytes { own in
      unsafe prefix.withUnsafeBytes { unsafe own.order(to: $0) == 0 }
    }
  }
}
