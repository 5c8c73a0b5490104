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
  ) -> PumpedSequence<Element, Failure> {
    PumpedSequence {
      let pump = SequencePump(recent: self, clock)
      return { () async throws(Failure) in try await pump.debounced(for: interval, clock) }
    }
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
  ) -> PumpedSequence<Element, Failure> {
    PumpedSequence {
      let pump = SequencePump(recent: self, clock)
      var last: C.Instant?
      return { () async throws(Failure) in
        let end = last?.advanced(by: interval)
        let element = try await pump.throttled(until: end, clock, latest: latest)
        last = clock.now
        return element
      }
    }
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

extension SequencePump {
  private enum Step<Element: Sendable, Instant: Sendable>: Sendable {
    case element(Element)
    case pause(Instant)
  }

  /// The next element after which nothing came for some time.
  fileprivate func debounced<Element, C: Clock>(
    for interval: C.Duration, _ clock: C
  ) async throws(Failure) -> Element? where Kept == RecentElements<Element, C.Instant> {
    // The instant at which the newest element came, as it was seen before the pause.
    var seen: C.Instant?
    while !Task.isCancelled {
      let before = seen
      let step = try await next { recent, isLast -> Step<Element, C.Instant>? in
        guard let instant = recent.instant else { return nil }
        let isOver = isLast || before.map { $0 >= instant } ?? false
        return isOver ? recent.take(latest: true).map { .element($0) } : .pause(instant)
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
    cancel()
    return nil
  }

  /// The next element, not before an instant.
  fileprivate func throttled<Element, C: Clock>(
    until end: C.Instant?, _ clock: C, latest: Bool
  ) async throws(Failure) -> Element? where Kept == RecentElements<Element, C.Instant> {
    let isThere = try await next { recent, _ in recent.instant.map { _ in true } }
    // Where the sleep is cancelled, so is the task.
    if isThere != nil, let end, clock.now < end {
      try? await clock.sleep(until: end, tolerance: nil)
    }
    guard isThere != nil, !Task.isCancelled else {
      cancel()
      return nil
    }
    return try await next { recent, _ in recent.take(latest: latest) }
  }
}
