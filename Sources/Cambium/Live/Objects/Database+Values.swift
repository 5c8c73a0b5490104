// Observing one thing: its value now, and then its changes.

extension Database {
  /// A model now, and then each time that it is another, of any process; nil while there is none.
  ///
  ///     for try await flight in database.values(of: id) { show(flight) }
  ///
  /// - Parameter id: The model, which need not be there yet.
  /// - Returns: The values, without end. The iterator throws as `find(_:)`, and
  ///   ``DatabaseError/misuse(reason:)`` for an id that is not assigned.
  /// - Complexity: nothing for a commit that leaves the model as it is; one read of the model for
  ///   one that writes it.
  public func values<M: Model>(of id: ModelID<M>) -> LiveValues<M?> {
    LiveValues(of: { try id.path }, in: self) { old, new in
      M.schema.core.differences(old, new).isEmpty
    } _: {
      try $0.find(id)
    }
  }

  /// A property of a model now, and then each time that it is another; nil while there is no such
  /// model.
  ///
  ///     for try await delay in database.values(of: id, \.departureDelay) { show(delay) }
  ///
  /// - Parameters:
  ///   - id: The model, which need not be there yet.
  ///   - property: The property, or a nested value. Other properties may change without a value.
  /// - Returns: The values, without end. The iterator throws as that of ``values(of:)``.
  /// - Complexity: as ``values(of:)``; only the property is decoded.
  public func values<M: Model, V: PropertyValue>(
    of id: ModelID<M>, _ property: KeyPath<M, V> & Sendable
  ) -> LiveValues<V?> {
    LiveValues(of: { try id.path }, in: self) { old, new in
      old.isSame(new)
    } _: {
      try $0.find(id, property)
    }
  }

  /// The content of a node, or a property of a record, now, and then each time that it is another;
  /// nil while there is none.
  ///
  /// - Parameter path: The node, or the property; for a model rather ``values(of:)``, which costs
  ///   less.
  /// - Returns: The values, without end. The iterator throws ``DatabaseError/corrupt(reason:)``.
  /// - Complexity: one read of the record of each transaction that is passed, whether or not it
  ///   touches the path; one read of the node for one that does.
  public func values(at path: NodePath) -> LiveValues<Value?> {
    LiveValues(isSame: { $0 == $1 }) { [self] in
      let position = ObserverPosition(.zero)
      let now: @Sendable () throws -> Value? = { [self] in
        let snapshot = try snapshot()
        position.value = snapshot.sequence
        return try snapshot[path].value
      }
      return LiveValues.Source(now: now) { [self] in
        do {
          var commits = changes(after: position.value, under: path).makeAsyncIterator()
          guard try await commits.next() != nil else { return nil }
        } catch DatabaseError.compacted {
          // The transactions since are gone; the value is not.
        }
        // The value may be nil, which is not the end.
        return try unlessClosed { .some(try now()) }
      }
    }
  }
}
