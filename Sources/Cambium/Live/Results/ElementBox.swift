/// An element of a result, in a box whose type is the same for all elements.
///
/// Generic code of a library is not specialized for an app's types, and looks types up at run time
/// for each thing it does. So a live query keeps boxes: its lists, and the steps on them, are
/// compiled once, and only who asks for an element opens a box.
class ElementBox: @unchecked Sendable {
  // Sendable since the only class below it has one constant, which is.

  /// The element, of the type that was put in.
  ///
  /// Traps if it is of another type.
  final func open<Element: Sendable>(_ type: Element.Type) -> Element {
    guard let box = self as? BoxedElement<Element> else {
      preconditionFailure("a box holds an element of another type")
    }
    return box.element
  }
}

/// A box with its element.
final class BoxedElement<Element: Sendable>: ElementBox, @unchecked Sendable {
  // Sendable since it has one constant, which is.
  let element: Element

  init(_ element: Element) { self.element = element }
}

/// Says of two elements of one type that they are equal.
typealias ElementComparison = @Sendable (ElementBox, ElementBox) -> Bool

extension BoxedElement {
  /// The comparison of elements.
  static var comparison: ElementComparison {
    { StoredParts.areEqual($0.open(Element.self), $1.open(Element.self)) }
  }
}
