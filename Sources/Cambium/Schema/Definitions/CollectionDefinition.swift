/// The declaration of a collection: a node whose children are records of one kind.
///
/// It is written through the log as a whole, so that it has a history, and a tool can read it
/// without the app's code. Undeclared properties may hold anything.
public struct CollectionDefinition: Hashable, Sendable {
  /// The type of the records' keys.
  public enum KeyType: String, Hashable, Sendable {
    /// UUIDs of version 7, generated for a record that has none.
    case uuid
    /// Integers.
    case integer
    /// Text.
    case string
  }

  /// The name of the app's type, for tools.
  public var model: String?
  /// The app's own version number of its type; an app with a lower one is refused.
  public var version = 1
  /// The type of the keys; nil for any.
  public var keys: KeyType?
  /// The properties.
  public var properties: [PropertyDefinition] = []
  /// The indexes.
  public var indexes: [IndexDefinition] = []
  /// The views.
  public var views: [ViewDefinition] = []
  /// The app's rules in code, described in words, so that tools can warn that they do not run them.
  public var rulesInCode: [String] = []
  /// The migration steps that brought the records to this form, in order.
  public var steps: [AppliedStep] = []
  /// The migration under way; some records are still of the old form.
  public var migration: UnfinishedMigration?

  /// Declares nothing.
  public init() {}

  /// The declaration of a property, or nil if it has none.
  ///
  /// - Parameter name: The property's name.
  public subscript(name: String) -> PropertyDefinition? { properties.first { $0.name == name } }
}
