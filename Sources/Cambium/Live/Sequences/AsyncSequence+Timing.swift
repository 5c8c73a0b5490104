// Operators that wait for a clock. The sources are iterated meanwhile, and what comes is folded
// into one element; the waiting itself is done by `next()`, in the task of whoever iterates.

extension AsyncSequence where Self: Sendable, Element: Sendable {
  /// Each element after which nothing comes for some time: the text once nobody types.
  ///
  /// The last element comes even where the sequence ends before that time has passed.
  ///
  /// - Parameters:
  ///   - interval: The time in which nothing else may come.
  ///   - clock: The clock that measures it.
  /// - Returns: The sequence.
  @_disfavoredOverload
  public func debounce<C: Clock>(
    for interval: C.Duration, clock: C = ContinuousClock()
  ) -> DebouncedSequence<Self, C> {
    DebouncedSequence(base: self, interval: interval, clock: clock)
  }

  /// At most one element in some time: the first at once, then one after each interval in which
  /// there were any.
  ///
  /// - Parameters:
  ///   - interval: The time between two elements.
  ///   - clock: The clock that measures it.
  ///   - latest: True for the newest of those that came meanwhile, false for the first.
  /// - Returns: The sequence.
  @_disfavoredOverload
  public func throttle<C: Clock>(
    for interval: C.Duration, clock: C = ContinuousClock(), latest: Bool = true
  ) -> ThrottledSequence<Self, C> {
    ThrottledSequence(base: self, interval: interval, clock: clock, latest: latest)
  }
}

/// The elements that came since the last one was taken.
struct RecentElements<Element: Sendable, Instant: Sendable>: Sendable {
  private(set) var first: Element?
  private(set) var last: Element?
  /// When the last one came.
  private(set) var instant: Instant?

  mutating func put(_ element: Element, at instant: Instant) {
    if first == nil { first = element }
    (last, self.instant) = (element, instant)
  }

  mutating func take(latest: Bool) -> Element? {
    defer { self = RecentElements() }
    return latest ? last : first
  }
}

extension SequencePump {
  /// A pump of one sequence that keeps the most recent elements.
  convenience init<Base: AsyncSequence & Sendable, C: Clock>(
    recent base: Base, _ clock: C
  )
  where
    Base.Element: Sendable, Kept == RecentElements<Base.Element, C.Instant>,
    Failure == Base.Failure
  {
    self.init(
      RecentElements(),
      [
        { (input) async throws(Failure) in
          try await input.take(all: base) { recent, element in
            recent.put(element, at: clock.now)
            return true
          }
        }
      ])
  }
}

/// A sequence that waits for pauses; see `debounce(for:clock:)`.
public struct DebouncedSequence<Base: AsyncSequence & Sendable, C: Clock>: AsyncSequence, Sendable
where Base.Element: Sendable {
  /// An element of the base.
  public typealias Element = Base.Element
  /// The failure of the base.
  public typealias Failure = Base.Failure

  let base: Base
  let interval: C.Duration
  let clock: C

  /// Starts iterating.
  public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

  /// A place in the sequence.
  public struct Iterator: AsyncIteratorProtocol {
    private let sequence: DebouncedSequence
    private var pump: SequencePump<RecentElements<Element, C.Instant>, Failure>?

    fileprivate init(sequence: DebouncedSequence) { self.sequence = sequence }

    /// The next element after which nothing came for the interval.
    ///
    /// - Throws: The failure of the base.
    public mutating func next() async throws(Base.Failure) -> Base.Element? {
      let (interval, clock) = (sequence.interval, sequence.clock)
      let pump = pump ?? SequencePump(recent: sequence.base, clock)
      self.pump = pump
      // The instant at which the newest element came, as it was seen before the pause.
      var seen: C.Instant?
      while !Task.isCancelled {
        let before = seen
        let step = try await pump.next { recent, isLast -> Step? in
          guard let instant = recent.instant else { return nil }
          let isOver = isLast || before.map { $0 >= instant } ?? false
          return isOver ? recent.take(latest: true).map(Step.element) : .pause(instant)
        }
        switch step {
        case nil: return nil
        case .element(let element): return element
        case .pause(let instant):
          seen = instant
          // Where the sleep is cancelled, so is the task.
          try? await clock.sleep(until: instant.advanced(by: interval), tolerance: nil)
        }
      }
      pump.cancel()
      return nil
    }

    private enum Step: Sendable {
      case element(Base.Element)
      case pause(C.Instant)
    }
  }
}

/// A sequence that makes pauses; see `throttle(for:clock:latest:)`.
public struct ThrottledSequence<Base: AsyncSequence & Sendable, C: Clock>: AsyncSequence, Sendable
where Base.Element: Sendable {
  /// An element of the base.
  public typealias Element = Base.Element
  /// The failure of the base.
  public typealias Failure = Base.Failure

  let base: Base
  let interval: C.Duration
  let clock: C
  let latest: Bool

  /// Starts iterating.
  public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

  /// A place in the sequence.
  public struct Iterator: AsyncIteratorProtocol {
    private let sequence: ThrottledSequence
    private var pump: SequencePump<RecentElements<Element, C.Instant>, Failure>?
    private var last: C.Instant?

    fileprivate init(sequence: ThrottledSequence) { self.sequence = sequence }

    /// The next element, not before the interval since the last one has passed.
    ///
    /// - Throws: The failure of the base.
    public mutating func next() async throws(Base.Failure) -> Base.Element? {
      let (clock, latest) = (sequence.clock, sequence.latest)
      let pump = pump ?? SequencePump(recent: sequence.base, clock)
      self.pump = pump
      let isThere = try await pump.next { recent, _ in recent.instant.map { _ in true } }
      if isThere != nil, let last {
        let end = last.advanced(by: sequence.interval)
        // Where the sleep is cancelled, so is the task.
        if clock.now < end { try? await clock.sleep(until: end, tolerance: nil) }
      }
      guard isThere != nil, !Task.isCancelled else {
        pump.cancel()
        return nil
      }
      last = clock.now
      return try await pump.next { recent, _ in recent.take(latest: latest) }
    }
  }
}
