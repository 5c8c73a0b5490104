// Checks one stored record against the declared rules of its collection.

import LMDB

extension CollectionPlan {
  /// Checks a record against the rules.
  ///
  /// - Throws: ``DatabaseError/invalid(_:)`` with all violations.
  func check(_ record: RawSpan, key: RawSpan, _ catalog: Catalog) throws {
    let table = try RecordTable(record)
    var broken: [(property: PropertyPlan?, element: Value?, reason: String)] = []
    if let reason = try definition.keys?.refusal(key) { broken.append((nil, nil, reason)) }
    var place = 0
    for property in properties {
      var isThere = false
      while place < table.count {
        let name = try table.name(record, place)
        isThere = name == property.name
        if name >= property.name { break }
        place += 1
      }
      guard isThere else {
        if property.isMissed { broken.append((property, nil, "is required")) }
        continue
      }
      let value = record.extracting(try table.value(record, place))
      if let reason = try property.refusal(value) {
        broken.append((property, nil, reason))
      } else if let elements = property.elements,
        try value.load(UInt8.self, at: 0) != ValueTag.null
      {
        broken += try elements.refusals(value).map { (property, $0.element, $0.reason) }
      }
    }
    if broken.isEmpty { return }
    let path = path.appending(try Key(key))
    throw DatabaseError.invalid(
      broken.map { Violation(path, $0.property?.definition.name, element: $0.element, $0.reason) })
  }
}

extension CollectionDefinition.KeyType {
  /// The reason why a key is not of this type. Text that reads as an integer is one.
  fileprivate func refusal(_ key: RawSpan) throws -> String? {
    let tag = try key.load(UInt8.self, at: 0)
    return switch self {
    case .string: nil
    case .integer: tag == KeyTag.integer ? nil : "has a key that is no integer"
    case .uuid: tag == KeyTag.uuid ? nil : "has a key that is no UUID"
    }
  }
}

extension PropertyPlan {
  /// True if a record must have a value.
  fileprivate var isMissed: Bool { definition.isRequired && standIn.ofAbsence.isEmpty }

  /// The reason why the property may not have a stored value; nil if it may.
  @inline(__always)
  fileprivate func refusal(_ value: RawSpan) throws -> String? {
    if try value.load(UInt8.self, at: 0) == ValueTag.null {
      return definition.isRequired && standIn.ofNull.isEmpty ? "is required" : nil
    }
    if try !definition.type.takes(value) { return "must be \(definition.type)" }
    if let domain, try !domain.holds(value) { return "must be \(domain)" }
    return nil
  }
}
