// Follows what some records hold, where that is no query: the models that a property refers to, the
// entries of a dictionary.
//
//     mailbox ─ net changes ─▶ RecordsReader ─ entries ─▶ ListComparison ─▶ LiveDiff

/// Reads a list from some records, and knows whose changes concern it.
protocol RecordsReader<ID, Element>: Sendable {
  associatedtype ID: Hashable & Sendable
  associatedtype Element: Sendable

  /// The changes that concern the list as it was read last.
  var guards: [LiveGuard] { get }

  /// Reads the list at a moment.
  ///
  /// - Parameters:
  ///   - snapshot: The moment.
  ///   - changes: The changes since the list was read last; nil where they are not known.
  /// - Returns: The elements, with the identities by which they are compared.
  /// - Throws: As `find(_:)`.
  mutating func read(
    _ snapshot: Snapshot, _ changes: [NetChange]?
  ) throws -> [(id: ID, element: Element)]

  /// True if an element that stays is what it was, as of the moment that was read last.
  func isSame(_ id: ID, _ old: Element, _ new: Element) -> Bool
}

/// Follows one list. It belongs to one actor or task.
final class RecordsRun<Reader: RecordsReader>: LiveBase {
  typealias Element = Reader.Element

  private let database: Database
  private let router: LiveRouter
  private let mailbox: LiveMailbox
  private var reader: Reader
  private var guards: [LiveGuard]
  private var ids: [Reader.ID] = []
  private(set) var elements = LiveElements<Element>(EmptyCollection())
  private(set) var sequence = SequenceNumber.zero
  private var isFirst = true
  let observers = DiffObservers<Element>()

  /// Begins to note changes. Nothing is read before the first step.
  init(_ reader: Reader, _ database: Database) throws {
    (self.reader, self.database, guards) = (reader, database, reader.guards)
    router = LiveRouter.of(database)
    mailbox = try router.add(guards)
  }

  deinit { router.remove(mailbox) }

  /// Brings the list up to the newest moment.
  ///
  /// - Returns: The difference; the first time, all elements as insertions.
  /// - Throws: As `find(_:)`; the list is then as before, and the next step reads it again.
  @discardableResult
  func step() throws -> LiveDiff<Element> {
    let snapshot = try database.snapshot()
    try router.advance(to: snapshot.sequence)
    let pending = mailbox.take(upTo: snapshot.sequence)
    do {
      let diff = try step(to: snapshot, pending)
      (elements, sequence, isFirst) = (diff.elements, diff.sequence, false)
      observers.note(diff)
      observers.tell()
      return diff
    } catch {
      mailbox.invalidate()
      throw error
    }
  }

  private func step(
    to snapshot: Snapshot, _ pending: LiveMailbox.Pending
  ) throws -> LiveDiff<Element> {
    var changes: [NetChange]?
    if case .changes(let known) = pending, !isFirst { changes = known }
    if changes?.isEmpty == true { return .nothing(elements, at: snapshot.sequence) }
    var next = reader
    let entries = try next.read(snapshot, changes)
    let diff = difference(to: entries, next).diff(from: elements, at: snapshot.sequence)
    (reader, ids) = (next, entries.map { $0.id })
    if next.guards != guards {
      guards = next.guards
      router.replace(guards, of: mailbox)
    }
    return diff
  }

  private func difference(
    to entries: [(id: Reader.ID, element: Element)], _ reader: Reader
  ) -> DerivedParts<Element> {
    let comparison = ListComparison(ids, entries.map { $0.id })
    var parts = DerivedParts<Element>()
    for position in comparison.removed { parts.delete(elements[position], at: position, .own) }
    for position in comparison.inserted {
      parts.insert(entries[position].element, at: position, isFirst ? .question : .own)
    }
    if !comparison.isInOrder { parts.touched = comparison.kept }
    for place in comparison.kept {
      let (old, (id, new)) = (elements[place.before], entries[place.after])
      if !reader.isSame(id, old, new) { parts.update(old, to: new, at: place, .related) }
    }
    return parts
  }

  // MARK: Waiting

  func advance() throws { try step() }

  func advance(isolation actor: isolated (any Actor)?) async throws -> Bool {
    try await next(isolation: actor) != nil
  }

  /// Waits until there may be something new, and takes the step; nil when the task is cancelled or
  /// the database closed.
  func next(isolation actor: isolated (any Actor)?) async throws -> LiveDiff<Element>? {
    if !isFirst { await mailbox.wait(after: mailbox.takes) }
    if Task.isCancelled { return nil }
    return try database.unlessClosed { try step() }
  }
}

/// The differences of a list that some records hold: of the models that a property refers to, or
/// the entries of a dictionary.
///
/// The first difference brings the whole list, no later one is empty. Each is computed by whoever
/// awaits it; a slow observer gets what has come meanwhile in one. It ends with the observer's
/// task, and with the database.
public struct RecordChanges<Item: Sendable>: AsyncSequence, Sendable {
  /// A difference.
  public typealias Element = LiveDiff<Item>

  let start: @Sendable () throws -> any LiveRecords<Item>

  /// Starts observing; several iterators of one value go their own ways.
  public func makeAsyncIterator() -> Iterator { Iterator(start: start) }

  /// An observer.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let start: @Sendable () throws -> any LiveRecords<Item>
    private var run: (any LiveRecords<Item>)?

    fileprivate init(start: @escaping @Sendable () throws -> any LiveRecords<Item>) {
      self.start = start
    }

    /// The next difference, computed on the executor of an actor.
    ///
    /// - Parameter actor: The actor that awaits it.
    /// - Returns: The difference; nil when the task is cancelled or the database closed.
    /// - Throws: As `find(_:)`; the next call tries again from the list before.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> LiveDiff<Item>? {
      if Task.isCancelled { return nil }
      let isFirst = run == nil
      let run = try run ?? start()
      self.run = run
      while let diff = try await run.next(isolation: actor) {
        if isFirst || !diff.isEmpty { return diff }
      }
      return nil
    }
  }
}

/// A run of which only the elements' type is known.
protocol LiveRecords<Element>: LiveBase {
  func next(isolation actor: isolated (any Actor)?) async throws -> LiveDiff<Element>?
}

extension RecordsRun: LiveRecords {}
