/// The elements of a live result at one moment.
///
/// A value that never changes: the live query makes the next one and shares with this one all but
/// the chunks that changed, so keeping one, or handing it to another thread, costs nothing.
///
///     for await change in query.changes() {
///       show(change.elements.prefix(20))
///     }
///
/// - Complexity: An element by its position takes O(log *n*), a fifth of a microsecond among a
///   million; a loop over all elements goes from chunk to chunk and costs a few nanoseconds each.
public struct LiveElements<Element: Sendable>: RandomAccessCollection, Sendable {
  var list: ChunkedList<Element>

  init(_ list: ChunkedList<Element>) { self.list = list }

  init(_ elements: some Sequence<Element>) { list = ChunkedList(elements) }

  /// Zero.
  public var startIndex: Int { 0 }

  /// The number of elements.
  public var endIndex: Int { list.count }

  /// The element at a position, which must be less than ``endIndex``.
  public subscript(position: Int) -> Element { list[position] }

  /// A loop over the elements in their order.
  public func makeIterator() -> Iterator { Iterator(base: list.makeIterator()) }

  /// Gives the elements one after another.
  public struct Iterator: IteratorProtocol, Sendable {
    fileprivate var base: ChunkedList<Element>.Iterator

    /// The next element, or nil after the last.
    public mutating func next() -> Element? { base.next() }
  }
}

extension LiveElements: Equatable where Element: Equatable {
  /// True if both have equal elements in the same order.
  public static func == (a: LiveElements, b: LiveElements) -> Bool {
    a.count == b.count && a.elementsEqual(b)
  }
}

extension LiveElements: CustomStringConvertible {
  /// The elements as an array writes them.
  public var description: String { Array(self).description }
}
