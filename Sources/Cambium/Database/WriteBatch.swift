/// Changes that are put together before there is a transaction, in one place or in several, and
/// then written together.
///
///     var batch = WriteBatch()
///     batch.update("users/ada", ["city": "London"])
///     try batch.set(flight, \.departureDelay, to: 12)
///     try batch.merge(other, .laterWins)
///     try database.write(batch)
///
/// It is a value: it can be copied, kept, sent to another task, and applied more than once. Nothing
/// is checked before ``Transaction/apply(_:)``.
///
/// Invariant: `changes` are made in their order, so the later of two at one place is what stays.
public struct WriteBatch: Sendable {
  /// One change.
  struct Change: Sendable {
    /// What it does to its place.
    enum Kind { case sets, adds, removes }

    /// The node; nil for one that touches none, or one that is not there yet.
    var path: Path?
    /// The property; nil for the whole node.
    var property: String?
    var kind: Kind
    var perform: @Sendable (borrowing Transaction) throws -> Void
  }

  private(set) var changes: [Change] = []

  /// Makes an empty batch.
  public init() {}

  /// How many changes there are.
  public var count: Int { changes.count }

  /// Whether there are none.
  public var isEmpty: Bool { changes.isEmpty }

  mutating func add(
    _ kind: Change.Kind, _ path: Path?, _ property: String? = nil,
    _ perform: @escaping @Sendable (borrowing Transaction) throws -> Void
  ) {
    changes.append(Change(path: path, property: property, kind: kind, perform: perform))
  }

  // MARK: Putting batches together

  /// What happens where two batches change one place.
  public enum MergeStrategy: Hashable, Sendable {
    /// What the batch that is merged in says stays.
    case laterWins
    /// What the batch says that was there stays.
    case firstWins
    /// Nothing is merged, and ``WriteBatch/Conflict`` is thrown.
    case refuse
  }

  /// Two batches change one place.
  public struct Conflict: Error, Hashable, CustomStringConvertible {
    /// The nodes, in path order.
    public let paths: [Path]
    /// The nodes in words.
    public var description: String {
      "both change \(paths.map(\.description).joined(separator: ", "))"
    }
  }

  /// Adds the changes of another batch.
  ///
  /// Two changes are in conflict where they are about one property, or one of them about the whole
  /// node, or where one removes what the other changes. Two that only add (increments, elements)
  /// never are. The winner's changes are made after the loser's, whose removals of what the winner
  /// changes are left out: so of what the loser says all stays that the winner says nothing about.
  ///
  /// - Parameters:
  ///   - other: The other batch.
  ///   - strategy: What happens in a conflict.
  /// - Throws: ``WriteBatch/Conflict``; nothing is merged then.
  public mutating func merge(_ other: WriteBatch, _ strategy: MergeStrategy) throws(Conflict) {
    switch strategy {
    case .laterWins: changes = WriteBatch.joined(changes, winning: other.changes)
    case .firstWins: changes = WriteBatch.joined(other.changes, winning: changes)
    case .refuse:
      let paths = changes.filter { own in other.changes.contains { own.conflicts(with: $0) } }
      if !paths.isEmpty { throw Conflict(paths: Set(paths.compactMap(\.path)).sorted()) }
      changes += other.changes
    }
  }

  private static func joined(_ losing: [Change], winning: [Change]) -> [Change] {
    losing.filter { loser in
      loser.kind != .removes || !winning.contains { loser.conflicts(with: $0) }
    } + winning
  }

  // MARK: Paths

  /// Creates a node or replaces its value, as ``Transaction/set(_:to:)`` does.
  public mutating func set(_ path: Path, to value: Value) {
    add(.sets, path) { tx in try tx.set(path, to: value) }
  }

  /// Changes some properties of a record, as ``Transaction/update(_:_:)`` does.
  public mutating func update(_ path: Path, _ properties: KeyValuePairs<String, Value?>) {
    for (name, value) in properties {
      add(.sets, path, name) { tx in try tx.update(path, [(name, value)]) }
    }
  }

  /// Adds to a number, as ``Transaction/increment(_:_:by:)-(Path,_,_)`` does.
  public mutating func increment(_ path: Path, _ property: String? = nil, by step: Value) {
    add(.adds, path, property) { tx in try tx.increment(path, property, by: step) }
  }

  /// Puts an element into a set, as `insert(_:into:_:)` of ``Transaction`` does.
  public mutating func insert(_ element: Value, into path: Path, _ property: String? = nil) {
    add(.adds, path, property) { tx in try tx.insert(element, into: path, property) }
  }

