// Defaults by moment. A declaration sets the meaning of absence from its transaction on; the
// earlier meaning is kept with the plan, so that the past reads as it did:
//
//     declared by 3: "NL"      by 9: "DE"        formerDefaults: [ "NL" until 9 ]
//     ────────────┬───────────────┬──────────▶
//     moments     3 … 8: "NL"     9 … now: "DE"
//
// Before the first declaration, the first default applies to everything earlier: the app's type
// needs a value, and conditions agree with it.

/// The meaning of absence and null of a property until a transaction changed it.
struct FormerDefault: Hashable, Sendable {
  let property: String
  let absence: Value?
  let isNullable: Bool?
  let until: SequenceNumber

  fileprivate init(_ property: PropertyDefinition, until: SequenceNumber) {
    self.property = property.name
    absence = property.absence
    isNullable = property.isNullable
    self.until = until
  }
}

extension FormerDefault: ValueCodable {
  var value: Value {
    var map: ValueMap = [
      "name": .string(property), "until": .integer(Int64(clamping: until.rawValue)),
    ]
    map["absence"] = absence
    map["nullable"] = isNullable.map { .bool($0) }
    return .map(map)
  }

  init(_ value: Value) throws {
    let map = try Members(value)
    property = try map.needed("name") { try map.text($0) }
    until = SequenceNumber(
      UInt64(clamping: try map.needed("until") { try map.integer($0) }))
    absence = map["absence"]
    isNullable = map["nullable"] == nil ? nil : try map.flag("nullable")
  }
}

extension CollectionPlan {
  /// The former defaults after another declaration replaces this one.
  func formerDefaults(
    replacedBy next: CollectionDefinition, in sequence: SequenceNumber
  ) -> [FormerDefault] {
    let changed = definition.properties.filter { property in
      guard property.absence != nil || property.isNullable != nil else { return false }
      let other = next[property.name]
      return other?.absence != property.absence || other?.isNullable != property.isNullable
    }
    return formerDefaults + changed.map { FormerDefault($0, until: sequence) }
  }

  /// True if any default was different at a moment; nil for the present.
  func hasOtherDefaults(asOf moment: UInt64?) -> Bool {
    guard let moment, let last = formerDefaults.last else { return false }
    return moment < last.until.rawValue
  }

  /// The declaration with the defaults of a moment; nil for the present.
  func definition(asOf moment: UInt64?) -> CollectionDefinition {
    guard let moment, hasOtherDefaults(asOf: moment) else { return definition }
    var result = definition
    let former = formerDefaults.filter { moment < $0.until.rawValue }
    for name in Set(former.map(\.property)) {
      var property = definition[name] ?? PropertyDefinition(name, .any)
      property.take(DefaultTrace(former.filter { $0.property == name }, definition[name]))
      if let index = result.properties.firstIndex(where: { $0.name == name }) {
        result.properties[index] = property
      } else {
        result.properties.append(property)
      }
    }
    return result
  }
}

/// The defaults of one property from a moment on, oldest first, up to the present one.
private struct DefaultTrace {
  private let defaults: [(absence: Value?, isNullable: Bool?)]
  private let present: PropertyDefinition?

  init(_ former: [FormerDefault], _ present: PropertyDefinition?) {
    self.present = present
    defaults =
      former.map { ($0.absence, $0.isNullable) }
      + (present.map { [($0.absence, $0.isNullable)] } ?? [])
  }

  /// The value that null meant; nil if null was a value of its own, and still can be one.
  var ofNull: Value? {
    if let first = defaults.first, first.isNullable == false { return first.absence }
    guard let present, present.isNullable == false, present.absence != nil else { return nil }
    return defaults.first { $0.isNullable == false && $0.absence != nil }?.absence
  }

  /// The value that absence meant; nil if that was null.
  var ofAbsence: Value? {
    for (absence, isNullable) in defaults {
      if let absence { return absence }
      if isNullable == true { return ofNull }
    }
    return nil
  }
}

extension PropertyDefinition {
  fileprivate mutating func take(_ trace: DefaultTrace) {
    absence = trace.ofAbsence
    if absence != nil || isNullable != nil { isNullable = trace.ofNull == nil }
  }
}
