// Collections that follow something, and that others can be derived from.
//
//     LiveResults ──tells──▶ LiveCollection (mapped) ──tells──▶ LiveCollection (filtered)
//
// A step is taken at the root, and is told down the line before the call that took it returns: so a
// derived collection always has the elements that its source's make.

/// A collection that follows something, and that others can be derived from: ``LiveResults``, and
/// each ``LiveCollection``.
///
/// It belongs to one actor, or thread, together with all that is derived from it.
public protocol LiveSource<Element>: AnyObject, RandomAccessCollection where Element: Sendable {
  /// The link from which others are derived.
  var derivations: LiveDerivations<Element> { get }
}

/// A token for collections of your own that are derived from others: the link to a source.
public struct LiveDerivations<Element: Sendable> {
  let base: any LiveBase<Element>

  init(_ base: any LiveBase<Element>) { self.base = base }
}

/// The side of a source that those see which are derived from it.
protocol LiveBase<Element>: AnyObject {
  associatedtype Element: Sendable

  var elements: LiveElements<Element> { get }
  /// The moment that the elements are of.
  var sequence: SequenceNumber { get }
  /// All who are told of differences.
  var observers: DiffObservers<Element> { get }

  /// Brings the elements up to the newest moment, where that can be done at once. A step that an
  /// observer takes while it is told of another is told after that.
  func advance() throws
  /// Waits until there may be something new, and takes it in; false at the end.
  func advance(isolation actor: isolated (any Actor)?) async throws -> Bool
}

/// All who are told of the differences of a live collection, each as long as it is there.
///
/// Invariant: each observer takes all differences after the elements that there were when it was
/// added, in their order, one at a time. A step that an observer takes while it is told of another
/// waits until all have taken that one. Tests take steps while they are told.
final class DiffObservers<Element: Sendable> {
  /// Takes a difference; false once its owner is gone.
  typealias Observer = (LiveDiff<Element>) -> Bool

  /// The observers, with the number of the first difference that each has to take.
  private var observers: [(first: Int, take: Observer)] = []
  private var untold: [LiveDiff<Element>] = []
  /// True if anybody may have to be told. Most results have no observers, and to look into a list
  /// of a generic type costs a look-up of that type.
  private var isObserved = false
  /// The number of differences that all have taken.
  private var toldCount = 0
  private var isTelling = false

  func add(_ observer: @escaping Observer) {
    isObserved = true
    observers.append((toldCount + untold.count, observer))
  }

  /// Notes a difference once the elements are those after it. Whoever is added from then on does
  /// not take it.
  func note(_ diff: LiveDiff<Element>) {
    if isObserved { untold.append(diff) }
  }

  /// Tells of what was noted; where that is under way, it goes on with it.
  func tell() {
    if isTelling || !isObserved { return }
    isTelling = true
    defer { (isTelling, isObserved) = (false, !observers.isEmpty) }
    while let diff = untold.first {
      let told = observers
      observers = []
      observers = told.filter { toldCount < $0.first || $0.take(diff) } + observers
      untold.removeFirst()
      toldCount += 1
    }
  }

  /// Collects differences from now on.
  func inbox() -> DiffInbox<Element> {
    let inbox = DiffInbox<Element>()
    add { [weak inbox] diff in inbox?.put(diff) ?? false }
    return inbox
  }
}

/// The differences that somebody has not taken, in one.
final class DiffInbox<Element: Sendable> {
  private var diff: LiveDiff<Element>?

  var isEmpty: Bool { diff?.isEmpty ?? true }

  func put(_ next: LiveDiff<Element>) -> Bool {
    diff = diff.map { $0.composed(with: next) } ?? next
    return true
  }

  func take() -> LiveDiff<Element>? {
    defer { diff = nil }
    return diff
  }
}

extension LiveResults: LiveSource, LiveBase {
  /// The link from which others are derived.
  public var derivations: LiveDerivations<Element> { LiveDerivations(self) }

  func advance() throws { try refresh() }

  func advance(isolation actor: isolated (any Actor)?) async throws -> Bool {
    await run.wait(isolation: actor)
    switch try await run.prepare(isolation: actor) {
    case .over: return false
    case .taken: return true
    case .step(let step):
      try changing { run.take(step) }
      return true
    }
  }
}