  /// Removes a node with all below it, if it is there, as ``Transaction/remove(_:)`` does.
  public mutating func remove(_ path: Path) {
    add(.removes, path) { tx in _ = try tx.remove(path) }
  }

  /// Logs a fact of the application's own, as ``Transaction/event(_:_:)`` does.
  public mutating func event(_ name: String, _ payload: Value = .null) {
    add(.adds, nil) { tx in try tx.event(name, payload) }
  }

  // MARK: Models

  /// Inserts a model, or changes the one that has its id, as `upsert(_:)` of ``Transaction`` does.
  /// One without an id gets one whenever the batch is applied.
  ///
  /// - Throws: ``DatabaseError/badKey(_:reason:)`` for an id that no key can be.
  public mutating func upsert<M: Model>(_ model: M) throws {
    add(.sets, model.id.isAssigned ? try model.id.path : nil) { tx in _ = try tx.upsert(model) }
  }

  /// Sets a property of a model, as `set(_:_:to:)` of ``Transaction`` does.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` for what is no stored `var`.
  public mutating func set<M: Model, V: PropertyValue>(
    _ id: ModelID<M>, _ property: KeyPath<M, V> & Sendable, to value: V
  ) throws {
    add(.sets, try id.path, try WriteBatch.name(of: property)) { tx in
      try tx.set(id, property, to: value)
    }
  }

  /// Adds to a number of a model, as `increment(_:_:by:)` of ``Transaction`` does.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` for what is no stored `var`.
  public mutating func increment<M: Model, V: PropertyValue>(
    _ id: ModelID<M>, _ property: KeyPath<M, V> & Sendable, by step: V.Base
  ) throws where V.Base: Numeric {
    add(.adds, try id.path, try WriteBatch.name(of: property)) { tx in
      try tx.increment(id, property, by: step)
    }
  }

  /// Puts an element into a set of a model, as `insert(_:into:_:)` of ``Transaction`` does.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` for what is no stored `var`.
  public mutating func insert<M: Model, V: PropertyValue, Element: PropertyValue>(
    _ element: Element, into id: ModelID<M>, _ property: KeyPath<M, V> & Sendable
  ) throws where V.Base == Set<Element> {
    add(.adds, try id.path, try WriteBatch.name(of: property)) { tx in
      try tx.insert(element, into: id, property)
    }
  }

  /// Deletes a model, if there is one, as `delete(_:)` of ``Transaction`` does.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` for an id that is not assigned.
  public mutating func delete<M: Model>(_ id: ModelID<M>) throws {
    add(.removes, try id.path) { tx in _ = try tx.delete(id) }
  }

  /// The property as it is stored; nil for a nested value, of which the parts are.
  private static func name<M: Model, V>(of property: KeyPath<M, V>) throws -> String? {
    let core = M.schema.core
    try core.check()
    guard let offset = MemoryLayout<M>.offset(of: property) else {
      throw DatabaseError.misuse(reason: "\(property) is no stored `var`; only such can be set")
    }
    if V.self is any Nested.Type { return nil }
    return core.index(at: offset).map { core.properties[$0].name }
  }
}

extension WriteBatch.Change {
  /// Whether they change one place, and their order counts.
  fileprivate func conflicts(with other: WriteBatch.Change) -> Bool {
    guard let path, let place = other.path else { return false }
    if kind == .removes, place.isWithin(path) { return true }
    if other.kind == .removes, path.isWithin(place) { return true }
    if path != place || (kind == .adds && other.kind == .adds) { return false }
    return property == nil || other.property == nil || property == other.property
  }
}

extension Transaction {
  /// Makes the changes of a batch, in their order.
  ///
  /// - Parameter batch: The changes.
  /// - Throws: What the first that is refused throws. None is made then.
  public func apply(_ batch: WriteBatch) throws {
    try attempt { for change in batch.changes { try change.perform(self) } }
  }
}

extension Database {
  /// Commits the changes of a batch in one transaction.
  ///
  /// - Parameters:
  ///   - batch: The changes.
  ///   - metadata: Stored with the transaction.
  ///   - expecting: The head that the caller saw.
  /// - Throws: As `write`, and as ``Transaction/apply(_:)``.
  public func write(
    _ batch: WriteBatch, metadata: [String: String] = [:], expecting: SequenceNumber? = nil
  ) throws {
    try write(metadata: metadata, expecting: expecting) { tx in
      for change in batch.changes { try change.perform(tx) }
    }
  }
}
