// Models that refer to each other, saved by one call. A graph is a set of models, in no order: the
// order follows from their references.
//
//     add ──▶ ids are given ──▶ sorted by references ──▶ inserted, updated or left, one by one
//             (UUIDs by add,     (what is referred to     (a reference to one that is still to come
//              integers at save)  comes first)             counts as leading somewhere)

/// Models that refer to each other, to be saved together.
///
///     var graph = Graph()
///     let ada = graph.add(Author(name: "Ada"))
///     let notes = graph.add(Book(title: "Notes", author: ada))    // refers to one not stored yet
///     graph[ada]?.favourite = notes                                // and that to this one
///     let saved = try database.save(graph)
///     let author = saved[ada]                                     // the id that it has
///
/// A model without an id gets one by `add`: a UUID is its own from then on. An integer is
/// provisional, to be used in references of the graph's models alone; the real one, which is behind
/// the greatest there ever was, is given when the graph is saved.
///
/// Threads: it is a value.
public struct Graph: Sendable {
  fileprivate var members: [any GraphMember] = []
  private var places: [GraphKey: Int] = [:]
  /// The stand-in for the next integer id. No model has such an id, unless the app gives it one.
  private var provisional = Int64.min + 1

  /// Makes an empty graph.
  public init() {}

  /// Makes a graph of models that have their ids.
  ///
  /// - Parameter models: The models, of any types.
  public init<each M: Model>(_ models: repeat each M) {
    for model in repeat each models { add(model) }
  }

  /// Adds a model; one that has the id of another of its kind replaces that.
  ///
  /// - Parameter model: The model, whether it is stored already or not.
  /// - Returns: Its id: the one that it has, or else one by which others of the graph can refer to
  ///   it. A text id is not made: it stays unassigned, and saving refuses the model.
  /// - Complexity: O(1).
  @discardableResult
  public mutating func add<M: Model>(_ model: M) -> ModelID<M> {
    var model = model
    var isProvisional = false
    if !model.id.isAssigned {
      if let key = M.Key._generated() {
        model.id = ModelID(key)
      } else if let key = M.Key(_treeKey: .integer(provisional)), M.Key._keyType == .integer {
        (model.id, isProvisional) = (ModelID(key), true)
        provisional += 1
      }
    }
    let member = TypedMember(model: model, isProvisional: isProvisional)
    guard model.id.isAssigned else {
      members.append(member)
      return model.id
    }
    if let place = places.updateValue(members.count, forKey: GraphKey(model.id)) {
      places[GraphKey(model.id)] = place
      members[place] = member
    } else {
      members.append(member)
    }
    return model.id
  }

  /// Adds several models.
  ///
  /// - Returns: Their ids, in order.
  @discardableResult
  public mutating func add<M: Model>(contentsOf models: some Sequence<M>) -> [ModelID<M>] {
    models.map { add($0) }
  }

  /// The number of models.
  public var count: Int { members.count }

  /// A model of the graph by its id; nil where there is none, and then it cannot be set. The id
  /// must stay.
  public subscript<M: Model>(id: ModelID<M>) -> M? {
    get { places[GraphKey(id)].flatMap { (members[$0] as? TypedMember<M>)?.model } }
    set {
      guard let place = places[GraphKey(id)], var model = newValue,
        var member = members[place] as? TypedMember<M>
      else { return }
      model.id = id
      member.model = model
      members[place] = member
    }
  }
}

/// The outcome of saving a ``Graph``.
public struct SavedGraph: Sendable {
  /// The models that were not there, in the order in which they were written.
  public fileprivate(set) var inserted: [NodePath] = []
  /// The models that differed.
  public fileprivate(set) var updated: [NodePath] = []
  /// The models that were the same; nothing is logged of them.
  public fileprivate(set) var unchanged: [NodePath] = []
  fileprivate var ids = ProvisionalIDs()

  /// The id of a model that had the other one in the graph: another one where that was provisional.
  public subscript<M: Model>(id: ModelID<M>) -> ModelID<M> { ids.id(id) }
}

