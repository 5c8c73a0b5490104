/// Anything that is read lazily, one element after the other: children of a node, commits, steps of
/// a history, models, results of a query.
///
/// A walk is a description: nothing is read until elements are requested, and each of these calls
/// reads them from the start. All of them need memory for a few elements only, except ``fetch()``.
///
///     try database.all(Flight.self).forEach { print($0.number) }
///     let long = try flights.withSequence { all in all.first { $0.distance > 5000 } }
///     for try await flight in walk.inBackground { show(flight) }
///
/// A type conforms by visiting its elements and by returning them batch by batch; everything else
/// follows.
public protocol Walk<Element>: Sendable {
  /// The type of the elements.
  associatedtype Element

  /// Visits the elements in order, until `body` returns false.
  ///
  /// - Parameter body: Takes the element, and returns false to stop. It must not write to the
  ///   transaction that is read.
  /// - Throws: Any error that `body` throws; ``DatabaseError``, ``PropertyError`` and
  ///   ``QueryError`` from reading.
  func walk(_ body: (Element) throws -> Bool) throws

  /// Starts a walk that stops after each batch and continues later, on any thread.
  ///
  /// - Throws: ``DatabaseError/closed(reason:)`` and other errors of taking a snapshot.
  func makeBatches() throws -> WalkBatches<Element>
}

extension Walk {
  /// Visits each element.
  ///
  /// - Parameter body: Takes the element; throwing ends the walk. It must not write to the
  ///   transaction that is read.
  /// - Throws: Any error that `body` throws; otherwise as ``fetch()``.
  @inlinable
  public func forEach(_ body: (Element) throws -> Void) throws {
    try walk {
      try body($0)
      return true
    }
  }

  /// All elements in an array. Use ``forEach(_:)`` or a sequence if there may be many.
  ///
  /// - Throws: ``QueryError`` for a query that cannot be answered; ``PropertyError``,
  ///   ``DatabaseError/corrupt(reason:)``.
  /// - Complexity: O(n) time and memory.
  @inlinable
  public func fetch() throws -> [Element] {
    var elements: [Element] = []
    try walk {
      elements.append($0)
      return true
    }
    return elements
  }

  /// Lends the elements as a sequence, which reads them in batches on demand.
  ///
  ///     let first = try query.withSequence { rows in rows.first { $0.name.count > 20 } }
  ///
  /// A `Sequence` cannot throw. If reading fails the sequence ends early, and this call throws the
  /// error once `body` has returned, so that no result of half of the elements escapes. All
  /// elements are of one moment, which is held until the call returns.
  ///
  /// - Parameter body: Takes the sequence, which can be iterated once. It must not write to the
  ///   transaction that is read, and must not let the sequence escape, which has no elements later.
  /// - Returns: The result of `body`.
  /// - Throws: Any error of reading; otherwise any error that `body` throws.
  public func withSequence<R>(_ body: (WalkSequence<Element>) throws -> R) throws -> R {
    let sequence = WalkSequence(try makeBatches())
    let result = Result { try body(sequence) }
    if let error = sequence.end() { throw error }
    return try result.get()
  }
}

/// A walk in progress, on one thread, that returns one element at a time.
///
///     var commits = try database.commits(reversed: true)
///     while let commit = try commits.next() { print(commit.time) }
public protocol WalkCursor<Element>: ~Copyable {
  /// The type of the elements.
  associatedtype Element

  /// The next element, or nil after the last.
  ///
  /// - Throws: ``DatabaseError``, ``PropertyError``.
  mutating func next() throws -> Element?
}

extension WalkCursor where Self: ~Copyable {
  /// Visits the elements that are left, until `body` returns false.
  consuming func walk(_ body: (Element) throws -> Bool) throws {
    while let element = try next() { if try !body(element) { return } }
  }

  /// Visits the elements that are left.
  ///
  /// - Parameter body: Takes the element; throwing ends the walk.
  /// - Throws: Any error that `body` throws; as ``next()``.
  public consuming func forEach(_ body: (Element) throws -> Void) throws {
    while let element = try next() { try body(element) }
  }
}

/// A walk in progress that returns its elements batch by batch. One thread at a time uses it.
public final class WalkBatches<Element> {
  /// Adds the next elements, a batch at most, to an array; nothing at the end.
  typealias Step = (inout [Element]) throws -> Void

  let directory: OpenDirectory?
  private let start: (_ check: @escaping () throws -> Void) throws -> Step
  private var step: Step?
  /// Ends a step by throwing.
  fileprivate var check: () throws -> Void = {}

