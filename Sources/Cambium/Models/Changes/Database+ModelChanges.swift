// Observing the models of a type, or one of them.

import Synchronization

extension Database {
  /// Observes the models of a type: each change of any process, none left out.
  ///
  ///     for try await change in try database.changes(of: Flight.self) {
  ///       if change.affects(\.delay) { show(change.model) }
  ///     }
  ///
  /// - Parameters:
  ///   - type: The type of the models.
  ///   - after: The last transaction seen; nil starts with the next one.
  /// - Returns: The changes, for one walk: in the order of the transactions, and of the keys within
  ///   one.
  /// - Throws: ``DatabaseError/misuse(reason:)`` for a model that cannot be stored; as ``head``.
  /// - Complexity: for each transaction, one read of its record, and two of each model that it
  ///   changed; the changes of one transaction are in memory together.
  public func changes<M: Model>(
    of type: M.Type, after: SequenceNumber? = nil
  ) throws -> ModelChanges<M> {
    try M.schema.core.check()
    return try modelChanges(under: M.schema.core.path, after: after)
  }

  /// Observes one model, which need not be there yet: each change of any process, none left out.
  ///
  /// - Parameters:
  ///   - id: The model.
  ///   - after: The last transaction seen; nil starts with the next one.
  /// - Returns: The changes, for one walk.
  /// - Throws: ``DatabaseError/misuse(reason:)`` for an id that is not assigned; as ``head``.
  /// - Complexity: as for a type.
  public func changes<M: Model>(
    of id: ModelID<M>, after: SequenceNumber? = nil
  ) throws -> ModelChanges<M> {
    try modelChanges(under: try id.path, after: after)
  }

  private func modelChanges<M: Model>(
    under path: NodePath, after: SequenceNumber?
  ) throws -> ModelChanges<M> {
    let position = ObserverPosition(try after ?? head)
    return ModelChanges {
      var commits = self.changes(after: position.value, under: path).makeAsyncIterator()
      guard let commit = try await commits.next() else { return nil }
      position.value = commit.sequence
      return try commit.changes(of: M.self)
    }
  }
}

/// The position that an observer has reached.
final class ObserverPosition: Sendable {
  private let stored: Mutex<SequenceNumber>

  init(_ value: SequenceNumber) { stored = Mutex(value) }

  var value: SequenceNumber {
    get { stored.withLock { $0 } }
    set { stored.withLock { $0 = newValue } }
  }
}
