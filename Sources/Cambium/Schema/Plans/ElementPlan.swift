import FoundationEssentials

/// The domains of a property's elements and keys, in the form in which stored arrays and maps are
/// checked against them. A class for the reason that `DomainPlan` is one.
final class ElementPlan: Sendable {
  private let elements: DomainPlan?
  private let keys: DomainPlan?
  private let isMap: Bool

  /// Resolves the domains; nil if none is declared.
  init?(_ definition: PropertyDefinition) throws {
    let (elements, keys) = (definition.elementDomain, definition.keyDomain)
    guard let member = definition.type.member, elements != nil || keys != nil else { return nil }
    if case .array = definition.type { isMap = false } else { isMap = true }
    self.elements = try elements.map { try DomainPlan($0, as: member) }
    self.keys = try keys.map { try DomainPlan($0, as: .string) }
  }

  /// The elements that a stored value of the property's type may not have, in order.
  ///
  /// - Returns: The place of each, which is nil for a key, and the reason.
  func refusals(_ value: RawSpan) throws -> [(element: Value?, reason: String)] {
    var refusals: [(element: Value?, reason: String)] = []
    try forEach(value) { place, element in
      if let keys, case .string(let name) = place {
        let isInside = try place.stored().lend { try keys.holds($0) }
        if !isInside { refusals.append((nil, ElementPlan.refusal(ofKey: name, "must be \(keys)"))) }
      }
      if let elements, try !isInside(elements, element) {
        refusals.append((place, "must be \(elements)"))
      }
    }
    return refusals
  }

  /// The reason why a map may not have a key, as the end of a sentence about the map.
  static func refusal(ofKey name: String, _ reason: String) -> String {
    "has the key \(Value.string(name).text), which \(reason)"
  }

  /// The value that replaces a stored one of the property's type: elements outside of their domain
  /// are replaced or removed, if it does not refuse them.
  func treated(_ value: [UInt8]) throws -> [UInt8] {
    guard let elements, elements.definition.treatment != .reject else { return value }
    var isWhole = true
    try value.lend { span in
      try forEach(span) { isWhole = try isWhole && isInside(elements, $1) }
    }
    if isWhole { return value }
    func treated(_ element: Value) throws -> Value? {
      if case .null = element { return element }
      return try elements.treated(try element.stored()).map { try $0.lend { try Value($0) } }
    }
    switch try value.lend({ try Value($0) }) {
    case .array(let all): return try Value.array(try all.compactMap(treated)).stored()
    case .map(let map):
      let pairs = try map.pairs.compactMap { name, element in
        try treated(element).map { (name, $0) }
      }
      return try Value.map(ValueMap(pairs: pairs)).stored()
    default: return value
    }
  }

  private func isInside(_ domain: DomainPlan, _ element: RawSpan) throws -> Bool {
    try element.load(UInt8.self, at: 0) == ValueTag.null || domain.holds(element)
  }

  /// Visits the elements with their places.
  private func forEach(_ value: RawSpan, _ body: (Value, RawSpan) throws -> Void) throws {
    var (offset, position) = (1, Int64(0))
    while offset < value.byteCount {
      var place = Value.integer(position)
      if isMap {
        let name = try value.part(at: &offset)
        place = .string(try value.string(name.lowerBound, name.count))
      }
      try body(place, value.extracting(try value.part(at: &offset)))
      position += 1
    }
  }
}
