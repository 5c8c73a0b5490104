// Live results of light keys, whose models are read on demand.

/// A model of a live result by its id alone, unread.
///
/// Two of the same id are not equal: the model may have changed between them.
public struct LightKey<M: Model>: Identifiable, Sendable {
  /// The model's id.
  public let id: ModelID<M>
}

// By its parts alone a key would count as unchanged whenever its query is run again.
extension LightKey: CustomReflectable {
  /// The id, for debuggers.
  public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// The ids of the models that answer a query, in its order.
///
///     for try await diff in query.keys().changes() { … }
///
/// A change of a model's own properties is an update of its key, which says that what was read of
/// the model is out of date.
public struct ModelKeys<M: Model>: Results {
  /// A result: an id.
  public typealias Element = LightKey<M>

  /// The question, and where it is asked.
  public var request: QueryRequest

  /// Makes the ids of a run.
  public func read(_ run: QueryRun, _ body: (LightKey<M>) throws -> Bool) throws {
    try run.forEach { key, _ in
      guard let own = M.Key(_treeKey: try Key(key)) else {
        let mismatch = ValueMismatch(reason: "the key is of another kind")
        throw M.schema.core.located(mismatch, key, -1)
      }
      return try body(LightKey(id: ModelID(own)))
    }
  }
}

extension ModelQuery {
  /// The same question, answered by ids: nothing is decoded, unless a filter in Swift must see it.
  public func keys() -> ModelKeys<M> { ModelKeys(request: request) }

  /// A live collection that knows the ids of all results, and reads those that are looked at.
  ///
  ///     let flights = try database.query(Flight.self).order(by: \.scheduled).lazyLive()
  ///     for position in visible { show(try flights.model(at: position)) }
  ///
  /// - Parameter count: The largest number of models that are kept.
  /// - Returns: The collection.
  /// - Throws: As ``Results/live()``.
  /// - Complexity: As ``Results/live()``, without decoding.
  public func lazyLive(keeping count: Int = 256) throws -> LazyModels<M> {
    let keys = try keys().live()
    return LazyModels(LiveCollection(same: keys), in: keys.run.database, keeping: count)
  }
}

/// A live collection of models that has light keys, and reads a model when it is looked at.
///
/// It keeps a bounded number of models, those that were looked at last, and forgets one as soon as
/// a difference says that it changed. It belongs to the actor, or the thread, that made it.
public final class LazyModels<M: Model>: LiveSource {
  /// A position.
  public typealias Index = Int
  /// An id.
  public typealias Element = LightKey<M>

  private let keys: LiveCollection<LightKey<M>>
  private let database: Database
  private let cache: ModelCache<M>

  init(_ keys: LiveCollection<LightKey<M>>, in database: Database, keeping count: Int) {
    (self.keys, self.database, cache) = (keys, database, ModelCache(countMax: count))
    keys.observers.add { [weak cache] diff in
      guard let cache else { return false }
      for update in diff.updates { cache.remove(update.new.id) }
      for deletion in diff.deletions { cache.remove(deletion.element.id) }
      return true
    }
  }

  /// The link from which others are derived.
  public var derivations: LiveDerivations<Element> { keys.derivations }

  /// The moment that the keys are of.
  public var sequence: SequenceNumber { keys.sequence }
  /// The keys: a value, which stays as it is.
  public var elements: LiveElements<Element> { keys.elements }
  /// The first position.
  public var startIndex: Int { 0 }
  /// The number of models, which is the position behind the last.
  public var endIndex: Int { keys.endIndex }
  /// The key of the model at a position.
  public subscript(position: Int) -> LightKey<M> { keys[position] }

  /// The number of models that are kept at the moment.
  public var keptCount: Int { cache.count }

  /// The model at a position, read at the newest moment unless it is kept.
  ///
  /// - Parameter position: The position, which must be less than ``endIndex``.
  /// - Returns: The model; nil if it has been deleted since, which the next difference tells.
  /// - Throws: As `find(_:)`.
  /// - Complexity: O(log *n*), and one read of the model unless it is kept.
  public func model(at position: Int) throws -> M? {
    let id = keys[position].id
    if let known = cache[id] { return known }
    guard let model = try database.find(id) else { return nil }
    cache[id] = model
    return model
  }

  /// Brings the keys up to the newest moment at once.
  ///
  /// - Returns: The difference.
  /// - Throws: As ``LiveCollection/refresh()``.
  @discardableResult
  public func refresh() throws -> LiveDiff<Element> { try keys.refresh() }

  /// Follows what it shows until the task is cancelled or the database closed.
  ///
  /// - Parameters:
  ///   - actor: The actor to which it belongs; by default the caller's.
  ///   - body: Takes each difference of the keys, after the collection has changed.
  /// - Throws: Any error that `body` throws; otherwise as ``refresh()``.
  public func follow(
    isolation actor: isolated (any Actor)? = #isolation,
    _ body: (LiveDiff<Element>) throws -> Void = { _ in }
  ) async throws { try await keys.follow(isolation: actor, body) }
}

/// The models that were looked at last, in two halves: once the young one is full it becomes the
/// old one, and what is looked at in the old one is young again.
private final class ModelCache<M: Model> {
  private let halfMax: Int
  private var young: [ModelID<M>: M] = [:]
  private var old: [ModelID<M>: M] = [:]

  init(countMax: Int) { halfMax = max(countMax / 2, 1) }

  var count: Int { young.count + old.count }

  subscript(id: ModelID<M>) -> M? {
    get {
      if let model = young[id] { return model }
      guard let model = old.removeValue(forKey: id) else { return nil }
      put(model, id)
      return model
    }
    set { if let newValue { put(newValue, id) } else { remove(id) } }
  }

  func remove(_ id: ModelID<M>) {
    young[id] = nil
    old[id] = nil
  }

  private func put(_ model: M, _ id: ModelID<M>) {
    if young.count >= halfMax { (young, old) = ([:], young) }
    young[id] = model
  }
}
