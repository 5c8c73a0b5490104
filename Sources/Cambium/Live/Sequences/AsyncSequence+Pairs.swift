// Operators that need no more than the element before.

extension AsyncSequence {
  /// The elements without those that are equal to the one before.
  ///
  /// - Returns: The sequence.
  @_disfavoredOverload
  public func removeDuplicates() -> DistinctSequence<Self>
  where Element: Equatable & SendableMetatype {
    DistinctSequence(base: self) { $0 == $1 }
  }

  /// The elements without those that are the same as the one before.
  ///
  /// - Parameter isSame: Compares the last element that came out with the next one.
  /// - Returns: The sequence.
  @_disfavoredOverload
  public func removeDuplicates(
    by isSame: @escaping @Sendable (Element, Element) -> Bool
  ) -> DistinctSequence<Self> {
    DistinctSequence(base: self, isSame: isSame)
  }

  /// Each element together with the one before it, which is nil for the first.
  ///
  ///     for try await (old, new) in database.values(of: id, \.delay).withPrevious() { … }
  public func withPrevious() -> PreviousSequence<Self> { PreviousSequence(base: self) }

  /// The first element, and then the end.
  public func once() -> AsyncPrefixSequence<Self> { prefix(1) }
}

/// A sequence without repetitions; see `removeDuplicates()`.
public struct DistinctSequence<Base: AsyncSequence>: AsyncSequence {
  /// An element of the base.
  public typealias Element = Base.Element
  /// The failure of the base.
  public typealias Failure = Base.Failure

  let base: Base
  let isSame: @Sendable (Element, Element) -> Bool

  /// Starts iterating.
  public func makeAsyncIterator() -> Iterator {
    Iterator(base: base.makeAsyncIterator(), isSame: isSame)
  }

  /// A place in the sequence.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: Base.AsyncIterator
    fileprivate let isSame: @Sendable (Element, Element) -> Bool
    private var last: Element?

    fileprivate init(
      base: Base.AsyncIterator, isSame: @escaping @Sendable (Element, Element) -> Bool
    ) {
      self.base = base
      self.isSame = isSame
    }

    /// The next element that differs from the one before.
    ///
    /// - Throws: The failure of the base.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(Base.Failure) -> Base.Element? {
      while let element = try await base.next(isolation: actor) {
        if let last, isSame(last, element) { continue }
        last = element
        return element
      }
      return nil
    }
  }
}

extension DistinctSequence: Sendable where Base: Sendable {}

/// A sequence of pairs; see `withPrevious()` of a sequence.
public struct PreviousSequence<Base: AsyncSequence>: AsyncSequence {
  /// An element of the base, with the one before it.
  public typealias Element = (old: Base.Element?, new: Base.Element)
  /// The failure of the base.
  public typealias Failure = Base.Failure

  let base: Base

  /// Starts iterating.
  public func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }

  /// A place in the sequence.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: Base.AsyncIterator
    private var last: Base.Element?

    fileprivate init(base: Base.AsyncIterator) { self.base = base }

    /// The next pair.
    ///
    /// - Throws: The failure of the base.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(Base.Failure) -> (old: Base.Element?, new: Base.Element)? {
      guard let element = try await base.next(isolation: actor) else { return nil }
      defer { last = element }
      return (last, element)
    }
  }
}

extension PreviousSequence: Sendable where Base: Sendable {}
