/// The declaration of a property of a collection's records.
///
/// Everything here is data: it is stored with the collection, and binds every writer, the command
/// line and undo included.
public struct PropertyDefinition: Hashable, Sendable {
  /// The property's name. A property in a nested value has a dotted name: `place.latitude`.
  public var name: String
  /// The type of the values that it may hold.
  public var type: PropertyType
  /// True if it must not be absent or null when a record is written.
  public var isRequired = false
  /// True if null is a value of its own; nil where nothing is said about it. Where it is not, null
  /// means what absence means.
  public var isNullable: Bool?
  /// The value that absence stands for, wherever it is asked for; nil where that is null.
  public var absence: Value?
  /// True if a value equal to ``absence`` is left out of the record, unless changes in place have
  /// led to it: a counter that goes up and down again is stored as zero.
  public var omitsAbsence = true
  /// The values that it may have.
  public var domain: Domain?
  /// The rule for the record when the one that it refers to is deleted.
  public var deleteRule: DeleteRule?
  /// True if the record that it refers to must exist when it is written.
  public var mustExist = false
  /// The text that people read in place of the name.
  public var label: String?
  /// A description of the property for people.
  public var documentation: String?

  /// Declares a property that may be absent, and holds anything of its type.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - type: The type.
  public init(_ name: String, _ type: PropertyType) {
    self.name = name
    self.type = type
  }

  /// The collection that it refers to, by itself or in each of its elements.
  public var target: Path? { type.target }

  /// The part that binds records: everything but the texts for people.
  var rule: PropertyDefinition {
    var rule = self
    (rule.label, rule.documentation) = (nil, nil)
    return rule
  }

  /// True if a record may be without a value, since that stands for one.
  var hasDefault: Bool { absence != nil && absence != .null }
}

extension CollectionDefinition {
  /// True if the properties of both put the same rules on a record.
  func hasSameRules(as other: CollectionDefinition) -> Bool {
    properties.map(\.rule) == other.properties.map(\.rule)
  }
}

/// The values that a property may have, and the treatment of others.
public struct Domain: Hashable, Sendable {
  /// The values inside a domain.
  public enum Values: Hashable, Sendable {
    /// From a least to a greatest one, both included; nil for no limit.
    case range(Value?, Value?)
    /// One of these.
    case list([Value])
  }

  /// The treatment of a value outside the domain.
  public enum Treatment: String, Hashable, Sendable {
    /// The write is refused.
    case reject
    /// The nearest value of the range takes its place; of a list, the first.
    case clamp
    /// Null takes its place.
    case clear
  }

  /// The values inside.
  public var values: Values
  /// The treatment of all other values.
  public var treatment: Treatment

  /// Declares a domain.
  public init(_ values: Values, _ treatment: Treatment = .reject) {
    self.values = values
    self.treatment = treatment
  }
}

/// The effect of deleting a record on those that refer to it.
public enum DeleteRule: String, Hashable, Sendable {
  /// They lose the reference.
  case nullify
  /// As long as there are any, deleting is refused.
  case deny
  /// They are deleted as well.
  case cascade
}
