import Synchronization

/// The objects that layers above keep with a thing of a layer below, which knows nothing of them:
/// how models are bound to a catalog, the encoder that a write group uses again. They live as long
/// as that thing, so nobody has to forget them.
///
/// Invariant: an object's type follows from its key, since the layer that chose the key keeps only
/// one type under it.
final class Slots: Sendable {
  private struct Slot: Sendable {
    let key: ObjectIdentifier
    let object: any AnyObject & Sendable
  }

  private struct Kept: Sendable {
    /// The one that was asked for last, which is mostly the one that is asked for next.
    var last: Slot?
    var all: [ObjectIdentifier: Slot] = [:]
  }

  private let kept = Mutex(Kept())

  /// The slots of all catalogs in which nothing is defined, which are the same for whoever asks.
  static let ofNothing = Slots()

  /// The object under a key, which is made where there is none; of two threads that make one, the
  /// first prevails.
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

  /// The object under a key, a type or an object that the kept one holds; nil where there is none.
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
