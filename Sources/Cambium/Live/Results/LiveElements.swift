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
  /// The elements in boxes that hold an `Element` each.
  private(set) var boxes: ChunkedList<ElementBox>

  /// The elements of boxes, which must hold an `Element` each.
  init(boxes: ChunkedList<ElementBox>) { self.boxes = boxes }

  init(_ elements: some Sequence<Element>) {
    boxes = ChunkedList(elements.lazy.map { BoxedElement($0) })
  }

  /// Zero.
  public var startIndex: Int { 0 }

  /// The number of elements.
  public var endIndex: Int { boxes.count }

  /// The element at a position, which must be less than ``endIndex``.
  public subscript(position: Int) -> Element { boxes[position].open(Element.self) }

  /// A loop over the elements in their order.
  public func makeIterator() -> Iterator { Iterator(boxes: boxes.makeIterator()) }

  /// Gives the elements one after another.
  public struct Iterator: IteratorProtocol, Sendable {
    fileprivate var boxes: ChunkedList<ElementBox>.Iterator

    /// The next element, or nil after the last.
    public mutating func next() -> Element? { boxes.next()?.open(Element.self) }
  }
}

// Changes of the list in place.
extension LiveElements {
  mutating func insert(_ element: Element, at position: Int) {
    boxes.insert(BoxedElement(element), at: position)
  }

  mutating func remove(at position: Int) { boxes.remove(at: position) }

  /// Removes elements at positions before, and inserts others at positions after.
  mutating func edit(removing removals: [Int], inserting insertions: [(Int, Element)]) {
    let boxed = insertions.map { (position: $0.0, element: BoxedElement($0.1) as ElementBox) }
    boxes.apply(ListEdit(removals: removals, insertions: boxed))
  }

  mutating func replace(at position: Int, with element: Element) {
    boxes.replace(at: position, with: BoxedElement(element))
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
