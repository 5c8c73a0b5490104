/// A section of a live result: the elements that have the same section key.
public struct LiveSection<Element: Sendable, Key: Hashable & Sendable>: Sendable {
  /// The key that all elements of the section have.
  public let key: Key
  /// The elements, in the order of the result.
  public internal(set) var elements = LiveElements<Element>(EmptyCollection())
  /// The elements' tokens in the result, which say where in it they lie.
  var tokens = ChunkedList<UInt64>()
  /// The section's number, which is never given again.
  let id: Int

  /// The number of elements; never zero.
  public var count: Int { elements.count }
}

/// The sections of a live result at one moment, in their order.
///
/// A value that never changes, as ``LiveElements`` is one: the next moment's sections share with
/// it all that is the same.
///
/// - Complexity: A section by its position takes O(log *s*) among *s* sections.
public struct LiveSections<Element: Sendable, Key: Hashable & Sendable>: RandomAccessCollection,
  Sendable
{
  let list: TokenList<LiveSection<Element, Key>>

  /// Zero.
  public var startIndex: Int { 0 }

  /// The number of sections.
  public var endIndex: Int { list.count }

  /// The section at a position, which must be less than ``endIndex``.
  public subscript(position: Int) -> LiveSection<Element, Key> { list[position].payload }

  /// The element at a position within a section.
  public subscript(position: SectionedPosition) -> Element {
    self[position.section].elements[position.item]
  }
}

/// The place of an element in a result with sections.
public struct SectionedPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The position of the section among the sections.
  public let section: Int
  /// The position of the element in its section.
  public let item: Int

  /// Names a place.
  public init(section: Int, item: Int) {
    self.section = section
    self.item = item
  }

  /// Orders by section, and by position within it.
  public static func < (a: SectionedPosition, b: SectionedPosition) -> Bool {
    (a.section, a.item) < (b.section, b.item)
  }

  /// The two positions, as in `3:15`.
  public var description: String { "\(section):\(item)" }
}
