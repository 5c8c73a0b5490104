/// The order of the sections of a live result.
///
///     let byName = SectionOrder<Flight, String>.ascending
///     let largestFirst = SectionOrder<Flight, String>.sorted { $0.count > $1.count }
///
/// Sections that an order does not tell apart are in the order of their first elements in the
/// result.
public struct SectionOrder<Element: Sendable, Key: Hashable & Sendable>: Sendable {
  private let areInIncreasingOrder:
    (@Sendable (LiveSection<Element, Key>, LiveSection<Element, Key>) -> Bool)?

  /// A section lies where the result has its first element.
  public static var firstAppearance: Self { Self(areInIncreasingOrder: nil) }

  /// An order of your own: by the keys, the numbers of elements, or the elements.
  ///
  /// - Parameter areInIncreasingOrder: True if the first section lies before the second; a strict
  ///   weak ordering, as `sort(by:)` asks for. It may look at nothing but the two sections: a
  ///   section is compared again when one of its elements came, left or changed. It is called on
  ///   the observer's thread.
  /// - Returns: The order.
  public static func sorted(
    by areInIncreasingOrder:
      @escaping @Sendable (LiveSection<Element, Key>, LiveSection<Element, Key>) -> Bool
  ) -> Self {
    Self(areInIncreasingOrder: areInIncreasingOrder)
  }

  /// True if a section lies before another; neither is empty.
  func isBefore(_ a: LiveSection<Element, Key>, _ b: LiveSection<Element, Key>) -> Bool {
    if let areInIncreasingOrder {
      if areInIncreasingOrder(a, b) { return true }
      if areInIncreasingOrder(b, a) { return false }
    }
    return a.tokens[0] < b.tokens[0]
  }
}

extension SectionOrder where Key: Comparable {
  /// The smallest key first.
  public static var ascending: Self { sorted { $0.key < $1.key } }

  /// The greatest key first.
  public static var descending: Self { sorted { $0.key > $1.key } }
}
