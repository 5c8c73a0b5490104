import FoundationEssentials

/// A stored value does not fit the model's property: it has another type, it is a case that the
/// enum does not know, or it is missing where one is required.
///
/// The stored bytes are sound; somebody wrote them for another form of the model.
///
/// Recovery: read the record by its path, or give the property its former type with
/// ``Property/was(_:as:_:)``.
public struct PropertyError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The record.
  public let path: NodePath
  /// The property, by its dotted name; `id` for the key.
  public let property: String
  /// The reason why the value does not fit.
  public let reason: String

  /// The path, the property and the reason in one line.
  public var description: String { "\(path), property \(property): \(reason)" }
}

extension PropertyError: LocalizedError {
  /// The ``description``, which `localizedDescription` gives as well. It is in English.
  public var errorDescription: String? { description }

  /// The remedy, in a sentence.
  public var recoverySuggestion: String? {
    "Read the record by its path, or give the property its former type."
  }
}
