import FoundationEssentials

/// Changes that are collected before there is a transaction, in one place or in several, and then
/// written together.
///
///     var batch = WriteBatch()
///     batch.update("users/ada", ["city": "London"])
///     try batch.set(flight, \.departureDelay, to: 12)
///     try batch.merge(other, .laterWins)
///     try database.write(batch)
///
/// It is a value: it can be copied, kept, sent to another task, and applied more than once. Nothing
/// is checked before ``Database/Transaction/apply(_:)``.
///
/// Invariant: `changes` are made in order, so the later of two changes of one place prevails.
public struct WriteBatch: Sendable {
  /// One change.
  struct Change: Sendable {
    /// The effect of a change on its place.
    enum Kind { case sets, adds, removes }

    /// The node; nil for a change that touches none, or one that does not exist yet.
    var path: NodePath?
    /// The properties; nil for the whole node.
    var properties: [String]?
    var kind: Kind
    /// The new values of an update's properties; empty for any other change.
    var updates: [(String, Value?)] = []
    var perform: @Sendable (borrowing Database.Transaction) throws -> Void
  }

  private(set) var changes: [Change] = []

  /// Makes an empty batch.
  public init() {}

  /// The number of changes; an update of several properties is one.
  public var count: Int { changes.count }

  /// True if there are no changes.
  public var isEmpty: Bool { changes.isEmpty }

  mutating func add(
    _ kind: Change.Kind, _ path: NodePath?, _ property: String? = nil,
    _ perform: @escaping @Sendable (borrowing Database.Transaction) throws -> Void
  ) {
    changes.append(
      Change(path: path, properties: property.map { [$0] }, kind: kind, perform: perform))
  }

  // MARK: Putting batches together

  /// The way to settle a conflict, if two batches change one place.
  public enum MergeStrategy: Hashable, Sendable {
    /// The merged changes are made after the existing ones, as if one batch were written after the
    /// other; but a node that they change is not removed first: an existing removal is left out if
    /// it is in conflict.
    case laterWins
    /// The existing changes stay as they are. The merged ones follow without conflicting changes: a
    /// change is left out completely, or, if it is an update, only its conflicting properties.
    case firstWins
    /// Nothing is merged, and ``WriteBatch/Conflict`` is thrown.
    case refuse
  }

  /// Two batches change one place.
  public struct Conflict: Error, Hashable, CustomStringConvertible {
    /// The nodes, in path order.
    public let paths: [NodePath]
    /// The nodes in words.
    public var description: String {
      "both change \(paths.map(\.description).joined(separator: ", "))"
    }
  }

  /// Adds the changes of another batch after the existing ones.
  ///
  /// Two changes are in conflict if they concern one property, or if one of them concerns the whole
  /// node that the other changes, or if one removes a node and the other changes it or something
  /// below it. Two that only add (increments, elements), or that both remove, never are, nor is one
  /// that names no node: an event, or a model without an id.
  ///
  /// A removal is left out completely: if the losing batch removes `users`, and the other sets
  /// `users/ada`, `users/bob` stays as well.
  ///
  /// - Parameters:
  ///   - other: The batch to merge into this one.
  ///   - strategy: The way to settle conflicts.
  /// - Throws: ``WriteBatch/Conflict``; nothing is merged then.
  public mutating func merge(_ other: WriteBatch, _ strategy: MergeStrategy) throws(Conflict) {
    switch strategy {
    case .laterWins:
      changes.removeAll { own in
        own.kind == .removes && other.changes.contains { own.conflicts(with: $0) }
      }
      changes += other.changes
    case .firstWins:
      let own = changes
      changes += other.changes.compactMap { $0.yielding(to: own) }
    case .refuse:
      let paths = changes.filter { own in other.changes.contains { own.conflicts(with: $0) } }
      if !paths.isEmpty { throw Conflict(paths: Set(paths.compactMap(\.path)).sorted()) }
      changes += other.changes
    }
  }

  // MARK: Paths

  /// Creates a node or replaces its value, as ``Database/Transaction/set(_:to:)`` does.
  public mutating func set(_ path: NodePath, to value: Value) {
    add(.sets, path) { tx in try tx.set(path, to: value) }
  }

  /// Changes some properties of a record at once, as `update(_:_:)` of ``Database/Transaction``
  /// does.
  public mutating func update(_ path: NodePath, _ properties: KeyValuePairs<String, Value?>) {
    changes.append(Change(updating: path, properties.map { ($0.key, $0.value) }))
  }