  /// - Parameters:
  ///   - directory: The open directory, for its background queue; nil if the walk stays on its
  ///     thread.
  ///   - start: Begins the walk when the first batch is requested.
  init(_ directory: OpenDirectory?, _ start: @escaping (@escaping () throws -> Void) throws -> Step)
  {
    self.directory = directory
    self.start = start
  }

  /// - Parameters:
  ///   - directory: The open directory, for its background queue; nil if the walk stays on its
  ///     thread.
  ///   - makeCursor: Begins the walk when the first batch is requested.
  convenience init<C: WalkCursor & ~Copyable>(
    _ directory: OpenDirectory?, of makeCursor: @escaping () throws -> C
  ) where C.Element == Element {
    self.init(directory) { check in
      var cursor = try makeCursor()
      return { elements in
        try check()
        while elements.count < 256, let element = try cursor.next() { elements.append(element) }
      }
    }
  }

  /// The next elements; none at the end.
  func next() throws -> [Element] {
    var elements: [Element] = []
    let step = try self.step ?? start { [unowned self] in try check() }
    self.step = step
    try step(&elements)
    return elements
  }
}

/// The elements of a walk, lent by ``Walk/withSequence(_:)``.
public final class WalkSequence<Element>: Sequence, IteratorProtocol {
  private var batches: WalkBatches<Element>?
  private var waiting: ArraySlice<Element> = []
  private var error: (any Error)?

  fileprivate init(_ batches: WalkBatches<Element>) { self.batches = batches }

  /// The next element; nil at the end, and after reading has failed.
  public func next() -> Element? {
    if let element = waiting.popFirst() { return element }
    do {
      waiting = try batches?.next()[...] ?? []
    } catch {
      self.error = error
    }
    if waiting.isEmpty { batches = nil }
    return waiting.popFirst()
  }

  fileprivate func end() -> (any Error)? {
    batches = nil
    waiting = []
    return error
  }
}

extension Walk where Element: Sendable {
  /// The elements as an asynchronous sequence, read in batches on a thread of the database's own.
  ///
  ///     for try await flight in query.inBackground { show(flight) }
  ///
  /// Each iteration starts a walk at its first element. It holds its moment until it ends, or its
  /// iterator is released; cancelling the task ends it with `CancellationError`. A walk of a
  /// transaction throws ``DatabaseError/misuse(reason:)``, since it stays on that thread.
  public var inBackground: BackgroundWalk<Self> { BackgroundWalk(walk: self) }
}

/// A walk whose elements are read in the background; see ``Walk/inBackground``.
public struct BackgroundWalk<W: Walk>: AsyncSequence, Sendable where W.Element: Sendable {
  /// The type of the elements.
  public typealias Element = W.Element

  fileprivate let walk: W

  /// Starts a walk.
  public func makeAsyncIterator() -> Iterator { Iterator(walk: walk) }

  /// A position in the walk.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let walk: W
    private var reading: Reading<W.Element>?
    private var waiting: ArraySlice<W.Element> = []
    private var isOver = false

    fileprivate init(walk: W) { self.walk = walk }

    /// The next element, or nil after the last.
    ///
    /// - Throws: Any error of reading, after which the walk is over; `CancellationError`.
    public mutating func next() async throws -> W.Element? {
      if let element = waiting.popFirst() { return element }
      if isOver { return nil }
      isOver = true
      let reading = try reading ?? Reading(try walk.makeBatches())
      self.reading = reading
      waiting = try await reading.next()[...]
      isOver = waiting.isEmpty
      if isOver { self.reading = nil }
      return waiting.popFirst()
    }
  }
}

/// The batches of a background walk.
///
/// One thread at a time uses the batches: only `next()` does, an iterator calls it through a
/// mutating method, and each call awaits the end of its work on the queue.
private final class Reading<Element: Sendable>: @unchecked Sendable {
  private let batches: WalkBatches<Element>
  private let queue: any WorkQueue

  init(_ batches: WalkBatches<Element>) throws {
    guard let directory = batches.directory else {
      throw DatabaseError.misuse(reason: "a walk of a transaction stays on its thread")
    }
    self.batches = batches
    queue = directory.options.background.makeQueue("cambium.walk")
  }

  func next() async throws -> [Element] {
    try await BlockingWork.run(on: queue) { [self] isCancelled in
      batches.check = { if isCancelled() { throw CancellationError() } }
      try batches.check()
      return try batches.next()
    }
  }
}

extension Snapshot {
  /// The open directory, if the snapshot may be read on any thread.
  var readingDirectory: OpenDirectory? { isLive ? nil : directory }
}
