/// The defaults of absent values in a collection's records, by name: for records whose type the
/// program does not know.
final class DeclaredDefaults: Sendable {
  private let ofAbsence: [String: Value]
  private let ofNull: Set<String>

  /// - Returns: nil if there are no defaults.
  init?(_ definition: CollectionDefinition) {
    let properties = definition.properties.filter(\.hasDefault)
    if properties.isEmpty { return nil }
    ofAbsence = Dictionary(
      properties.compactMap { property in property.absence.map { (property.name, $0) } },
      uniquingKeysWith: { first, _ in first })
    ofNull = Set(properties.filter { $0.isNullable == false }.map(\.name))
  }

  /// The default of a property in a record; nil if the record has a value, or there is no default.
  func value(of name: String, in values: ValueMap) -> Value? {
    switch values[name] {
    case nil: ofAbsence[name]
    case .null? where ofNull.contains(name): ofAbsence[name]
    default: nil
    }
  }

  /// The values, with defaults for those that are absent.
  func completing(_ values: ValueMap) -> ValueMap {
    var whole = values
    for (name, value) in ofAbsence where self.value(of: name, in: values) != nil {
      whole[name] = value
    }
    return whole
  }
}

extension CollectionPlan {
  /// The defaults in effect at a moment; nil for the present.
  func declaredDefaults(asOf moment: UInt64?) -> DeclaredDefaults? {
    hasOtherDefaults(asOf: moment) ? DeclaredDefaults(definition(asOf: moment)) : presentDefaults
  }
}