  /// Changes a value in place, as ``Database/Transaction/change(_:_:_:)`` does.
  public mutating func change(_ path: NodePath, _ property: String?, _ change: ValueChange<Value>) {
    add(change.name.adds ? .adds : .sets, path, property) { try $0.change(path, property, change) }
  }

  /// Adds to a number, as ``Database/Transaction/increment(_:_:by:)-(NodePath,_,_)`` does.
  public mutating func increment(_ path: NodePath, _ property: String? = nil, by step: Value) {
    change(path, property, .increment(by: step))
  }

  /// Inserts an element into a set, as `insert(_:into:_:)` of ``Database/Transaction`` does.
  public mutating func insert(_ element: Value, into path: NodePath, _ property: String? = nil) {
    change(path, property, .include(element))
  }

  /// Removes a node with all below it, if it exists, as ``Database/Transaction/remove(_:)`` does.
  public mutating func remove(_ path: NodePath) {
    add(.removes, path) { tx in _ = try tx.remove(path) }
  }

  /// Logs a fact of the application's own, as ``Database/Transaction/event(_:_:)`` does.
  public mutating func event(_ name: String, _ payload: Value = .null) {
    add(.adds, nil) { tx in try tx.event(name, payload) }
  }

}

extension WriteBatch.Change {
  /// An update, all of which is one operation: no rule is applied to half of it.
  fileprivate init(updating path: NodePath, _ updates: [(String, Value?)]) {
    self.init(path: path, properties: updates.map(\.0), kind: .sets, updates: updates) { tx in
      try tx.update(path, updates)
    }
  }

  /// The part of it that remains beside changes that win; nil if nothing does.
  fileprivate func yielding(to winners: [WriteBatch.Change]) -> WriteBatch.Change? {
    let rivals = winners.filter { conflicts(with: $0) }
    if rivals.isEmpty { return self }
    let left = updates.filter { name, value in
      let alone = WriteBatch.Change(updating: path ?? .root, [(name, value)])
      return !rivals.contains { alone.conflicts(with: $0) }
    }
    return left.isEmpty ? nil : WriteBatch.Change(updating: path ?? .root, left)
  }

  /// True if both change one place, and their order matters.
  fileprivate func conflicts(with other: WriteBatch.Change) -> Bool {
    guard let path, let place = other.path else { return false }
    // Two removals, or two additions, do not interfere.
    if kind == other.kind && kind != .sets { return false }
    if kind == .removes { return place.isWithin(path) }
    if other.kind == .removes { return path.isWithin(place) }
    guard path == place else { return false }
    guard let properties, let others = other.properties else { return true }
    return properties.contains { others.contains($0) }
  }
}

extension Database.Transaction {
  /// Makes the changes of a batch, in order.
  ///
  /// - Parameter batch: The changes.
  /// - Throws: The error of the first change that is refused. None is made then.
  public func apply(_ batch: WriteBatch) throws {
    try attempt { try perform(batch) }
  }

  /// Makes the changes; if one is refused, those before it stay.
  fileprivate func perform(_ batch: WriteBatch) throws {
    for change in batch.changes { try change.perform(self) }
  }
}

extension Database {
  /// Commits the changes of a batch in one transaction.
  ///
  /// - Parameters:
  ///   - batch: The changes.
  ///   - metadata: Texts to store with the transaction.
  ///   - actor: The person or program that makes the change; stored in the metadata as `actor`.
  ///   - expecting: The head that the caller saw.
  /// - Throws: As `write`, and as ``Database/Transaction/apply(_:)``.
  public func write(
    _ batch: WriteBatch, metadata: [String: String] = [:], actor: String? = nil,
    expecting: SequenceNumber? = nil
  ) throws {
    try write(metadata: metadata, actor: actor, expecting: expecting) { try $0.perform(batch) }
  }

  /// Commits the changes of a batch in one transaction, without blocking the caller's thread; it
  /// shares a flush with other async writes.
  ///
  /// - Parameters:
  ///   - batch: The changes.
  ///   - metadata: Texts to store with the transaction.
  ///   - actor: The person or program that makes the change; stored in the metadata as `actor`.
  ///   - expecting: The head that the caller saw.
  /// - Throws: As the async `write`, and as ``Database/Transaction/apply(_:)``.
  public func write(
    _ batch: WriteBatch, metadata: [String: String] = [:], actor: String? = nil,
    expecting: SequenceNumber? = nil
  ) async throws {
    try await write(metadata: metadata, actor: actor, expecting: expecting) {
      try $0.perform(batch)
    }
  }
}

extension WriteBatch.Conflict: LocalizedError {
  /// The ``description``, which `localizedDescription` gives as well. It is in English.
  public var errorDescription: String? { description }
}
