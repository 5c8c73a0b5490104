// A store with one mistake.

import Synchronization

@testable import Cambium

/// A store in memory that breaks one promise.
struct FaultyStore: ModelStore {
  enum Fault: CaseIterable {
    case createsAgain, givesBackGiven, losesUpdate, keepsHalf, namesOneProblem, forgetsUniqueness
    case acceptsDangling, forgetsDelete, listsBackwards, forgetsLimit, tellsTwice, tellsBackwards
    case losesChange, tellsNothing, tellsOthers, forgetsOneKey

    /// The check that is there to find it.
    var check: String {
      switch self {
      case .createsAgain: "creates what is not there, once"
      case .givesBackGiven: "gives back what it keeps, not what it was given"
      case .losesUpdate: "changes what is there, and keeps it"
      case .keepsHalf: "keeps nothing of a call that throws"
      case .namesOneProblem: "checks every rule, all of an error at once"
      case .forgetsUniqueness: "keeps unique what is to be unique"
      case .acceptsDangling: "refuses references that lead nowhere"
      case .forgetsDelete: "deletes, and does what the delete rules say"
      case .listsBackwards: "lists what meets a condition, in order"
      case .forgetsLimit: "lists no more than is asked for"
      case .tellsTwice, .tellsBackwards, .losesChange, .tellsNothing:
        "tells each change once, in order"
      case .tellsOthers: "tells the changes of one model to who asks for it"
      case .forgetsOneKey: "answers random calls as a database does (seed 1)"
      }
    }
  }

  let fault: Fault
  private let store: MemoryStore
  private let calls = Calls()

  private final class Calls: Sendable { let count = Atomic(0) }

  init(_ fault: Fault) throws {
    self.fault = fault
    store = try MemoryStore()
  }

  func create<M: Cambium.Model>(_ model: M) async throws -> M {
    if fault == .createsAgain { return try await store.save(model) }
    do {
      let kept = try store.create(model)
      guard fault == .givesBackGiven else { return kept }
      var given = model
      given.id = kept.id
      return given
    } catch DatabaseError.notUnique where fault == .forgetsUniqueness {
      return model
    } catch let error as ValidationError where fault == .namesOneProblem {
      throw error.causes.first ?? error
    }
  }

  func update<M: Cambium.Model>(
    _ id: ModelID<M>, _ body: @escaping @Sendable (inout M) throws -> Void
  ) async throws -> M {
    let count = calls.count.add(1, ordering: .relaxed).newValue
    if fault == .losesUpdate, count % 7 == 0, var model = try store.lookup(id) {
      try body(&model)
      return model
    }
    do { return try store.update(id, body) } catch DatabaseError.invalid
      where fault == .acceptsDangling
    {
      return try store.lookup(id) ?? M()
    } catch  where fault == .keepsHalf {
      _ = try? store.update(id) { model in _ = try? body(&model) }
      throw error
    }
  }

  func delete<M: Cambium.Model>(_ id: ModelID<M>) async throws -> Bool {
    if fault == .forgetsDelete { return try store.lookup(id) != nil }
    if fault == .forgetsOneKey, try id.isAssigned && id.path.last == "ü" {
      return try store.lookup(id) != nil
    }
    return try store.delete(id)
  }

  func lookup<M: Cambium.Model>(_ id: ModelID<M>) async throws -> M? { try store.lookup(id) }

  func list<M: Cambium.Model>(_ listing: Listing<M>) async throws -> [M] {
    switch fault {
    case .listsBackwards: try store.list(listing).reversed()
    case .forgetsLimit: try store.list(listing.limit(1 << 30, offset: listing.offset))
    default: try store.list(listing)
    }
  }

  func observe<M: Cambium.Model>(_ type: M.Type, _ id: ModelID<M>?) throws -> ModelChanges<M> {
    var changes = try store.observe(type, id)
    if fault == .tellsOthers { changes = try store.observe(type) }
    let iterator = Walk(changes)
    return ModelChanges { [fault] in
      guard let change = try await iterator.next() else { return nil }
      switch fault {
      case .tellsTwice: return [change, change]
      case .tellsBackwards:
        guard let second = try await iterator.next() else { return [change] }
        return [second, change]
      case .losesChange:
        if case .deleted = change { return [] }
        return [change]
      case .tellsNothing: return []
      default: return [change]
      }
    }
  }

  /// The one walk of an observer.
  private actor Walk<M: Cambium.Model> {
    private let stream: AsyncThrowingStream<ModelChange<M>, any Error>

    init(_ changes: ModelChanges<M>) {
      stream = AsyncThrowingStream { continuation in
        let task = Task {
          do {
            for try await change in changes { continuation.yield(change) }
            continuation.finish()
          } catch { continuation.finish(throwing: error) }
        }
        continuation.onTermination = { _ in task.cancel() }
      }
    }

    func next() async throws -> ModelChange<M>? {
      for try await change in stream { return change }
      return nil
    }
  }
}
