/// A rule, declared for a record's collection, that the record breaks.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
  /// The record.
  public let path: NodePath
  /// The property; nil if the rule concerns the record as a whole.
  public let property: String?
  /// The element of the property: its position in an array, or its name in a map; nil if it is the
  /// whole.
  public let element: Value?
  /// The reason, as the end of a sentence whose subject is the property: `must be positive`.
  public let reason: String

  /// Describes a broken rule, for use in your own store.
  public init(
    _ path: NodePath, _ property: String?, element: Value? = nil, _ reason: String
  ) {
    self.path = path
    self.property = property
    self.element = element
    self.reason = reason
  }

  /// The whole sentence.
  public var description: String {
    let place = element.map { "[\($0.text)]" } ?? ""
    return property.map { "\(path): \($0)\(place) \(reason)" } ?? "\(path) \(reason)"
  }
}
