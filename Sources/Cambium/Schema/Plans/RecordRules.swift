// Checks one stored record against the declared rules of its collection.

import LMDB

extension CollectionPlan {
  /// Checks a record against the rules.
  ///
  /// - Throws: ``DatabaseError/invalid(_:)`` with all violations.
  func check(_ record: RawSpan, key: RawSpan, _ catalog: Catalog) throws {
    var entries = try RecordEntries(record)
    var entry = try entries.next(record)
    var broken: [(property: PropertyPlan?, element: Value?, reason: String)] = []
    if let reason = try definition.keys?.refusal(key) { broken.append((nil, nil, reason)) }
    for index in tagRules.indices {
      let rule = tagRules[index]
      while let passed = entry, passed.name < rule.name { entry = try entries.next(record) }
      guard let entry, entry.name == rule.name else {
        if !rule.mayBeAbsent { broken.append((properties[index], nil, "is required")) }
        continue
      }
      if rule.holds(for: try record.load(UInt8.self, at: entry.value.lowerBound)) { continue }
      let (property, stored) = (properties[index], record.extracting(entry.value))
      broken += try property.refusals(stored).map { (property, $0.element, $0.reason) }
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

/// The part of a property's rules that the tag of its value decides. Each record is checked against
/// it, so it holds no references: following those of a plan takes longer than the check itself.
struct TagRule: Sendable {
  let name: NameID
  let mayBeAbsent: Bool
  /// A bit for each tag whose values are all allowed.
  private let allowed: UInt32

  init(_ plan: PropertyPlan) throws {
    name = plan.name
    mayBeAbsent = !plan.definition.isRequired || !plan.standIn.ofAbsence.isEmpty
    let mayBeNull = !plan.definition.isRequired || !plan.standIn.ofNull.isEmpty
    var allowed: UInt32 = mayBeNull ? 1 << ValueTag.null : 0
    let type = plan.definition.type
    if !plan.hasDomains && type.member == nil {
      for tag in ValueTag.false...ValueTag.blob
      where try [tag].lend({ try type.takes($0) }) {
        allowed |= 1 << tag
      }
    }
    self.allowed = allowed
  }

  /// True if all values with a tag are allowed; others need a closer look.
  @inline(__always)
  func holds(for tag: UInt8) -> Bool { allowed & (1 << tag) != 0 }
}

extension PropertyPlan {
  /// The reasons why the property may not have a stored value, or an element in it.
  fileprivate func refusals(
    _ value: RawSpan
  ) throws -> [(element: Value?, reason: String)] {
    if try value.load(UInt8.self, at: 0) == ValueTag.null {
      return definition.isRequired && standIn.ofNull.isEmpty ? [(nil, "is required")] : []
    }
    if try !definition.type.takes(value) { return [(nil, "must be \(definition.type)")] }
    if let domain, try !domain.holds(value) { return [(nil, "must be \(domain)")] }
    return try elements?.refusals(value) ?? []
  }
}