extension ProvisionalIDs {
  fileprivate func id<M: Model>(_ id: ModelID<M>) -> ModelID<M> {
    guard M.Key._keyType == .integer, case .integer(let number)? = try? id.key._treeKey(),
      let found = self[number], let key = M.Key(_treeKey: .integer(found))
    else { return id }
    return ModelID(key)
  }
}

/// A model in a graph, by its type and key.
private struct GraphKey: Hashable, Sendable {
  let type: ObjectIdentifier
  let key: Value

  init<M: Model>(_ id: ModelID<M>) {
    type = ObjectIdentifier(M.self)
    key = id.storedValue
  }
}

/// A model of a graph, whatever its type.
private protocol GraphMember: Sendable {
  /// Where it is stored; nil where it has no id.
  var path: NodePath? { get }
  /// The greatest integer that a model with its own id has in the collection, by the collection.
  func note(_ greatest: inout [NodePath: Int64]) throws
  /// Gives it its id, if that is provisional.
  func identify(
    _ ids: inout ProvisionalIDs, _ greatest: inout [NodePath: Int64],
    _ transaction: borrowing Database.Transaction
  ) throws
  /// Puts the ids into its own and its references.
  mutating func take(_ ids: ProvisionalIDs) throws
  func targets() throws -> [NodePath]
  func save(_ transaction: borrowing Database.Transaction) throws -> Upsert
}

private struct TypedMember<M: Model>: GraphMember {
  var model: M
  let isProvisional: Bool

  var path: NodePath? { try? M.schema.core.path(of: model.id) }

  func note(_ greatest: inout [NodePath: Int64]) throws {
    guard !isProvisional, model.id.isAssigned, M.Key._keyType == .integer,
      case .integer(let key) = try model.id.key._treeKey()
    else { return }
    let path = M.schema.core.path
    greatest[path] = max(greatest[path] ?? key, key)
  }

  func identify(
    _ ids: inout ProvisionalIDs, _ greatest: inout [NodePath: Int64],
    _ transaction: borrowing Database.Transaction
  ) throws {
    let core = M.schema.core
    try core.check()
    guard isProvisional, case .integer(let provisional) = try model.id.key._treeKey() else {
      return
    }
    let given = greatest[core.path] ?? .min
    let last = try max(given, transaction.running.greatestKey(core.path) ?? 0)
    let id = try ModelID<M>.fresh(after: { last })
    guard case .integer(let key) = try id.key._treeKey() else { return }
    greatest[core.path] = key
    ids[provisional] = key
  }

  mutating func take(_ ids: ProvisionalIDs) throws {
    model.id = ids.id(model.id)
    do { try M.schema.references.replace(&model, ids) } catch let error as ValueMismatch {
      throw DatabaseError.badValue(try model.id.path, reason: error.reason)
    }
  }

  func targets() throws -> [NodePath] { try M.schema.references.targets(model) }

  func save(_ transaction: borrowing Database.Transaction) throws -> Upsert {
    do { return try transaction.upsert(model) } catch DatabaseError.invalid(let violations) {
      // A reference that leads nowhere is reported with the collection.
      throw DatabaseError.invalid(
        try violations.map { violation in
          guard violation.path == M.schema.core.path else { return violation }
          return Violation(
            try model.id.path, violation.property, element: violation.element, violation.reason)
        })
    }
  }
}

