/// The shape of a value, as far as its form outside the database depends on it.
///
/// Inner shapes are resolved late: a nested type may hold values of its own type.
package indirect enum InterchangeShape: Sendable {
  /// Anything: what JSON does not have is written as text, and read as that.
  case any
  /// A value of one of the app's types, which a profile may give a form of its own.
  case typed(ObjectIdentifier, InterchangeShape)
  /// One value of a simple type.
  case scalar(PropertyType)
  /// The key of another record.
  case reference(InterchangeReference)
  /// The other, or null.
  case optional(InterchangeShape)
  case array(@Sendable () -> InterchangeShape)
  /// Values by names that are data.
  case map(@Sendable () -> InterchangeShape)
  /// Values by names that are properties'.
  case nested(@Sendable () -> [InterchangeMember])
  /// One of some cases: its name and its payload.
  case union(@Sendable () -> [InterchangeMember])
  /// Any JSON value, which is stored as its text.
  case json
}

/// One of several values, by its name.
package struct InterchangeMember: Sendable {
  let name: String
  let shape: InterchangeShape
}

/// A reference, as it looks outside.
package struct InterchangeReference: Sendable {
  /// The type of the keys; nil where it is not known.
  var keys: CollectionDefinition.KeyType?
  /// The value that stands for no key, where the property is not optional.
  var unassigned: Value?
  /// Writes the record that a key refers to; nil where there is none.
  var embed:
    (@Sendable (inout InterchangeEncoder, _ key: Value, _ place: [String]) throws -> ValueMap?)?
}

extension InterchangeShape {
  /// The shape of what a property is declared to hold.
  package init(_ type: PropertyType) {
    self =
      switch type {
      case .any: .any
      case .reference: .reference(InterchangeReference())
      case .array(let element): .array { InterchangeShape(element) }
      case .map(let element), .keyed(by: _, let element): .map { InterchangeShape(element) }
      default: .scalar(type)
      }
  }

  /// The shape of a key.
  package init(_ keys: CollectionDefinition.KeyType?) {
    self = .reference(InterchangeReference(keys: keys))
  }
}
