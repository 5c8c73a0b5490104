import LMDB

/// The table that a ``Projection`` writes to: values by path, in path order.
///
/// It is lent for one call of `fold`, on its thread; using it later is an error.
public final class ProjectionTable {
  private let number: UInt32
  private let tables: StateTables
  /// Nil once it was lent long enough.
  private var transaction: WriteTransaction?

  init(_ number: UInt32, _ tables: StateTables, _ transaction: consuming WriteTransaction) {
    self.number = number
    self.tables = tables
    self.transaction = consume transaction
  }

  /// Takes the transaction back.
  func end() throws -> WriteTransaction {
    guard let transaction = transaction.take() else { throw ProjectionTable.ended }
    return transaction
  }

  private static let ended = DatabaseError.misuse(
    reason: "a projection's table was used after the call that it was lent to")

  private func access() throws -> Access {
    guard let access = transaction?.access else { throw ProjectionTable.ended }
    return access
  }

  /// The value at a path, with all that was written so far; nil where there is none.
  ///
  /// - Parameter path: The path under which the value was stored.
  /// - Returns: The value.
  /// - Throws: ``DatabaseError``.
  public func value(at path: NodePath) throws -> Value? {
    let (key, access) = (try ProjectionKey.key(number, path), try access())
    return try key.lend { key in try access.get(tables.views, key) { try Value($0) } }
  }

  /// Writes a value, or removes it.
  ///
  /// - Parameters:
  ///   - path: The path, at most 507 bytes as stored.
  ///   - value: The value; nil to remove it.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for a path that is too long.
  public func set(_ path: NodePath, to value: Value?) throws {
    let key = try ProjectionKey.key(number, path)
    _ = try access()
    guard let value else {
      return try key.lend { _ = try transaction?.delete(tables.views, $0) }
    }
    let stored = try value.stored()
    try Limits.check(stored.count, path)
    try key.lend { key in try stored.lend { try transaction?.put(tables.views, key, $0) } }
  }

  /// Visits the values at a path and below it in path order, as long as the visitor wants more; it
  /// must not write meanwhile.
  ///
  /// - Parameters:
  ///   - path: The path at and below which values are visited.
  ///   - visit: Called with each path and its value; returns true to continue.
  /// - Throws: Any error that `visit` throws; ``DatabaseError``.
  public func forEach(
    under path: NodePath = .root, _ visit: (_ path: NodePath, _ value: Value) throws -> Bool
  ) throws {
    try ProjectionKey.forEach(number, under: path, try access(), tables, visit)
  }
}

/// The keys of a projection's table.
enum ProjectionKey {
  static func key(_ number: UInt32, _ path: NodePath) throws -> [UInt8] {
    var key = [UInt8](bigEndian: number)
    key += path.bytes
    if key.count > keyBytesMax {
      throw DatabaseError.badValue(
        path, reason: "it takes \(path.bytes.count) bytes; \(keyBytesMax - 4) is the limit here")
    }
    return key
  }

  static func forEach(
    _ number: UInt32, under path: NodePath, _ access: Access, _ tables: StateTables,
    _ visit: (_ path: NodePath, _ value: Value) throws -> Bool
  ) throws {
    try access.walk(tables.views, startingWith: try key(number, path)) { key, value in
      try visit(NodePath(checking: key.extracting(droppingFirst: 4).array()), try Value(value))
    }
  }
}
