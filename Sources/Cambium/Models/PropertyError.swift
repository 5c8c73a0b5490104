/// What is stored is not what a model has a property for: another type, a case that the enum does
/// not know, nothing where something is required.
///
/// The stored bytes are sound; somebody wrote them for another form of the model.
///
/// Recovery: read the record by its path, or give the property its former type with
/// ``Property/was(_:as:_:)``.
public struct PropertyError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The record.
  public let path: Path
  /// The property, by its dotted name; `id` for the key.
  public let property: String
  /// What is wrong.
  public let reason: String

  /// What is wrong, and where.
  public var description: String { "\(path), property \(property): \(reason)" }
}
