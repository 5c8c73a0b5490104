// The face of a transaction that runs: values, the tree's shape and events, one call for each
// operation.

import FoundationEssentials

extension Database {
  /// The scope of a write: changes that are stored together, or not at all.
  ///
  /// It exists only inside the body of `write` of ``Database``, on the thread that runs the body.
  /// Every change is checked and applied at once, so reads through it include it. An error of one
  /// call changes nothing and leaves the transaction as it was; after an error of the storage, or
  /// after a transaction has grown too large, every further call throws the same error.
  ///
  ///     try database.write(metadata: ["who": "ada"]) { tx in
  ///       try tx.set("users/ada", to: ["name": "Ada", "born": 1815])
  ///       try tx.increment("counters/users", by: 1)
  ///     }
  public struct Transaction: ~Copyable {
    let running: RunningTransaction

    init(_ running: RunningTransaction) { self.running = running }
  }
}

extension Database.Transaction {
  /// The number that this transaction gets when it is committed, if it has an operation.
  public var sequence: SequenceNumber { running.sequence }

  /// The node at a path, including the changes of this transaction. Using it after the transaction
  /// has ended throws ``DatabaseError/misuse(reason:)``.
  public subscript(path: NodePath) -> Node {
    Snapshot(running)[path]
  }

  // MARK: Values

  /// Creates a node, or replaces its value; its children stay. Missing ancestors are created.
  ///
  /// - Parameters:
  ///   - path: The node to write. A path that names a property of a record changes that property,
  ///     unless the value is a map.
  ///   - value: The new value. A map is stored as a record.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for a value that is too large or nests too
  ///   deep, ``DatabaseError/exists(_:reason:)`` if a child and a property would have one name.
  /// - Complexity: one descent of the tree per level, and 0.5 to 3 µs.
  public func set(_ path: NodePath, to value: Value) throws {
    // A map becomes the node's record, so it never becomes a property.
    if !value.isMap, let (record, property) = try running.propertyPlace(path) {
      return try update(record, [(property, value)])
    }
    try running.issue(.set(path, try running.content(value, path)))
  }

  /// Changes some properties of a record, and leaves the others.
  ///
  /// - Parameters:
  ///   - path: A record, or a node without a value of its own, which becomes one.
  ///   - properties: New values by name; nil removes the property. If two have the same name the
  ///     later one wins.
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` if there is no node,
  ///   ``DatabaseError/badValue(_:reason:)`` if it holds a single value or the record would be too
  ///   large, ``DatabaseError/exists(_:reason:)`` if a child has the name.
  /// - Complexity: as ``set(_:to:)``; the record is rewritten, however few properties change.
  public func update(_ path: NodePath, _ properties: KeyValuePairs<String, Value?>) throws {
    try update(path, properties.map { ($0.key, $0.value) })
  }

  package func update(_ path: NodePath, _ properties: [(String, Value?)]) throws {
    var updates: [Operation.PropertyUpdate] = []
    for (name, value) in properties {
      updates.append(
        .init(name: try running.define(name), value: try value?.stored(at: path))
      )
    }
    try running.issue(.update(path, updates))
  }

  /// Adds to a number without reading it. An absent number has the default that the collection
  /// declares for it, ``PropertyDefinition/absence``, otherwise zero.
  ///
  /// - Parameters:
  ///   - path: The node. To change a property, name its record here.
  ///   - property: The property, or nil for the node's own value.
  ///   - step: An integer or a double; if either is a double, so is the sum.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for a value that is not a number, or a sum
  ///   that does not fit 64 bits; ``DatabaseError/notFound(_:reason:)`` for a property of a missing
  ///   node.
  public func increment(_ path: NodePath, _ property: String? = nil, by step: Value) throws {
    try change(path, property, .increment(by: step))
  }

  /// Adds an element at the end of an array; an absent array is created.
  ///
  /// - Parameters:
  ///   - element: The element to append.
  ///   - path: The node.
  ///   - property: The property that holds the array, or nil for the node's own value.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for a value that is not an array, or one that
  ///   would be too large; ``DatabaseError/notFound(_:reason:)`` for a property of a missing node.
  /// - Complexity: the log gets the element alone; the array, at most 1 MiB, is rewritten.
  public func append(_ element: Value, to path: NodePath, _ property: String? = nil) throws {
    try change(path, property, .append(element))
  }

  /// Inserts an element into an array before the one at `position`.
  ///
  /// - Parameters:
  ///   - element: The element to insert.
  ///   - position: From 0 up to the number of elements, which is the end.
  ///   - path: The node.
  ///   - property: The property that holds the array, or nil for the node's own value.
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` for a position outside the array, otherwise as
  ///   `append(_:to:_:)`.
  public func insert(
    _ element: Value, at position: Int, into path: NodePath, _ property: String? = nil
  ) throws {
    try change(path, property, .insert(element, at: try checked(position, path)))
  }

