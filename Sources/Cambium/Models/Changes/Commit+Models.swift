// The changes of a transaction as changes of models.

extension Commit {
  /// The changes that the transaction made to the models of a type, in the order of their keys.
  ///
  ///     for try await commit in database.changes(under: "flights") {
  ///       for change in try commit.changes(of: Flight.self) where change.affects(\.delay) {
  ///         show(change.model, change.old)
  ///       }
  ///     }
  ///
  /// A model that got another key is deleted and created. Of models that share a collection, one
  /// that became another case is deleted for the one type and created for the other.
  ///
  /// - Parameter type: The type of the models.
  /// - Returns: The changes, with the model before and after.
  /// - Throws: As `find(_:)` at the moments before and after the transaction;
  ///   ``DatabaseError/compacted(oldest:)`` where they are before the horizon.
  /// - Complexity: O(log n) for each change.
  public func changes<M: Model>(of type: M.Type) throws -> [ModelChange<M>] {
    var changes: [ModelChange<M>] = []
    try forEachChange(of: type) { changes.append($0) }
    return changes
  }

  /// Visits the changes that the transaction made to the models of a type, in the order of their
  /// keys; see ``changes(of:)``. Two snapshots are held until it returns.
  ///
  /// - Parameters:
  ///   - type: The type of the models.
  ///   - body: Takes the change; throwing ends the walk.
  /// - Throws: The error of `body`; as ``changes(of:)``.
  public func forEachChange<M: Model>(
    of type: M.Type, _ body: (ModelChange<M>) throws -> Void
  ) throws {
    var states: ModelStates<M>?
    try changes(within: M.schema.core.path).forEach { change in
      guard let id = change.id(of: type) else { return }
      if states == nil { states = try ModelStates(directory, sequence) }
      if let change = try states?.change(of: id) { try body(change) }
    }
  }

  /// The change that the transaction made to a model; nil where it made none.
  ///
  /// - Throws: As ``changes(of:)``.
  public func change<M: Model>(of id: ModelID<M>) throws -> ModelChange<M>? {
    let path = try id.path
    var cursor = changes(within: path).makeCursor()
    guard try cursor.next()?.path == path else { return nil }
    return try ModelStates(directory, sequence).change(of: id)
  }
}

extension Change {
  /// The id of the model whose value changed; nil where it is no node of the type's collection.
  ///
  /// The models before and after are those of `commit.change(of: id)`.
  public func id<M: Model>(of type: M.Type) -> ModelID<M>? {
    guard path.parent == M.schema.core.path, let key = path.last else { return nil }
    return M.Key(_treeKey: key).map { ModelID($0) }
  }
}

extension Speculation {
  /// The changes that the transaction would make to the models of a type, in the order of their
  /// keys; see ``Commit/changes(of:)``.
  ///
  /// - Parameter type: The type of the models.
  /// - Returns: The changes, with the model before and after.
  /// - Throws: As `find(_:)`.
  /// - Complexity: O(log n) for each change.
  public func changes<M: Model>(of type: M.Type) throws -> [ModelChange<M>] {
    let states = ModelStates<M>(running)
    var found: [ModelChange<M>] = []
    try changes(within: M.schema.core.path).forEach { change in
      guard let id = change.id(of: type), let change = try states.change(of: id) else { return }
      found.append(change)
    }
    return found
  }
}

/// The moments before and after a transaction.
struct ModelStates<M: Model> {
  private let old: Snapshot
  private let new: Snapshot

  init(_ directory: OpenDirectory, _ sequence: SequenceNumber) throws {
    old = try translating { try directory.snapshot(at: .sequence(sequence.previous)) }
    new = try translating { try directory.snapshot(at: .sequence(sequence)) }
  }

  init(_ running: RunningTransaction) {
    old = Snapshot(running, asOf: running.sequence.previous)
    new = Snapshot(running)
  }

  /// The change of a model; nil where it was neither there before nor after.
  func change(of id: ModelID<M>) throws -> ModelChange<M>? {
    try translating { ModelChange(from: try old.find(id), to: try new.find(id)) }
  }
}
