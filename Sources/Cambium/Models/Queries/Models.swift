/// The models of a collection, in the order of their keys: a description that reads nothing until
/// it is walked.
///
///     try database.all(Flight.self).reversed().limit(10).forEach { print($0.number) }
///
/// It holds its snapshot, so let it go soon.
public struct Models<M: Model>: Walk, Refinable {
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
    try changed { $0.children = children.from(try M.schema.core.treeKey(of: id)) }
  }

  /// Ends after so many models; less than zero counts as none.
  public func limit(_ count: Int) -> Models {
    changed {
      if M.schema.core.sharing.caseName == nil {
        $0.children = children.limit(count)
      } else {
        $0.left = min(left, max(count, 0))
      }
    }
  }

  /// Walks from the last key to the first; twice is forward again.
  public func reversed() -> Models {
    changed { $0.children = children.reversed() }
  }

  /// Starts a walk.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  /// - Complexity: O(log n), then about 0.1 µs a model and 10 ns a property. Memory does not depend
  ///   on how many there are.
  public func makeCursor() throws -> ModelCursor<M> {
    ModelCursor(
      binding: try snapshot.binding(M.schema.core), children: try children.makeCursor(), left: left)
  }

  /// Visits each element until `body` returns false.
  public func walk(_ body: (M) throws -> Bool) throws { try makeCursor().walk(body) }

  /// Starts a walk that continues batch by batch.
  public func makeBatches() throws -> WalkBatches<M> {
    WalkBatches(snapshot.readingDirectory, of: makeCursor)
  }
}

/// A walk over models, on one thread. It holds its snapshot.
public struct ModelCursor<M: Model>: ~Copyable, WalkCursor {
  let binding: Binding
  private(set) var children: ChildCursor
  private(set) var left: Int

  /// The next model, or nil after the last.
  ///
  /// - Throws: ``PropertyError``, ``DatabaseError/corrupt(reason:)``.
  public mutating func next() throws -> M? {
    let binding = binding
    if binding.core.sharing.caseName != nil { return try nextOfCase(binding) }
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
