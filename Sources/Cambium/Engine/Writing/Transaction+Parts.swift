// Sets and dictionaries, changed without reading them: only the change is logged, identified by the
// element or the key. So two writers who both add lose nothing, and an undo removes only its own.

extension Database.Transaction {
  // MARK: Sets

  /// Inserts an element into a set, unless it is there already.
  ///
  ///     try tx.insert("vip", into: "users/ada", "tags")
  ///
  /// A set is an array with each element once, in the order of their stored bytes, which also
  /// identify the elements; an absent one is created.
  ///
  /// - Parameters:
  ///   - element: The element to insert.
  ///   - path: The node.
  ///   - property: The property that holds the set, or nil for the node's own value.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for a value that is not an array, or one that
  ///   would be too large; ``DatabaseError/notFound(_:reason:)`` for a property of a missing node.
  /// - Complexity: the log gets the element alone; the set, at most 1 MiB, is rewritten.
  public func insert(_ element: Value, into path: NodePath, _ property: String? = nil) throws {
    try change(path, property, .include(element))
  }

  /// Removes an element from a set, if it is there.
  ///
  /// - Parameters:
  ///   - element: The element to remove.
  ///   - path: The node.
  ///   - property: The property that holds the set, or nil for the node's own value.
  /// - Throws: As `insert(_:into:_:)`; ``DatabaseError/notFound(_:reason:)`` also if a node has no
  ///   value of its own.
  /// - Complexity: As `insert(_:into:_:)`.
  public func remove(_ element: Value, from path: NodePath, _ property: String? = nil) throws {
    try change(path, property, .exclude(element))
  }

  // MARK: Dictionaries

  /// Sets the value of a dictionary's key, and leaves the others.
  ///
  ///     try tx.set("books/7", "prices", "USD", to: 30)
  ///
  /// - Parameters:
  ///   - path: The record.
  ///   - property: The property that holds the dictionary, a map; an absent one is created.
  ///   - key: The key of the entry.
  ///   - value: The entry's new value.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for a value that is not a map, or one that
  ///   would be too large; ``DatabaseError/notFound(_:reason:)`` if there is no node.
  /// - Complexity: the log gets the entry alone; the map, at most 1 MiB, is rewritten.
  public func set(_ path: NodePath, _ property: String, _ key: String, to value: Value) throws {
    try change(path, property, .setEntry(key: key, value))
  }

  /// Removes an entry from a dictionary, if there is one under the key.
  ///
  /// - Parameters:
  ///   - key: The key of the entry.
  ///   - path: The record.
  ///   - property: The property that holds the dictionary.
  /// - Throws: As `set(_:_:_:to:)`.
  /// - Complexity: As `set(_:_:_:to:)`.
  public func removeValue(forKey key: String, from path: NodePath, _ property: String) throws {
    try change(path, property, .setEntry(key: key, nil))
  }

  /// Adds to the number under a key of a dictionary; an absent one counts as zero.
  ///
  /// - Parameters:
  ///   - path: The record.
  ///   - property: The property that holds the dictionary; an absent one is created.
  ///   - key: The key of the entry.
  ///   - step: An integer or a double; if either is a double, so is the sum.
  /// - Throws: As `set(_:_:_:to:)`; ``DatabaseError/badValue(_:reason:)`` also for a value that is
  ///   not a number, or a sum that does not fit 64 bits.
  /// - Complexity: As `set(_:_:_:to:)`.
  public func increment(
    _ path: NodePath, _ property: String, _ key: String, by step: Value
  ) throws {
    try change(path, property, .incrementEntry(key: key, by: step))
  }
}
