import FoundationEssentials

/// What a write may do: changes that are stored together, or not at all.
///
/// It exists only inside ``Database/write(metadata:expecting:_:)``. Every change is checked and
/// applied at once, so reading through it shows it; an error of one call changes nothing and leaves the
/// transaction as it was, unless the storage failed.
///
///     try database.write(metadata: ["who": "ada"]) { tx in
///       try tx.set("users/ada", to: ["name": "Ada", "born": 1815])
///       try tx.increment("counters/users", by: 1)
///     }
public struct Transaction: ~Copyable {
  private let writing: Writing

  init(_ writing: Writing) { self.writing = writing }

  /// The number that this transaction gets when it is committed.
  public var sequence: SequenceNumber { writing.sequence }

  /// The node at a path, with what this transaction has done so far.
  public subscript(path: Path) -> Node {
    Snapshot(writing, writing.state, writing.store, sequence: writing.sequence)[path]
  }

  // MARK: Values

  /// Creates a node, or replaces its value; its children stay. Missing ancestors are made.
  ///
  /// - Parameters:
  ///   - path: Where. A path that names a property of a record changes that property.
  ///   - value: What. A map is stored as a record.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for a value that is too large or nests too deep,
  ///   ``DatabaseError/exists(_:reason:)`` when a child and a property would have one name.
  /// - Complexity: one descent of the tree per level, and 0.5 to 3 µs.
  public func set(_ path: Path, to value: Value) throws {
    if case .map = value {} else if let (record, property) = try propertyPlace(path) {
      return try update(record, [(property, value)])
    }
    try writing.issue(.set(path, try writing.content(value, path)))
  }

  /// Changes some properties of a record, and leaves the others.
  ///
  /// - Parameters:
  ///   - path: A record, or a node without a value of its own, which becomes one.
  ///   - properties: New values by name; nil takes the property out.
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` where there is no node.
  public func update(_ path: Path, _ properties: KeyValuePairs<String, Value?>) throws {
    try update(path, properties.map { ($0.key, $0.value) })
  }

  func update(_ path: Path, _ properties: [(String, Value?)]) throws {
    var updates: [Operation.PropertyUpdate] = []
    for (name, value) in properties {
      updates.append(
        .init(name: try writing.define(name), value: try value.map { try writing.stored($0, path) }))
    }
    try writing.issue(.update(path, updates))
  }

  /// Adds to a number without reading it; what is absent counts as zero.
  ///
  /// - Parameters:
  ///   - path: The node.
  ///   - property: The property, or nil for the node's own value.
  ///   - step: An integer or a double.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for something that is no number, or a sum that
  ///   does not fit 64 bits.
  public func increment(_ path: Path, _ property: String? = nil, by step: Value) throws {
    try writing.issue(.increment(path, try target(property), by: try writing.stored(step, path)))
  }

  /// Adds an element at the end of an array; an absent one is made.
  public func append(_ element: Value, to path: Path, _ property: String? = nil) throws {
    try writing.issue(.append(path, try target(property), try writing.stored(element, path)))
  }

  /// Puts an element into an array before the one at `position`.
  ///
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` for a position outside the array.
  public func insert(
    _ element: Value, at position: Int, into path: Path, _ property: String? = nil
  ) throws {
    try writing.issue(
      .insert(
        path, try target(property), at: try checked(position, path),
        try writing.stored(element, path)))
  }

  /// Takes an element out of an array.
  ///
  /// - Throws: ``DatabaseError/notFound(_:reason:)`` for a position outside the array.
  public func removeElement(at position: Int, from path: Path, _ property: String? = nil) throws {
    try writing.issue(
      .removeElement(path, try target(property), at: try checked(position, path)))
  }

  // MARK: Nodes

