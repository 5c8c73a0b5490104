/// A rule, declared for a record's collection, that the record breaks.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
  /// The record.
  public let path: Path
  /// The property; nil where the rule is about the record as a whole.
  public let property: String?
  /// The reason, as the rest of a sentence that the property begins: `must be positive`.
  public let reason: String

  /// Describes a broken rule, in a store of your own.
  public init(_ path: Path, _ property: String?, _ reason: String) {
    self.path = path
    self.property = property
    self.reason = reason
  }

  /// The whole sentence.
  public var description: String {
    property.map { "\(path): \($0) \(reason)" } ?? "\(path) \(reason)"
  }
}
