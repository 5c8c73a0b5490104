/// The models of a collection, in the order of their keys: a description that reads nothing until
/// it is walked.
///
///     try database.all(Flight.self).reversed().limit(10).forEach { print($0.number) }
///
/// It holds its snapshot, so let it go soon.
public struct Models<M: Model>: Sendable {
  private var children: Children
  /// Where other models lie between them, how many of these models are wanted.
  private var left = Int.max
  private let snapshot: Snapshot

  init(_ snapshot: Snapshot) {
    self.snapshot = snapshot
    children = snapshot[M.schema.core.path].children
  }

  /// Starts at an id, which need not exist: at or after it, or at or before it when reversed.
  ///
  /// - Throws: ``DatabaseError/badKey(_:reason:)`` for what no key can be.
  public func from(_ id: ModelID<M>) throws -> Models {
    var copy = self
    copy.children = children.from(try M.schema.core.treeKey(of: id))
    return copy
  }

  /// Ends after so many models; less than zero counts as none.
  public func limit(_ count: Int) -> Models {
    var copy = self
    if M.schema.core.caseName == nil {
      copy.children = children.limit(count)
    } else {
      copy.left = min(left, max(count, 0))
    }
    return copy
  }

  /// Walks from the last key to the first; twice is forward again.
  public func reversed() -> Models {
    var copy = self
    copy.children = children.reversed()
    return copy
  }

  /// Starts a walk.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  /// - Complexity: O(log n), then about 0.1 µs a model and 10 ns a property. Memory does not depend
  ///   on how many there are.
  public func makeCursor() throws -> ModelCursor<M> {
    ModelCursor(try snapshot.binding(M.schema.core), try children.makeCursor(), left)
  }

  /// Visits each model.
  ///
  /// - Parameter body: Takes the model; throwing ends the walk.
  /// - Throws: Any error that `body` throws; ``PropertyError``, ``DatabaseError/corrupt(reason:)``.
  public func forEach(_ body: (M) throws -> Void) throws {
    var cursor = try makeCursor()
    while let model = try cursor.next() { try body(model) }
  }

  /// All models in an array. Use ``forEach(_:)`` or a cursor where there may be many.
  ///
  /// - Throws: ``PropertyError``, ``DatabaseError/corrupt(reason:)``.
  public func fetch() throws -> [M] {
    var models: [M] = []
    try forEach { models.append($0) }
    return models
  }
}

/// A walk over models, on one thread. It holds its snapshot.
public struct ModelCursor<M: Model>: ~Copyable {
  private let binding: Binding
  private var children: ChildCursor
  private var left: Int

  init(_ binding: Binding, _ children: consuming ChildCursor, _ left: Int) {
    self.binding = binding
    self.children = children
    self.left = left
  }

  /// The next model, or nil after the last.
  ///
  /// - Throws: ``PropertyError``, ``DatabaseError/corrupt(reason:)``.
  public mutating func next() throws -> M? {
    let binding = binding
    if binding.core.caseName != nil { return try nextOfCase(binding) }
    return try children.nextVersion { key, header, version in
      try M.schema.decode(header, version, key: key, binding)
    }
  }

  /// The next model among others.
  private mutating func nextOfCase(_ binding: Binding) throws -> M? {
    guard left > 0 else { return nil }
    left -= 1
    while let found = try children.nextVersion({ key, header, version -> M? in
      guard try binding.takes(header, version) else { return nil }
      return try M.schema.decode(header, version, key: key, binding)
    }) {
      if let found { return found }
    }
    return nil
  }
}
