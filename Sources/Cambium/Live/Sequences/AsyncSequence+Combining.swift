// Operators over several sequences.

extension AsyncSequence where Self: Sendable, Element: Sendable {
  /// The elements of this sequence and of another, as they come.
  ///
  /// It ends once both have ended, and fails with the first that does. Of each, the next element is
  /// asked for once the one before was taken.
  ///
  /// - Parameter other: The other sequence.
  /// - Returns: The sequence.
  public func merge<Other: AsyncSequence & Sendable>(
    _ other: Other
  ) -> PumpedSequence<Element, Failure> where Other.Element == Element, Other.Failure == Failure {
    MergedElements.sequence([MergedElements.source(self, 0), MergedElements.source(other, 1)])
  }

  /// The newest elements of this sequence and of another, once both have one, and then each time
  /// that one of them has another.
  ///
  /// Whoever is slow gets the newest pair, without those between. It ends once both have ended.
  ///
  /// - Parameter other: The other sequence.
  /// - Returns: The sequence.
  public func combineLatest<Other: AsyncSequence & Sendable>(
    _ other: Other
  ) -> PumpedSequence<(Element, Other.Element), Failure>
  where Other.Element: Sendable, Other.Failure == Failure {
    PumpedSequence {
      let pump = SequencePump<LatestElements<Element, Other.Element, Never>, Failure>(
        LatestElements(),
        [
          { (input) async throws(Failure) in try await input.take(all: self) { $0.put(\.first, $1) }
          },
          { (input) async throws(Failure) in
            try await input.take(all: other) { $0.put(\.second, $1) }
          },
        ])
      return { () async throws(Failure) in try await pump.next { kept, _ in kept.pair } }
    }
  }

  /// The newest elements of this sequence and of two others; see `combineLatest(_:)`.
  ///
  /// - Parameters:
  ///   - second: Another sequence.
  ///   - third: One more.
  /// - Returns: The sequence.
  public func combineLatest<Second: AsyncSequence & Sendable, Third: AsyncSequence & Sendable>(
    _ second: Second, _ third: Third
  ) -> PumpedSequence<(Element, Second.Element, Third.Element), Failure>
  where
    Second.Element: Sendable, Second.Failure == Failure, Third.Element: Sendable,
    Third.Failure == Failure
  {
    PumpedSequence {
      let pump = SequencePump<
        LatestElements<Element, Second.Element, Third.Element>, Failure
      >(
        LatestElements(),
        [
          { (input) async throws(Failure) in try await input.take(all: self) { $0.put(\.first, $1) }
          },
          { (input) async throws(Failure) in
            try await input.take(all: second) { $0.put(\.second, $1) }
          },
          { (input) async throws(Failure) in
            try await input.take(all: third) { $0.put(\.third, $1) }
          },
        ])
      return { () async throws(Failure) in try await pump.next { kept, _ in kept.triple } }
    }
  }
}

extension Collection
where Self: Sendable, Element: AsyncSequence & Sendable, Element.Element: Sendable {
  /// The elements of all these sequences, as they come; see `merge(_:)` of a sequence.
  ///
  ///     for try await flight in ids.map({ database.values(of: $0) }).merge() { … }
  public func merge() -> PumpedSequence<Element.Element, Element.Failure> {
    MergedElements.sequence(enumerated().map { MergedElements.source($1, $0) })
  }
}

/// Elements of several sources in the order in which they came, at most one of each.
struct MergedElements<Element: Sendable>: Sendable {
  private var waiting: [(source: Int, element: Element)] = []

  typealias Pump<Failure: Error> = SequencePump<MergedElements, Failure>

  static func sequence<Failure: Error>(
    _ sources: [Pump<Failure>.Source]
  ) -> PumpedSequence<Element, Failure> {
    PumpedSequence {
      let pump = Pump(MergedElements(), sources)
      return { () async throws(Failure) in try await pump.next { kept, _ in kept.take() } }
    }
  }

  static func source<S: AsyncSequence & Sendable>(
    _ sequence: S, _ number: Int
  ) -> Pump<S.Failure>.Source where S.Element == Element {
    { (input) async throws(S.Failure) in
      try await input.take(all: sequence) { $0.put($1, of: number) }
    }
  }

  private mutating func put(_ element: Element, of source: Int) -> Bool {
    if waiting.contains(where: { $0.source == source }) { return false }
    waiting.append((source, element))
    return true
  }

  mutating func take() -> Element? { waiting.isEmpty ? nil : waiting.removeFirst().element }
}

/// The newest element of each of two or three sources.
struct LatestElements<First: Sendable, Second: Sendable, Third: Sendable>: Sendable {
  var first: First?
  var second: Second?
  var third: Third?
  private var isNew = false

  mutating func put<E>(_ place: WritableKeyPath<LatestElements, E?>, _ element: E) -> Bool {
    self[keyPath: place] = element
    isNew = true
    return true
  }

  /// The first two, if there are both and one is new.
  var pair: (First, Second)? {
    mutating get {
      guard isNew, let first, let second else { return nil }
      isNew = false
      return (first, second)
    }
  }

  /// All three, if there are all and one is new.
  var triple: (First, Second, Third)? {
    mutating get {
      guard isNew, let first, let second, let third else { return nil }
      isNew = false
      return (first, second, third)
    }
  }
}
