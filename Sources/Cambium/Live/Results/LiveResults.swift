import Observation

/// A result that follows its query: a collection that is up to date as long as somebody has it
/// follow, and whose changes are seen by anything that observes, as SwiftUI does.
///
///     let late = try database.query(Flight.self).where { $0.delay > 60 }.live()
///     show(late.count, late.first?.number)                  // read when it was made
///     try await late.follow { diff in table.apply(diff) }   // until the task is cancelled
///
/// Code that reads ``elements`` is told of each change; code that reads ``items``, of rows that
/// come, go and move; and code that reads one of these, of that row's changes.
///
/// It belongs to the actor, or the thread, that made it. There ``follow(isolation:_:)`` takes its
/// steps, of which another thread computes the long ones; ``refresh()`` and ``ask(_:)``, which asks
/// another question and gives the difference, compute theirs where they are called.
public final class LiveResults<R: Results>: Observable, RandomAccessCollection
where R.Element: Sendable {
  /// A position.
  public typealias Index = Int
  /// A result.
  public typealias Element = R.Element

  let run: LiveRun
  private var asked: BoxedQuery<R>
  let observers = DiffObservers<Element>()
  private let registrar = ObservationRegistrar()
  // Made once: a generic type's key path takes microseconds to make.
  private let sequencePath: KeyPath<LiveResults, SequenceNumber> = \.sequence
  private let elementsPath: KeyPath<LiveResults, LiveElements<Element>> = \.elements
  private let itemsPath: KeyPath<LiveResults, LiveElements<LiveItem<Element>>> = \.items
  /// The items; nil until somebody asks for them.
  private var madeItems: LiveElements<LiveItem<Element>>?
  /// True while a step is taken.
  private var isChanging = false

  /// The results of a run that has its first.
  init(_ query: BoxedQuery<R>, _ run: LiveRun) {
    (self.run, asked) = (run, query)
    run.willTake = { [unowned self] in willTake($0) }
  }

  convenience init(_ query: R) throws {
    let boxed = BoxedQuery(query)
    let run = try LiveRun(boxed)
    _ = try run.step()
    self.init(boxed, run)
  }

  /// The query that is followed.
  public var query: R { asked.query }

  /// The moment that the result is of.
  public var sequence: SequenceNumber {
    registrar.access(self, keyPath: sequencePath)
    return run.sequence ?? .zero
  }

  /// The result: a value, which stays as it is.
  public var elements: LiveElements<Element> {
    registrar.access(self, keyPath: elementsPath)
    return LiveElements(boxes: run.elements)
  }

  /// The rows of the result, each to be observed by itself.
  ///
  /// - Complexity: O(*n*) the first time for *n* rows, then O(1); each later step keeps them.
  public var items: LiveElements<LiveItem<Element>> {
    registrar.access(self, keyPath: itemsPath)
    let items =
      madeItems
      ?? LiveElements(LiveElements<Element>(boxes: run.elements).lazy.map { LiveItem($0) })
    madeItems = items
    return items
  }

  /// The first position.
  public var startIndex: Int { 0 }
  /// The number of results, which is the position behind the last.
  public var endIndex: Int { elements.count }
  /// The result at a position.
  public subscript(position: Int) -> Element { elements[position] }

  // MARK: Following

  /// Brings the result up to the newest moment at once. It waits for a step that another thread
  /// computes, and takes it as well.
  ///
  /// - Returns: The difference. All who follow the result, or are derived from it, take it, too.
  /// - Throws: As ``Walk/fetch()``; the result stays as it was. ``DatabaseError/misuse(reason:)``
  ///   within a step that is not finished: in a filter of the query, or in the `onChange` of
  ///   `withObservationTracking`, which is called before the result changes.
  @discardableResult
  public func refresh() throws -> LiveDiff<Element> { try changing { try run.step() } }

  /// Asks another question from now on: another condition, order, or limit.
  ///
  /// - Returns: The difference between the two results. All who follow take it, too.
  /// - Throws: As ``refresh()``; the question stays the former one.
  @discardableResult
  public func ask(_ query: R) throws -> LiveDiff<Element> {
    let diff = try changing {
      let boxed = BoxedQuery(query)
      let diff = try run.ask(boxed)
      asked = boxed
      return diff
    }
    run.wake()
    return diff
  }

  /// Follows the query until the task is cancelled or the database closed.
  ///
  /// Several loops may follow. The steps that lie between two turns of a loop, whoever took them,
  /// come as one; so a view that the loop keeps up to date shows the ``LiveDiff/elements`` of the
  /// difference, and not those of the result, which may be a step further.
  ///
  /// - Parameters:
  ///   - actor: The actor to which the result belongs; by default the caller's.
  ///   - body: Takes each difference from now on, after the result has changed, also those that
  ///     ``refresh()``, ``ask(_:)`` and other loops make.
  /// - Throws: Any error that `body` throws; otherwise as ``Walk/fetch()``.
  public func follow(
    isolation actor: isolated (any Actor)? = #isolation,
    _ body: (LiveDiff<Element>) throws -> Void = { _ in }
  ) async throws {
    let inbox = observers.inbox()
    while try await inbox.isEmpty ? advance(isolation: actor) : !Task.isCancelled {
      if let diff = inbox.take(), !diff.isEmpty { try body(diff) }
    }
  }

  /// Takes a step, and tells observers.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` within another step; otherwise the errors of the
  ///   step, which has then changed nothing.
  @discardableResult
  func changing(_ body: () throws -> BoxedDiff) throws -> LiveDiff<Element> {
    if isChanging { throw DatabaseError.stepWithinStep }
    let diff = try change(body)
    observers.tell()
    return diff
  }

  private func change(_ body: () throws -> BoxedDiff) rethrows -> LiveDiff<Element> {
    isChanging = true
    defer { isChanging = false }
    let boxed = try body()
    let diff = LiveDiff<Element>(boxed)
    observers.note(diff)
    changeItems(by: diff)
    if !boxed.isEmpty { registrar.didSet(self, keyPath: elementsPath) }
    registrar.didSet(self, keyPath: sequencePath)
    return diff
  }

  /// Takes a step to the items, if there are any. Whoever reads their order is not told where only
  /// elements have changed.
  private func changeItems(by diff: LiveDiff<Element>) {
    guard var items = madeItems, items.apply(diff) else { return }
    registrar.withMutation(of: self, keyPath: itemsPath) { madeItems = items }
  }

  /// Tells observers before the result changes. The elements change as a whole: an observer of one
  /// of them is told of any change of the result.
  private func willTake(_ isEmpty: Bool) {
    if !isEmpty { registrar.willSet(self, keyPath: elementsPath) }
    registrar.willSet(self, keyPath: sequencePath)
  }
}

extension LiveResults where R.Element: Model {
  /// The handle on the object at a position, by which it is edited property by property, and stays
  /// observed once it has left the result; see ``Live``.
  ///
  /// - Throws: As ``Database/live(_:_:)``.
  /// - Complexity: one read of the object, about 2 µs.
  public func object(at position: Int) throws -> Live<R.Element> {
    try run.database.live(elements[position].id)
  }
}
