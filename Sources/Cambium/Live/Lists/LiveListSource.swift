import Synchronization

/// A view that shows the content of a ``ListSource``, and takes its changes in batches.
///
/// Between ``beginUpdates()`` and ``endUpdates()`` the calls come in this order: deletions,
/// insertions and moves of sections, then of elements. The source is in the state after the batch
/// from ``beginUpdates()`` on. Reloads follow, in a batch of their own.
public protocol ListView: AnyObject {
  /// A batch of changes begins.
  func beginUpdates()

  /// Sections leave, with all their elements.
  func deleteSections(_ positions: [Int])

  /// Sections come, with the elements that the source has in them.
  func insertSections(_ positions: [Int])

  /// A section goes elsewhere, with all its elements.
  func moveSection(_ from: Int, to: Int)

  /// Elements leave.
  func delete(_ positions: [SectionedPosition])

  /// Elements come.
  func insert(_ positions: [SectionedPosition])

  /// An element goes elsewhere.
  func move(_ from: SectionedPosition, to: SectionedPosition)

  /// The batch ends; the view is what the source says now.
  func endUpdates()

  /// Elements have changed where they are.
  func reload(_ positions: [SectionedPosition])
}

/// The data source of a list, for any kind of user interface: it holds the state that a view shows,
/// and the view decides when that becomes the next.
///
///     let source = LiveListSource(query.changes())
///     for try await batch in source.batches {
///       table.performBatchUpdates {
///         source.apply(batch)           // from here on it answers with the state after
///         table.deleteRows(at: batch.deletions) …
///       }
///       table.reloadRows(at: batch.reloads)
///     }
///
/// A view that is a ``ListView`` is driven by ``drive(_:isolation:)`` alone. A step is computed
/// only when the one before it was applied, so that a slow view gets fewer and larger batches.
///
/// Threads: questions come from any thread; batches are taken by one task, which applies them in
/// their order.
public final class LiveListSource<Element: Sendable>: ListSource {
  /// The steps of the list.
  public let batches: ListBatches<Element>
  private let shown: Mutex<ListContent<Element>>

  /// Makes the source of a list without sections.
  ///
  /// - Parameter diffs: The steps of a live result, of which the first inserts all that is there.
  public init<Steps: AsyncSequence & Sendable>(_ diffs: Steps)
  where Steps.Element == LiveDiff<Element> {
    batches = ListBatches {
      var iterator = diffs.makeAsyncIterator()
      return { try await iterator.next().map { ListBatch($0) } }
    }
    shown = Mutex(ListContent(LiveElements(EmptyCollection())))
  }

  /// Makes the source of a list with sections.
  ///
  /// - Parameters:
  ///   - diffs: The steps of a live result in sections, of which the first inserts all sections.
  ///   - title: The heading of a section by its key.
  public init<Key, Steps: AsyncSequence & Sendable>(
    _ diffs: Steps, title: @escaping @Sendable (Key) -> String?
  ) where Steps.Element == SectionedDiff<Element, Key> {
    batches = ListBatches {
      var iterator = diffs.makeAsyncIterator()
      return { try await iterator.next().map { ListBatch($0, title: title) } }
    }
    shown = Mutex(.withoutSections)
  }

  /// The number of sections that are shown.
  public var numberOfSections: Int { content.count }

  /// The number of elements that are shown in a section.
  ///
  /// - Complexity: O(log *s*) among *s* sections.
  public func numberOfElements(in section: Int) -> Int { content.elements(section).count }

  /// The heading of a section; nil in a list without sections.
  ///
  /// - Complexity: O(log *s*) among *s* sections.
  public func title(of section: Int) -> String? { content.title(section) }

  /// The element at a position.
  ///
  /// - Complexity: O(log *s* + log *n*) for *n* elements in the section.
  public subscript(position: SectionedPosition) -> Element {
    content.elements(position.section)[position.item]
  }

  /// From here on, the source answers with the state after a batch.
  public func apply(_ batch: ListBatch<Element>) { shown.withLock { $0 = batch.content } }

  /// Brings a view from step to step, until the list ends or the task is cancelled.
  ///
  /// - Parameters:
  ///   - view: The view, which is called on the caller's actor.
  ///   - isolation: The caller's actor.
  /// - Throws: The errors of the live result.
  public func drive(
    _ view: some ListView, isolation: isolated (any Actor)? = #isolation
  ) async throws {
    var iterator = batches.makeAsyncIterator()
    while let batch = try await iterator.next(isolation: isolation) {
      apply(batch)
      view.beginUpdates()
      view.take(batch)
      view.endUpdates()
      if !batch.reloads.isEmpty { view.reload(batch.reloads) }
    }
  }

  private var content: ListContent<Element> { shown.withLock { $0 } }
}

extension ListView {
  fileprivate func take<Element>(_ batch: ListBatch<Element>) {
    if !batch.sectionDeletions.isEmpty { deleteSections(batch.sectionDeletions) }
    if !batch.sectionInsertions.isEmpty { insertSections(batch.sectionInsertions) }
    for move in batch.sectionMoves { moveSection(move.from, to: move.to) }
    if !batch.deletions.isEmpty { delete(batch.deletions) }
    if !batch.insertions.isEmpty { insert(batch.insertions) }
    for move in batch.moves { self.move(move.from, to: move.to) }
  }
}

/// The steps of a list, one batch after another.
public struct ListBatches<Element: Sendable>: AsyncSequence, Sendable {
  /// Starts the steps behind it.
  typealias Start = @Sendable () -> () async throws -> ListBatch<Element>?

  private let start: Start

  init(_ start: @escaping Start) { self.start = start }

  /// Starts with the whole list; several iterators go their own ways.
  public func makeAsyncIterator() -> Iterator { Iterator(next: start()) }

  /// Takes the batches one by one.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let next: () async throws -> ListBatch<Element>?

    /// The next batch; nil when the task is cancelled or the live result has ended. Steps that
    /// change nothing are passed over.
    ///
    /// - Throws: The errors of the live result.
    public mutating func next() async throws -> ListBatch<Element>? {
      while let batch = try await next() {
        if !batch.isEmpty { return batch }
      }
      return nil
    }
  }
}
