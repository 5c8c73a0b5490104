import Synchronization

/// The handles on objects of one open directory: one for each object that anybody holds.
///
/// It holds them weakly. A handle takes itself out when it goes.
final class LiveRegistry: Sendable {
  /// An object, as a model of one type.
  struct Key: Hashable {
    private let type: ObjectIdentifier
    private let path: NodePath?

    init<M: Model>(_ id: ModelID<M>) {
      type = ObjectIdentifier(M.self)
      path = try? id.path
    }
  }

  private struct Handle: Sendable { weak var object: (any AnyObject & Sendable)? }

  private let handles = Mutex<[Key: Handle]>([:])

  static func of(_ database: Database) -> LiveRegistry {
    database.directory.feed.observers.slots.object(ObjectIdentifier(LiveRegistry.self)) {
      LiveRegistry()
    }
  }

  /// The handle of an object; if there is none, the one that is given.
  func handle<M: Model>(_ made: Live<M>) -> Live<M> {
    let key = Key(made.id)
    return handles.withLock { handles in
      if let known = handles[key]?.object as? Live<M> { return known }
      handles[key] = Handle(object: made)
      return made
    }
  }

  func handle<M: Model>(of id: ModelID<M>) -> Live<M>? {
    handles.withLock { $0[Key(id)]?.object } as? Live<M>
  }

  /// Forgets a handle that has gone, unless another has taken its place.
  func remove(_ key: Key) {
    // The other one is released after the lock: it may be the last reference to it.
    let other = handles.withLock { handles in
      let other = handles[key]?.object
      if other == nil { handles[key] = nil }
      return other
    }
    withExtendedLifetime(other) {}
  }

  /// The number of handles that are held.
  var count: Int { handles.withLock { $0.count } }
}

extension Database {
  /// The handle on an object, which shows what is stored now; see ``Live``.
  ///
  /// - Parameters:
  ///   - type: The type of the object.
  ///   - id: The object, which need not be there yet.
  /// - Returns: The one handle that there is for it as long as somebody holds it.
  /// - Throws: As `find(_:)`; ``DatabaseError/misuse(reason:)`` for an id that is not assigned.
  /// - Complexity: one read of the object, about 2 µs.
  public func live<M: Model>(_ type: M.Type, _ id: ModelID<M>) throws -> Live<M> {
    _ = try id.path
    let registry = LiveRegistry.of(self)
    let live = registry.handle(of: id) ?? registry.handle(Live(id, self))
    try live.refresh()
    return live
  }

  /// The handle on an object; see ``live(_:_:)``.
  ///
  /// - Throws: As ``live(_:_:)``.
  public func live<M: Model>(_ id: ModelID<M>) throws -> Live<M> { try live(M.self, id) }
}
