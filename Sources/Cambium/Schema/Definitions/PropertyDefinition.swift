/// The declaration of a property of a collection's records.
///
/// Everything here is data: it is stored with the collection, and binds every writer, the command
/// line and undo included.
public struct PropertyDefinition: Hashable, Sendable {
  /// The property's name. A property in a nested value has a dotted name: `place.latitude`.
  public var name: String
  /// The type of the property's values.
  public var type: PropertyType
  /// True if it must not be absent or null when a record is written.
  public var isRequired = false
  /// True if null is a value of its own; nil if that is not declared. If it is not one, null means
  /// the same as absence.
  public var isNullable: Bool?
  /// The value that an absent property has wherever it is read; nil for null.
  public var absence: Value?
  /// True if a value equal to ``absence`` is left out of the record, unless it results from changes
  /// in place: a counter that goes up and down again is stored as zero.
  public var omitsAbsence = true
  /// The permitted values; nil for all of the type.
  public var domain: Domain?
  private var members = MemberDomains()
  /// The rule for the record when the one that it refers to is deleted.
  public var deleteRule: DeleteRule?
  /// True if the record that it refers to must exist when the reference is written.
  public var mustExist = false
  /// The text that is shown to people instead of the name.
  public var label: String?
  /// A description of the property for people.
  public var documentation: String?

  /// Declares a property that may be absent, and accepts any value of its type.
  ///
  /// - Parameters:
  ///   - name: The property's name; dotted if it is in a nested value.
  ///   - type: The type of its values.
  public init(_ name: String, _ type: PropertyType) {
    self.name = name
    self.type = type
  }

  /// The collection that it refers to, itself or through its elements.
  public var target: NodePath? { type.target }

  /// The permitted elements of an array, or values of a map; nil for all of their type. Null is
  /// always permitted.
  public var elementDomain: Domain? {
    get { members.elements }
    set { members.elements = newValue }
  }
  /// The permitted keys of a map, as texts; nil for all. Others are refused: the domain's treatment
  /// is ``Domain/Treatment/reject``.
  public var keyDomain: Domain? {
    get { members.keys }
    set { members.keys = newValue }
  }

  /// The part that binds records: everything but the texts for people.
  var rule: PropertyDefinition {
    var rule = self
    (rule.label, rule.documentation) = (nil, nil)
    return rule
  }

  /// True if a record may be without a value, since absence has one.
  var hasDefault: Bool { absence != nil && absence != .null }
}

/// The domains of the parts of an array or a map.
private struct MemberDomains: Hashable, Sendable {
  var elements: Domain?
  var keys: Domain?
}

extension CollectionDefinition {
  /// True if the properties of both impose the same rules on a record.
  func hasSameRules(as other: CollectionDefinition) -> Bool {
    properties.map(\.rule) == other.properties.map(\.rule)
  }
}

/// The values that a property may have, and the treatment of others.
public struct Domain: Hashable, Sendable {
  /// The values inside a domain.
  public enum Values: Hashable, Sendable {
    /// From a lower to an upper bound, both included; nil for no bound.
    case range(Value?, Value?)
    /// One of these.
    case list([Value])
  }

  /// The treatment of a value outside the domain.
  public enum Treatment: String, Hashable, Sendable {
    /// The write is refused.
    case reject
    /// It is replaced by the nearest value of the range, or by the first of a list.
    case clamp
    /// It is replaced by null; an element is removed.
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
  /// Deleting is refused while there are any.
  case deny
  /// They are deleted as well.
  case cascade
}
