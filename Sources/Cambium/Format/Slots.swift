import Synchronization

/// The objects that higher layers attach to an object of a lower layer, which knows nothing of
/// them, as the binding of models to a catalog. They live as long as that object, so no code has to
/// remove them.
///
/// Invariant: an object's type follows from its key, since the layer that chose the key stores only
/// one type under it.
final class Slots: Sendable {
  private struct Slot: Sendable {
    let key: ObjectIdentifier
    let object: any AnyObject & Sendable
  }

  private struct Kept: Sendable {
    /// The slot that was used last, which is usually the one that is used next.
    var last: Slot?
    var all: [ObjectIdentifier: Slot] = [:]
  }

  private let kept = Mutex(Kept())

  /// The slots shared by all catalogs in which nothing is defined.
  static let ofNothing = Slots()

  /// The object under a key, created if there is none; if two threads create one, the first
  /// prevails.
  func object<T: AnyObject & Sendable>(
    _ key: ObjectIdentifier, orMake make: () throws -> T
  ) rethrows -> T {
    if let known: T = object(key) { return known }
    let made = try make()
    let slot = Slot(key: key, object: made)
    let kept = kept.withLock { kept in
      kept.last = kept.all[key] ?? slot
      kept.all[key] = kept.last
      return kept.last
    }
    return kept?.object as? T ?? made
  }

  /// The object under a key, which is a type or an object that the stored one retains; nil if there
  /// is none.
  @inline(__always)
  func object<T: AnyObject & Sendable>(_ key: ObjectIdentifier) -> T? {
    let slot = kept.withLock { kept in
      if kept.last?.key != key, let slot = kept.all[key] { kept.last = slot }
      return kept.last
    }
    guard let slot, slot.key == key else { return nil }
    return slot.object as? T
  }
}