  /// Removes an element from an array; the following ones move up.
  ///
  /// - Parameters:
  ///   - position: The element's position, counted from 0.
  ///   - path: The node.
  ///   - property: The property that holds the array, or nil for the node's own value.
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` for a position outside the array or if there
  ///   is no array, ``DatabaseError/badValue(_:reason:)`` for a value that is not an array.
  public func removeElement(at position: Int, from path: NodePath, _ property: String? = nil) throws
  {
    try change(path, property, .removeElement(at: try checked(position, path)))
  }

  /// Changes a value in place, in the form of the log: the common form of `increment`, `append` and
  /// the like.
  ///
  ///     try tx.change("users/ada", "tags", .include("vip"))
  ///
  /// - Parameters:
  ///   - path: The node.
  ///   - property: The property, or nil for the node's own value, which cannot be a dictionary.
  ///   - change: The change to make.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for a value of another type, or one that would
  ///   be too large; ``DatabaseError/notFound(_:reason:)`` for a property of a missing node, or a
  ///   position outside the array.
  /// - Complexity: the log gets the change alone; the value, at most 1 MiB, is rewritten.
  public func change(_ path: NodePath, _ property: String?, _ change: ValueChange<Value>) throws {
    if property == nil, change.key != nil {
      throw DatabaseError.badValue(path, reason: "a dictionary is a property; name it")
    }
    let target = try property.map { try running.define($0) }
    let stored = try change.map { try $0.stored(at: path, depth: 1) }
    try running.issue(.change(path, target, stored))
  }

  /// Removes a node's own value; the node stays, with everything below it.
  package func clear(_ path: NodePath) throws {
    try running.issue(.set(path, Content(kind: .none, bytes: [])))
  }

  // MARK: Nodes

  /// Removes a node with all below it, or a property of a record.
  ///
  /// History keeps the removed nodes; ``restore(_:removedAt:)`` restores them.
  ///
  /// - Parameter path: The node, or the property.
  /// - Returns: True if there was something to remove.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for the root,
  ///   ``DatabaseError/misuse(reason:)`` after the transaction has ended.
  /// - Complexity: one entry, however large the subtree.
  @discardableResult
  public func remove(_ path: NodePath) throws -> Bool {
    if let (record, property) = try running.propertyPlace(path) {
      try update(record, [(property, nil)])
      return true
    }
    return try running.remove(path)
  }

  /// Restores a node that an earlier transaction removed, with all below it.
  ///
  /// - Parameters:
  ///   - path: The node's former path; its parent must exist, its place be free.
  ///   - sequence: The transaction that removed it.
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` if the parent is missing, or that transaction
  ///   removed nothing there (moving does not count), or a later one has restored it, changed
  ///   something below it, and removed it again, which leaves it to `Database.undo`;
  ///   ``DatabaseError/exists(_:reason:)`` if another node has taken the place;
  ///   ``DatabaseError/badValue(_:reason:)`` if the collection was migrated since;
  ///   ``DatabaseError/compacted(oldest:)`` if compaction has dropped the removed node.
  /// - Complexity: one entry, however large the subtree.
  public func restore(_ path: NodePath, removedAt sequence: SequenceNumber) throws {
    if sequence > .zero, sequence <= running.group.horizon {
      throw DatabaseError.compacted(oldest: running.group.horizon)
    }
    if let reason = running.olderForm(of: path, at: sequence) {
      throw DatabaseError.badValue(path, reason: reason)
    }
    try running.issue(.restore(path, removedAt: sequence.rawValue))
  }

