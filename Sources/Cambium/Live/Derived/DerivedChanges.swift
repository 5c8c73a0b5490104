/// The differences of a derived result, made of those of its source, as long as an observer asks.
///
///     let titles = database.query(Issue.self).changes().mapElements { $0.title }
///     for try await diff in titles { list.apply(diff) }
///
/// As its source in all else: the first difference brings the whole result, no later one is empty,
/// each is computed by whoever awaits it, and a slow observer gets what has come meanwhile in one.
public struct DerivedChanges<Base: AsyncSequence, Step: LiveDerivation>: AsyncSequence
where Base.Element == LiveDiff<Step.Source> {
  /// A difference.
  public typealias Element = LiveDiff<Step.Element>

  private let base: Base
  private let step: Step

  /// Derives a sequence of differences.
  ///
  /// - Parameters:
  ///   - base: The differences of the source, of which the first brings all its elements.
  ///   - step: The derivation, which has taken nothing in yet.
  public init(_ base: Base, _ step: Step) { (self.base, self.step) = (base, step) }

  /// Starts observing; several iterators of one value go their own ways.
  public func makeAsyncIterator() -> Iterator {
    Iterator(base: base.makeAsyncIterator(), step: step)
  }

  /// An observer.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: Base.AsyncIterator
    fileprivate var step: Step
    private var isFirst = true
    private var isOver = false

    fileprivate init(base: Base.AsyncIterator, step: Step) {
      (self.base, self.step) = (base, step)
    }

    /// The next difference, computed on the executor of an actor.
    ///
    /// - Parameter actor: The actor that awaits it.
    /// - Returns: The difference; nil when the source has ended.
    /// - Throws: The errors of the derivation's closures, after which the sequence has ended;
    ///   otherwise those of the source.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> LiveDiff<Step.Element>? {
      while !isOver {
        guard let diff = try await base.next(isolation: actor) else { return nil }
        do {
          let derived = try step.apply(diff)
          defer { isFirst = false }
          if isFirst || !derived.isEmpty { return derived }
        } catch {
          isOver = true
          throw error
        }
      }
      return nil
    }
  }
}

extension DerivedChanges: Sendable where Base: Sendable {}
