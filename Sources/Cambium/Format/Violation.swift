/// A rule, declared for a record's collection, that the record breaks.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
  /// The record.
  public let path: NodePath
  /// The property; nil if the rule concerns the record as a whole.
  public let property: String?
  /// The reason, as the end of a sentence whose subject is the property: `must be positive`.
  public let reason: String

  /// Describes a broken rule, for use in your own store.
  public init(_ path: NodePath, _ property: String?, _ reason: String) {
    self.path = path
    self.property = property
    self.reason = reason
  }

  /// The whole sentence.
  public var description: String {
    property.map { "\(path): \($0) \(reason)" } ?? "\(path) \(reason)"
  }
}
