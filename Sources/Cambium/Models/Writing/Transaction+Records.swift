// Records whose type the program does not know: their properties as types, and writing them.

extension DynamicRecord {
  /// A property's value as a type. Nothing reads as an optional's nil.
  ///
  /// - Throws: ``PropertyError``, with the path, for a value of another type, or none.
  public subscript<V: PropertyValue>(name: String, as type: V.Type) -> V {
    get throws {
      do {
        return try V(storedValue: self[name] ?? .null)
      } catch {
        let found = self[name] == nil ? "the record has none" : nil
        let reason = found ?? (error as? ValueMismatch)?.reason ?? "\(error)"
        throw PropertyError(path: path, property: name, reason: reason)
      }
    }
  }
}

extension Database.Transaction {
  /// Inserts a record.
  ///
  /// - Throws: ``DatabaseError/exists(_:reason:)`` where its place is taken; otherwise as
  ///   ``set(_:to:)``.
  public func insert(_ record: DynamicRecord) throws {
    if try running.hasNode(at: record.path) {
      throw DatabaseError.exists(record.path, reason: "there is a node already")
    }
    try set(record.path, to: .map(record.values))
  }

  /// Inserts a record, or changes the one that is there to be the same: what it does not have goes.
  /// Only what differs is logged.
  ///
  /// - Returns: The outcome: inserted, updated, or unchanged.
  /// - Throws: As ``set(_:to:)``.
  @discardableResult
  public func upsert(_ record: DynamicRecord) throws -> Upsert {
    guard let old = try self[record.path].record else {
      try set(record.path, to: .map(record.values))
      return .inserted
    }
    return try change(old, to: record) ? .updated : .unchanged
  }

  /// Changes a record; only what differs afterwards is logged.
  ///
  ///     try tx.update("flights/UA1545") { $0["delay"] = 12 }
  ///
  /// - Parameters:
  ///   - path: The path of the record.
  ///   - body: Changes it. Its path must stay.
  /// - Returns: True if anything differs.
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` where there is no record, what `body` throws;
  ///   otherwise as ``set(_:to:)``.
  @discardableResult
  public func update(_ path: NodePath, _ body: (inout DynamicRecord) throws -> Void) throws -> Bool
  {
    guard let old = try self[path].record else {
      throw DatabaseError.notFound(path, reason: "there is no record")
    }
    var new = old
    try body(&new)
    guard new.path == path else {
      throw DatabaseError.misuse(reason: "an update of \(path) has changed its path")
    }
    return try change(old, to: new)
  }

  /// Logs what differs.
  ///
  /// - Returns: True if anything does.
  private func change(_ old: DynamicRecord, to new: DynamicRecord) throws -> Bool {
    let gone = old.names.filter { new.values[$0] == nil }.map { ($0, Value?.none) }
    let set = new.values.members.filter { old.values[$0.name] != $0.value }
    if gone.isEmpty && set.isEmpty { return false }
    try update(old.path, gone + set.map { ($0.name, $0.value) })
    return true
  }
}