  /// Moves a node with all below it. Missing ancestors of the destination are created.
  ///
  /// - Parameters:
  ///   - source: The node's present path.
  ///   - destination: The node's new path, including its key there.
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` if there is no node,
  ///   ``DatabaseError/exists(_:reason:)`` if the destination is taken,
  ///   ``DatabaseError/badValue(_:reason:)`` for a destination inside the node.
  /// - Complexity: two entries, however large the subtree.
  public func move(_ source: NodePath, to destination: NodePath) throws {
    try running.issue(.move(source, to: destination))
  }

  // MARK: The transaction itself

  /// Adds names of properties to the catalog ahead of their first use, so that their numbers are
  /// small and in a chosen order. Any other use of a new name defines it as well.
  ///
  /// - Parameter names: The names to add; known ones are skipped.
  /// - Throws: ``DatabaseError/badKey(_:reason:)`` for a name that cannot be a key.
  public func define(_ names: String...) throws {
    for name in names { _ = try running.define(name) }
  }

  /// Logs a fact of the application's own: it touches no node, and reaches observers in
  /// ``Commit/events``.
  ///
  /// - Parameters:
  ///   - name: A name for the kind of event.
  ///   - payload: The event's data.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for a payload that is too large or nests too
  ///   deep.
  public func event(_ name: String, _ payload: Value = .null) throws {
    try running.issue(.event(name, try payload.stored(at: .root)))
  }

  /// Adds to the transaction's metadata, such as its reason. An ``attempt(_:)`` that fails removes
  /// it.
  ///
  /// - Parameters:
  ///   - name: The name that the text is stored under; a text that is already there is replaced.
  ///   - text: The text to store.
  public func annotate(_ name: String, _ text: String) { running.draft.metadata[name] = text }

  /// Runs a part that may fail: if it throws, its changes are undone, and the rest stays.
  ///
  ///     try? tx.attempt { try tx.move("drafts/7", to: "letters/7") }
  ///
  /// - Parameter body: Uses the transaction; it may attempt parts of its own.
  /// - Returns: The value that `body` returns.
  /// - Throws: Any error that `body` throws.
  /// - Complexity: at most one nested transaction of LMDB.
  public func attempt<R>(_ body: () throws -> R) throws -> R {
    try running.use()
    try translating { try running.begin() }
    do {
      let result = try body()
      try running.use()
      try translating { try running.keep() }
      return result
    } catch {
      running.rollBack()
      throw error
    }
  }

  /// Stores bytes as a blob with this transaction; refer to it with ``Value/blob(_:)``.
  ///
  /// - Parameter data: The content.
  /// - Returns: The blob, by its content's address. If no transaction refers to it, it is kept for
  ///   a day.
  /// - Throws: ``DatabaseError/transactionTooLarge(bytes:limit:)`` over 256 MiB of chunks.
  /// - Complexity: the bytes stay in memory until the commit; for large ones use
  ///   `Database.store` before the transaction.
  public func store(_ data: Data) throws -> Blob { try translating { try running.store(data) } }

  /// Stores a number under a name beside the tree, with this transaction.
  package func saveCursor(_ name: String, _ number: UInt64) throws {
    try running.setNumber("cursor/\(name)", to: number)
  }

  // MARK: Helpers

  func checked(_ position: Int, _ path: NodePath) throws -> UInt64 {
    guard position >= 0 else {
      throw DatabaseError.notFound(path, reason: "position \(position) is less than zero")
    }
    return UInt64(position)
  }
}
