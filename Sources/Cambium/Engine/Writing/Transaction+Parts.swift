// Sets and dictionaries, changed without reading them: what is logged is the change alone, named by
// the element or the key. So two writers who both add lose nothing, and an undo takes back its own.

extension Transaction {
  // MARK: Sets

  /// Puts an element into a set, if it is not in it.
  ///
  ///     try tx.insert("vip", into: "users/ada", "tags")
  ///
  /// A set is an array with each element once, in the order of their stored bytes, by which
  /// elements are told apart; an absent one is made.
  ///
  /// - Parameters:
  ///   - element: The element to insert.
  ///   - path: The node.
  ///   - property: The property that holds the set, or nil for the node's own value.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for something that is no array, or one that
  ///   would be too large; ``DatabaseError/notFound(_:reason:)`` for a property of no node.
  /// - Complexity: the log gets the element alone; the set, at most 1 MiB, is written anew.
  public func insert(_ element: Value, into path: Path, _ property: String? = nil) throws {
    try change(path, property, .include(element))
  }

  /// Takes an element out of a set, if it is in it.
  ///
  /// - Parameters:
  ///   - element: The element to remove.
  ///   - path: The node.
  ///   - property: The property that holds the set, or nil for the node's own value.
  /// - Throws: As `insert(_:into:_:)`; ``DatabaseError/notFound(_:reason:)`` also where a node has
  ///   no value of its own.
  /// - Complexity: As `insert(_:into:_:)`.
  public func remove(_ element: Value, from path: Path, _ property: String? = nil) throws {
    try change(path, property, .exclude(element))
  }

  // MARK: Dictionaries

  /// Gives a key of a dictionary its value, and leaves the others.
  ///
  ///     try tx.set("books/7", "prices", "USD", to: 30)
  ///
  /// - Parameters:
  ///   - path: The record.
  ///   - property: The property that holds the dictionary, a map; an absent one is made.
  ///   - key: Which entry.
  ///   - value: The entry's new value.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for something that is no map, or one that
  ///   would be too large; ``DatabaseError/notFound(_:reason:)`` where there is no node.
  /// - Complexity: the log gets the entry alone; the map, at most 1 MiB, is written anew.
  public func set(_ path: Path, _ property: String, _ key: String, to value: Value) throws {
    try change(path, property, .setEntry(key: key, value))
  }

  /// Takes an entry out of a dictionary, if there is one under the key.
  ///
  /// - Parameters:
  ///   - key: Which entry.
  ///   - path: The record.
  ///   - property: The property that holds the dictionary.
  /// - Throws: As `set(_:_:_:to:)`.
  /// - Complexity: As `set(_:_:_:to:)`.
  public func removeValue(forKey key: String, from path: Path, _ property: String) throws {
    try change(path, property, .setEntry(key: key, nil))
  }

  /// Adds to the number under a key of a dictionary; what is absent counts as zero.
  ///
  /// - Parameters:
  ///   - path: The record.
  ///   - property: The property that holds the dictionary; an absent one is made.
  ///   - key: Which entry.
  ///   - step: An integer or a double; where either is a double, so is the sum.
  /// - Throws: As `set(_:_:_:to:)`; ``DatabaseError/badValue(_:reason:)`` also for something that
  ///   is no number, or a sum that does not fit 64 bits.
  /// - Complexity: As `set(_:_:_:to:)`.
  public func increment(
    _ path: Path, _ property: String, _ key: String, by step: Value
  ) throws {
    try change(path, property, .incrementEntry(key: key, by: step))
  }
}