  /// Removes a node with all below it.
  ///
  /// - Returns: Whether there was one.
  /// - Complexity: one entry, however large the subtree.
  @discardableResult
  public func remove(_ path: Path) throws -> Bool {
    if let (record, property) = try propertyPlace(path) {
      try update(record, [(property, nil)])
      return true
    }
    guard try self[path].exists else { return false }
    try writing.issue(.remove(path))
    return true
  }

  /// Puts back what an earlier transaction removed, with all below it.
  ///
  /// - Parameters:
  ///   - path: Where it was; its parent must be there, its place free.
  ///   - sequence: The transaction that removed it.
  /// - Throws: ``DatabaseError/notFound(_:reason:)``, ``DatabaseError/exists(_:reason:)``.
  public func restore(_ path: Path, removedAt sequence: SequenceNumber) throws {
    try writing.issue(.restore(path, removedAt: sequence.rawValue))
  }

  /// Moves a node with all below it. Missing ancestors of the destination are made.
  ///
  /// - Throws: ``DatabaseError/notFound(_:reason:)``, ``DatabaseError/exists(_:reason:)`` when the
  ///   destination is taken.
  /// - Complexity: two entries, however large the subtree.
  public func move(_ source: Path, to destination: Path) throws {
    try writing.issue(.move(source, to: destination))
  }

  // MARK: The transaction itself

  /// Adds names of properties to the catalog ahead of their first use.
  public func define(_ names: String...) throws {
    for name in names { _ = try writing.define(name) }
  }

  /// Logs a fact of the application's own: it touches no node, and reaches the feed.
  public func event(_ name: String, _ payload: Value = .null) throws {
    try writing.issue(.event(name, try writing.stored(payload, .root)))
  }

  /// Adds to the transaction's metadata: who, why.
  public func annotate(_ name: String, _ text: String) { writing.metadata[name] = text }

  /// Goes on only if a node was last changed by a given transaction.
  ///
  /// - Parameter sequence: What the caller saw; zero for no node.
  /// - Throws: ``DatabaseError/conflict(_:expected:found:)``.
  public func expect(_ path: Path, at sequence: SequenceNumber) throws {
    let found = try self[path].modified ?? .zero
    if found != sequence { throw DatabaseError.conflict(path, expected: sequence, found: found) }
  }

  /// Runs a part that may fail: if it throws, what it did is undone, and the rest stays.
  ///
  /// - Throws: What `body` throws.
  public func attempt<R>(_ body: () throws -> R) throws -> R {
    try writing.use()
    try translating { try writing.begin() }
    do {
      let result = try body()
      try writing.use()
      try translating { try writing.end() }
      return result
    } catch {
      if writing.projector.isUsable { writing.rollBack() }
      throw error
    }
  }

  /// Stores bytes as a blob with this transaction; refer to it with ``Value/blob(_:)``.
  ///
  /// - Complexity: the bytes stay in memory until the commit; for large ones use
  ///   ``Database/store(_:)-(_)`` before the transaction.
  public func store(_ data: Data) throws -> Blob { try translating { try writing.store(data) } }

  /// Stores a consumer's position with this transaction, so that it moves exactly when the changes do.
  public func advance(_ consumer: String, to sequence: SequenceNumber) throws {
    try writing.setNumber("consumer/\(consumer)", to: sequence.rawValue)
  }

  /// Stores a number under a name beside the tree, with this transaction.
  package func saveCursor(_ name: String, _ number: UInt64) throws {
    try writing.setNumber("cursor/\(name)", to: number)
  }

  // MARK: Helpers

  private func target(_ property: String?) throws -> Target {
    try property.map { try writing.define($0) }
  }

  private func checked(_ position: Int, _ path: Path) throws -> UInt64 {
    guard position >= 0 else {
      throw DatabaseError.notFound(path, reason: "position \(position) is less than zero")
    }
    return UInt64(position)
  }

  /// The record and the property that a path names, where it does.
  private func propertyPlace(_ path: Path) throws -> (Path, String)? {
    try writing.propertyPlace(path)
  }
}
