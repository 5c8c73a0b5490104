import Observation

/// A collection that follows another one from which it is derived, a sequence of differences, or a
/// property with references; observed by anything that observes, as SwiftUI does.
///
///     let issues = try database.query(Issue.self).order(by: \.made.descending).limit(50).live()
///     let open = try issues.filterElements { $0.isOpen }
///     let titles = try open.mapElements { $0.title }
///     try await titles.follow { diff in list.apply(diff) }
///
/// It changes together with what it is derived from, whoever takes the step, so that the two always
/// fit together. It belongs to the same actor, or thread.
public final class LiveCollection<Element: Sendable>: LiveSource, LiveBase, Observable {
  /// A position.
  public typealias Index = Int

  private let base: any LiveBase
  let observers = DiffObservers<Element>()
  private let registrar = ObservationRegistrar()
  // Made once: a generic type's key path takes microseconds to make.
  private let sequencePath: KeyPath<LiveCollection, SequenceNumber> = \.sequence
  private let elementsPath: KeyPath<LiveCollection, LiveElements<Element>> = \.elements
  private var now: (elements: LiveElements<Element>, sequence: SequenceNumber)
  /// The error of the last step, if it could not be taken in.
  private var failure: (any Error)?

  init<Base: LiveBase, Step: LiveDerivation>(_ base: Base, _ step: Step) throws
  where Step.Source == Base.Element, Step.Element == Element {
    var step = step
    let first = try step.apply(.appearing(base.elements, at: base.sequence))
    self.base = base
    now = (first.elements, first.sequence)
    var untaken: LiveDiff<Base.Element>?
    base.observers.add { [weak self] diff in
      guard let self else { return false }
      let whole = untaken.map { $0.composed(with: diff) } ?? diff
      do {
        let derived = try step.apply(whole)
        untaken = nil
        take(derived)
      } catch {
        (untaken, failure) = (whole, error)
      }
      return true
    }
  }

  /// Derives a collection from another.
  ///
  /// - Parameters:
  ///   - source: The other collection.
  ///   - step: The derivation, which has taken nothing in yet.
  /// - Throws: The errors of the derivation's closures.
  /// - Complexity: The derivation of all elements.
  public convenience init<Step: LiveDerivation>(
    from source: some LiveSource<Step.Source>, _ step: Step
  ) throws where Step.Element == Element {
    try self.init(source.derivations.base, step)
  }

  /// Follows a sequence of differences; it is empty until ``follow(isolation:_:)`` has awaited the
  /// first, which brings all elements.
  ///
  /// - Parameter changes: The differences.
  public convenience init<Changes: AsyncSequence>(following changes: Changes)
  where Changes.Element == LiveDiff<Element> {
    self.init(same: SequenceBase(changes))
  }

  /// Shows what something else has.
  init(same base: some LiveBase<Element>) {
    self.base = base
    now = (base.elements, base.sequence)
    base.observers.add { [weak self] diff in
      self?.take(diff)
      return self != nil
    }
  }

  /// The link from which others are derived.
  public var derivations: LiveDerivations<Element> { LiveDerivations(self) }

  /// The moment that the elements are of.
  public var sequence: SequenceNumber {
    registrar.access(self, keyPath: sequencePath)
    return now.sequence
  }

  /// The elements: a value, which stays as it is.
  public var elements: LiveElements<Element> {
    registrar.access(self, keyPath: elementsPath)
    return now.elements
  }

  /// The first position.
  public var startIndex: Int { 0 }
  /// The number of elements, which is the position behind the last.
  public var endIndex: Int { elements.count }
  /// The element at a position.
  public subscript(position: Int) -> Element { elements[position] }

  // MARK: Following

  /// Brings what it is derived from up to the newest moment at once, and so itself. One that
  /// follows a sequence changes only in ``follow(isolation:_:)``.
  ///
  /// - Returns: The difference.
  /// - Throws: The errors of the derivation's closures, and of what it is derived from; it then
  ///   stays as it was, and the next step tries again.
  @discardableResult
  public func refresh() throws -> LiveDiff<Element> {
    let inbox = observers.inbox()
    try advance()
    if let failure { throw failure }
    return inbox.take() ?? .nothing(now.elements, at: now.sequence)
  }

  /// Follows what it is derived from until the task is cancelled or the database closed.
  ///
  /// - Parameters:
  ///   - actor: The actor to which it belongs; by default the caller's.
  ///   - body: Takes each difference from now on, after the collection has changed, also where
  ///     somebody else took the step.
  /// - Throws: Any error that `body` throws; otherwise as ``refresh()``.
  public func follow(
    isolation actor: isolated (any Actor)? = #isolation,
    _ body: (LiveDiff<Element>) throws -> Void = { _ in }
  ) async throws {
    let inbox = observers.inbox()
    while try await inbox.isEmpty ? advance(isolation: actor) : !Task.isCancelled {
      if let failure { throw failure }
      if let diff = inbox.take(), !diff.isEmpty { try body(diff) }
    }
  }

  func advance() throws { try base.advance() }

  func advance(isolation actor: isolated (any Actor)?) async throws -> Bool {
    try await base.advance(isolation: actor)
  }

  private func take(_ diff: LiveDiff<Element>) {
    failure = nil
    if !diff.isEmpty { registrar.willSet(self, keyPath: elementsPath) }
    registrar.willSet(self, keyPath: sequencePath)
    now = (diff.elements, diff.sequence)
    observers.note(diff)
    registrar.didSet(self, keyPath: sequencePath)
    if !diff.isEmpty { registrar.didSet(self, keyPath: elementsPath) }
    observers.tell()
  }
}

/// The elements that the differences of a sequence lead to.
private final class SequenceBase<Changes: AsyncSequence, Element: Sendable>: LiveBase
where Changes.Element == LiveDiff<Element> {
  private(set) var elements = LiveElements<Element>(EmptyCollection())
  private(set) var sequence = SequenceNumber.zero
  let observers = DiffObservers<Element>()
  /// Nil while somebody awaits its next element.
  private var iterator: Changes.AsyncIterator?

  init(_ changes: Changes) { iterator = changes.makeAsyncIterator() }

  func advance() {}

  func advance(isolation actor: isolated (any Actor)?) async throws -> Bool {
    guard var iterator else {
      throw DatabaseError.misuse(reason: "a sequence of differences is followed by one task")
    }
    self.iterator = nil
    defer { self.iterator = iterator }
    guard let diff = try await iterator.next(isolation: actor) else { return false }
    (elements, sequence) = (diff.elements, diff.sequence)
    observers.note(diff)
    observers.tell()
    return true
  }
}
