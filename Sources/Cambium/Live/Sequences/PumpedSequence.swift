/// The elements that an operator makes of one sequence or several, which are iterated meanwhile:
/// see `debounce(for:clock:)`, `throttle(for:clock:latest:)`, `merge(_:)` and `combineLatest(_:)`.
///
/// Each iterator starts its own iteration, which ends with it.
public struct PumpedSequence<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
  /// Waits for the next element of one iteration; it keeps the pump.
  typealias Step = () async throws(Failure) -> Element?

  let start: @Sendable () -> Step

  /// Starts iterating.
  public func makeAsyncIterator() -> Iterator { Iterator(start: start) }

  /// A place in the sequence.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let start: @Sendable () -> Step
    private var step: Step?

    fileprivate init(start: @escaping @Sendable () -> Step) { self.start = start }

    /// The next element.
    ///
    /// - Throws: The first failure of any of the sequences; the sequence is over then.
    public mutating func next() async throws(Failure) -> Element? {
      let step = step ?? start()
      self.step = step
      return try await step()
    }
  }
}
