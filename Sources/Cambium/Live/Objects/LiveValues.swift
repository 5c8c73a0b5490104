/// The value of something now, and then each other value that it gets: an object, a property, a
/// path.
///
///     for try await flight in database.values(of: id) { show(flight?.number) }
///
/// Whoever is slow gets the newest value, without those between. It is no history: for each change,
/// follow `changes(of:after:)` or ``Database/changes(at:after:startsWithPresent:)``. Cancelling the
/// task ends the sequence, and so does closing the database. Several iterators of one value go
/// their own ways, and each holds a few hundred bytes.
public struct LiveValues<Element: Sendable>: AsyncSequence, Sendable {
  /// A source of values, for one iterator.
  struct Source: Sendable {
    /// The value now.
    let now: @Sendable () throws -> Element
    /// The value after something has happened, maybe the same; nil at the end.
    let next: @Sendable () async throws -> Element?
  }

  private let start: @Sendable () throws -> Source
  private let isSame: @Sendable (Element, Element) -> Bool

  /// - Parameters:
  ///   - isSame: True for two values that need not both be yielded, one after the other.
  ///   - start: Makes the source of an iterator.
  init(
    isSame: @escaping @Sendable (Element, Element) -> Bool,
    from start: @escaping @Sendable () throws -> Source
  ) {
    self.start = start
    self.isSame = isSame
  }

  /// Starts observing.
  public func makeAsyncIterator() -> Iterator { Iterator(values: self) }

  /// The position of an observer.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let values: LiveValues
    private var source: Source?
    private var last: Element?

    fileprivate init(values: LiveValues) { self.values = values }

    /// The value now, at the first call; the next other value at each later one. Nil when the task
    /// is cancelled or the database closed.
    ///
    /// - Throws: ``PropertyError``, ``DatabaseError/corrupt(reason:)``, where the value cannot be
    ///   read.
    public mutating func next() async throws -> Element? {
      guard let source else {
        if Task.isCancelled { return nil }
        let source = try values.start()
        self.source = source
        last = try source.now()
        return last
      }
      while let value = try await source.next() {
        if let last, values.isSame(last, value) { continue }
        last = value
        return value
      }
      return nil
    }
  }
}

extension LiveValues {
  /// Reads a value from a record each time that the record may have changed.
  init(
    of path: @escaping @Sendable () throws -> NodePath, in database: Database,
    isSame: @escaping @Sendable (Element, Element) -> Bool,
    _ read: @escaping @Sendable (Snapshot) throws -> Element
  ) {
    self.init(isSame: isSame) {
      let watch = try RecordWatch(try path(), database)
      return Source(now: { try read(try database.snapshot()) }) {
        guard let snapshot = try await watch.next() else { return nil }
        return try database.unlessClosed { try read(snapshot) }
      }
    }
  }
}

extension PropertyValue {
  /// True if two values would be stored alike; NaN differs from itself.
  func isSame(_ other: Self) -> Bool { self == other || storedValue == other.storedValue }
}