extension Database.Transaction {
  /// Saves models that refer to each other: each is inserted, changed, or left where it is the
  /// same; only what differs is logged.
  ///
  /// A model is written after those of the graph that it refers to. Where they refer to each other
  /// in a circle, a reference to one that is still to come counts as one that leads somewhere, also
  /// where the schema says that it must. (Under ``DeleteRule/deny`` such a circle can neither be
  /// deleted nor undone before it is opened.)
  ///
  /// - Parameter graph: The models.
  /// - Returns: The outcome for each, and the ids of those that had provisional ones.
  /// - Throws: ``ValidationError`` with the messages of all models, each with its path;
  ///   ``DatabaseError/badValue(_:reason:)`` for a provisional id in a place that is not declared
  ///   as a reference; otherwise as `insert(_:)` and `update(_:_:)`, with the path of the model.
  ///   Nothing of the graph is logged then, and the transaction can go on.
  /// - Complexity: as `upsert(_:)` for each model, and sorting, about 1 µs each.
  @discardableResult
  public func save(_ graph: Graph) throws -> SavedGraph {
    try attempt {
      var saved = SavedGraph()
      let members = try identified(graph, &saved.ids)
      let paths = Set(members.compactMap(\.path))
      let expectedBefore = running.draft.expected
      running.draft.expected.formUnion(paths)
      var errors: [ValidationError] = []
      for member in try members.inOrderOfReferences() {
        do {
          let outcome = try member.save(self)
          guard let path = member.path else { continue }
          switch outcome {
          case .inserted: saved.inserted.append(path)
          case .updated: saved.updated.append(path)
          case .unchanged: saved.unchanged.append(path)
          }
        } catch let error as ValidationError { errors.append(error) }
      }
      if errors.count == 1 { throw errors[0] }
      if !errors.isEmpty { throw ValidationError(causes: errors) }
      running.draft.expected = expectedBefore
      for path in paths where try !running.exists(path) {
        throw DatabaseError.notFound(path, reason: "a hook has removed it while it was saved")
      }
      return saved
    }
  }

  /// The graph's models with their ids.
  private func identified(_ graph: Graph, _ ids: inout ProvisionalIDs) throws -> [any GraphMember] {
    var members = graph.members
    var greatest: [NodePath: Int64] = [:]
    for member in members { try member.note(&greatest) }
    for member in members { try member.identify(&ids, &greatest, self) }
    if ids.ids.isEmpty { return members }
    for index in members.indices { try members[index].take(ids) }
    return members
  }
}

extension [any GraphMember] {
  /// The members, each behind those that it refers to, as far as that is possible, and otherwise in
  /// the order in which they were added. (Depth first, without recursion.)
  fileprivate func inOrderOfReferences() throws -> [any GraphMember] {
    var places: [NodePath: Int] = [:]
    for (place, member) in enumerated() { if let path = member.path { places[path] = place } }
    var isSeen = [Bool](repeating: false, count: count)
    var sorted: [any GraphMember] = []
    var open: [(place: Int, rest: [Int])] = []
    for start in indices where !isSeen[start] {
      var next: Int? = start
      while true {
        if let place = next {
          isSeen[place] = true
          let targets = try self[place].targets().compactMap { places[$0] }
          open.append((place, targets.reversed()))
        }
        guard let top = open.indices.last else { break }
        next = nil
        while let target = open[top].rest.popLast() {
          if isSeen[target] { continue }
          next = target
          break
        }
        if next == nil { sorted.append(self[open.removeLast().place]) }
      }
    }
    return sorted
  }
}

extension Database {
  /// Saves models that refer to each other in a transaction of its own; see `save(_:)` of
  /// ``Database/Transaction``.
  ///
  /// - Parameters:
  ///   - graph: The models.
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  /// - Returns: The outcome for each, and the ids of those that had provisional ones.
  /// - Throws: As in a transaction, and as `write`. Nothing is stored then.
  /// - Complexity: as the change in a transaction, and one durable flush (0.1 to 10 ms).
  @discardableResult
  public func save(
    _ graph: Graph, metadata: [String: String] = [:], actor: String? = nil
  ) throws -> SavedGraph {
    try write(metadata: metadata, actor: actor) { try $0.save(graph) }
  }

  /// Saves models that refer to each other without blocking the caller's thread.
  ///
  /// - Parameters:
  ///   - graph: The models.
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  /// - Returns: The outcome for each, and the ids of those that had provisional ones.
  /// - Throws: As the synchronous form, and as the async `write`.
  /// - Complexity: as the synchronous form, with the flush shared by up to 1,024 writes.
  @discardableResult
  public func save(
    _ graph: Graph, metadata: [String: String] = [:], actor: String? = nil
  ) async throws -> SavedGraph {
    try await write(metadata: metadata, actor: actor) { try $0.save(graph) }
  }
}
