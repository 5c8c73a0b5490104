// Follows an outer result and an inner one for each of its elements, as one.
//
//     outer ──▶ pump ─────┐
//     inner of 1 ▶ pump ──┼─▶ Arrivals ─▶ next() ─▶ InnerResults ─▶ LiveDiff
//     inner of 2 ▶ pump ──┘
//
// A pump holds one difference until it is taken, and asks for the next one then, so that a slow
// observer has live queries wait with all that comes meanwhile. A pump is cancelled as soon as its
// outer element leaves, or the iterator goes.

/// The elements of an inner result for each element of an outer one, and their differences.
///
/// The outer and the inner results step each for itself: after a transaction that concerns several,
/// they may come in several differences. ``LiveDiff/sequence`` is the newest moment of any of them.
/// Elements of an outer element that comes are told along with it, once its inner result is there.
///
/// - Complexity: A task for the outer result and for each inner one. A difference costs O(log *n*)
///   for each of its entries, and as much for each inner element that an outer one takes along.
public struct FlattenedChanges<
  Base: AsyncSequence & Sendable, Source: Sendable, Key: Hashable & Sendable,
  Inner: AsyncSequence & Sendable, Child: Sendable
>: AsyncSequence, Sendable
where Base.Element == LiveDiff<Source>, Inner.Element == LiveDiff<Child> {
  /// A difference.
  public typealias Element = LiveDiff<Child>

  let base: Base
  let key: @Sendable (Source) -> Key
  let inner: @Sendable (Source) -> Inner

  init(
    _ base: Base, key: @escaping @Sendable (Source) -> Key,
    inner: @escaping @Sendable (Source) -> Inner
  ) {
    (self.base, self.key, self.inner) = (base, key, inner)
  }

  /// Starts observing; several iterators of one value go their own ways.
  public func makeAsyncIterator() -> Iterator { Iterator(changes: self) }

  /// An observer.
  public struct Iterator: AsyncIteratorProtocol {
    private let changes: FlattenedChanges
    private var run: FlattenedRun<Base, Source, Key, Inner, Child>?

    fileprivate init(changes: FlattenedChanges) { self.changes = changes }

    /// The next difference; nil when the task is cancelled or the outer sequence has ended.
    ///
    /// - Returns: The difference.
    /// - Throws: The errors of the outer and the inner sequences, after which this one has ended.
    public mutating func next() async throws -> LiveDiff<Child>? {
      let run = run ?? FlattenedRun(changes)
      self.run = run
      return try await run.next()
    }
  }
}

/// One iteration.
final class FlattenedRun<
  Base: AsyncSequence & Sendable, Source: Sendable, Key: Hashable & Sendable,
  Inner: AsyncSequence & Sendable, Child: Sendable
> where Base.Element == LiveDiff<Source>, Inner.Element == LiveDiff<Child> {
  typealias Arrival = FlattenedArrival<Source, Child>
  typealias Monitor = AsyncMonitor<FlattenedArrivals<Source, Child>>
  /// Runs one sequence, until it is released.
  typealias Pump = SequencePump<Bool, Never>

  private let changes: FlattenedChanges<Base, Source, Key, Inner, Child>
  private let monitor = Monitor(FlattenedArrivals())
  private var results = InnerResults<Source, Child, Key>()
  private var pumps: [Int: Pump] = [:]
  private var outer: Pump?
  /// The inner results whose first differences have not come.
  private var awaited: Set<Int> = []
  private var pending: LiveDiff<Child>?
  private var isFirst = true

  init(_ changes: FlattenedChanges<Base, Source, Key, Inner, Child>) {
    self.changes = changes
    outer = Self.pump(changes.base, monitor, of: nil) { .outer($0) }
  }

  func next() async throws -> LiveDiff<Child>? {
    while let arrivals = try await take() {
      for arrival in arrivals { add(apply(arrival)) }
      guard awaited.isEmpty, let diff = pending else { continue }
      pending = nil
      defer { isFirst = false }
      if isFirst || !diff.isEmpty { return diff }
    }
    (outer, pumps) = (nil, [:])
    return nil
  }

  /// Takes what has come; nil at the end.
  private func take() async throws -> [Arrival]? {
    try await monitor.wait { $0.take() }??.get()
  }

  private func add(_ diff: LiveDiff<Child>?) {
    guard let diff else { return }
    pending = pending.map { $0.composed(with: diff) } ?? diff
  }

  private func apply(_ arrival: Arrival) -> LiveDiff<Child>? {
    switch arrival {
    case .inner(let number, let diff):
      awaited.remove(number)
      return results.apply(diff, of: number)
    case .outer(let diff):
      let step = results.apply(diff, by: changes.key)
      for number in step.ended { end(number) }
      for (number, element) in step.begun {
        awaited.insert(number)
        pumps[number] = Self.pump(changes.inner(element), monitor, of: number) {
          .inner(number, $0)
        }
      }
      return step.diff
    }
  }

  private func end(_ number: Int) {
    pumps[number] = nil
    awaited.remove(number)
  }

  /// Starts to follow a sequence.
  private static func pump<S: AsyncSequence & Sendable>(
    _ sequence: S, _ monitor: Monitor, of number: Int?,
    _ arrival: @escaping @Sendable (S.Element) -> Arrival
  ) -> Pump where S.Element: Sendable {
    Pump(
      false,
      [
        { _ in
          do {
            for try await element in sequence {
              let new = arrival(element)
              if await monitor.wait({ $0.put(new, of: number) }) == nil { return }
            }
            if number == nil { monitor.change { $0.end(nil) } }
          } catch {
            monitor.change { $0.end(error) }
          }
        }
      ])
  }
}

/// A difference on its way.
enum FlattenedArrival<Source: Sendable, Child: Sendable>: Sendable {
  case outer(LiveDiff<Source>)
  case inner(Int, LiveDiff<Child>)
}

/// The differences that have come and were not taken: at most one of each result.
struct FlattenedArrivals<Source: Sendable, Child: Sendable>: Sendable {
  private var arrivals: [FlattenedArrival<Source, Child>] = []
  private var senders: Set<Int?> = []
  private var isOver = false
  private var failure: (any Error)?

  /// Puts a difference in; nil while the one before of the same result is there.
  mutating func put(_ arrival: FlattenedArrival<Source, Child>, of number: Int?) -> Bool? {
    guard senders.insert(number).inserted else { return nil }
    arrivals.append(arrival)
    return true
  }

  mutating func end(_ error: (any Error)?) {
    isOver = true
    failure = failure ?? error
  }

  /// Takes all of them; nil while there is none, and a result of nil at the end.
  mutating func take() -> Result<[FlattenedArrival<Source, Child>]?, any Error>? {
    if !arrivals.isEmpty {
      defer { (arrivals, senders) = ([], []) }
      return .success(arrivals)
    }
    if let error = failure {
      failure = nil
      return .failure(error)
    }
    return isOver ? .success(nil) : nil
  }
}
