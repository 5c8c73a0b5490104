// Arrays, sets and dictionaries as properties whose elements have rules of their own.

/// A property that holds elements: an array or a set, or a dictionary, whose values they are. An
/// optional one holds none where it is nil. There are no others; the requirements are not for apps.
public protocol ElementsProperty: PropertyValue {
  /// The type of an element.
  associatedtype ElementValue: PropertyValue
  /// The elements in order, each with its place: the position in an array, the key in a dictionary,
  /// the element itself in a set.
  var _elements: [(place: Value, value: ElementValue)] { get }
  /// The same with each element replaced, or removed where there is nil.
  func _replacing(_ replacement: (ElementValue) -> ElementValue?) -> Self
}

extension Array: ElementsProperty where Element: PropertyValue {
  /// The elements with their positions.
  public var _elements: [(place: Value, value: Element)] {
    enumerated().map { (.integer(Int64($0.offset)), $0.element) }
  }
  /// The array of the replacements.
  public func _replacing(_ replacement: (Element) -> Element?) -> [Element] {
    compactMap(replacement)
  }
}

extension Set: ElementsProperty where Element: PropertyValue {
  /// The elements in the order of their stored bytes.
  public var _elements: [(place: Value, value: Element)] {
    map { (element: $0, bytes: $0.storedBytes ?? []) }
      .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
      .map { ($0.element.storedValue, $0.element) }
  }
  /// The set of the replacements.
  public func _replacing(_ replacement: (Element) -> Element?) -> Set<Element> {
    Set(compactMap(replacement))
  }
}

extension Dictionary: ElementsProperty where Key: DictionaryKey, Value: PropertyValue {
  /// The values with their keys, in the order of the keys' texts.
  public var _elements: [(place: Cambium.Value, value: Value)] {
    map { (key: $0.key._keyText, value: $0.value) }
      .sorted { ByteOrder.compare($0.key, $1.key) < 0 }.map { (.string($0.key), $0.value) }
  }
  /// The dictionary of the replacements, under the same keys.
  public func _replacing(_ replacement: (Value) -> Value?) -> [Key: Value] {
    compactMapValues(replacement)
  }
}
