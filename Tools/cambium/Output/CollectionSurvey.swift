import Cambium

/// The features that a node's children share: which properties, of which types, and how often.
///
/// Nothing in the database says so; it is found by looking. Of many children only some are looked
/// at, the first and the last in key order, and the survey says how many that were.
struct CollectionSurvey {
  /// A property, or the values of nodes that are no records.
  struct Property {
    /// Its name; nil for values that are no records.
    let name: String?
    /// The number of its values of each type.
    var types: [String: Int] = [:]

    var present: Int { types.values.reduce(0, +) }
  }

  let path: NodePath
  /// The value of the node itself.
  private(set) var own: Value?
  /// The number of its children.
  private(set) var count = 0
  /// The number of children that were read.
  private(set) var seen = 0
  private(set) var records = 0
  /// True if a child that was read has children itself, which were not.
  private(set) var isDeep = false
  private var found: [String?: Property] = [:]

  /// Looks at a node and at so many of its children; nil for all. `tick` is called for each child;
  /// false ends the survey with a ``Failure``.
  init(_ node: Node, sample: Int?, tick: () throws -> Void) throws {
    path = node.path
    own = try node.value
    count = try node.childCount
    let isCut = sample.map { count > $0 } ?? false
    let first = isCut ? (sample ?? 0) - (sample ?? 0) / 2 : Int.max
    try look(at: node.children.limit(first), tick)
    if isCut { try look(at: node.children.reversed().limit((sample ?? 0) / 2), tick) }
  }

  /// The names of the node's own properties.
  var ownNames: [String] {
    if case .map(let record)? = own { return record.members.map(\.name) }
    return []
  }

  /// True if there may be more than was seen.
  var isSampled: Bool { seen < count }

  /// The findings: first the properties by name, then the values that are no records.
  var properties: [Property] {
    found.values.sorted { a, b in
      guard let a = a.name, let b = b.name else { return a.name != nil }
      return a.utf8.lexicographicallyPrecedes(b.utf8)
    }
  }

  /// The properties of records that the collection's declaration does not name.
  func undeclared(in definition: CollectionDefinition) -> [Property] {
    properties.filter { property in
      guard let name = property.name else { return false }
      // A nested value is a property; its members are declared.
      return !definition.properties.contains { $0.name == name || $0.name.hasPrefix(name + ".") }
    }
  }

  private mutating func look(at children: Children, _ tick: () throws -> Void) throws {
    var cursor = try children.makeCursor()
    while let child = try cursor.next() {
      try tick()
      seen += 1
      if try !isDeep && child.childCount > 0 { isDeep = true }
      switch try child.value {
      case .map(let record)?:
        records += 1
        for member in record.members { note(member.value, as: member.name) }
      case let value?: note(value, as: nil)
      case nil: break
      }
    }
  }

  private mutating func note(_ value: Value, as name: String?) {
    let type = CollectionSurvey.type(of: value)
    found[name, default: Property(name: name)].types[type, default: 0] += 1
  }

  /// The name of a value's type, as ``JSONTypes`` has them.
  static func type(of value: Value) -> String {
    switch value {
    case .null: "null"
    case .bool: "bool"
    case .integer: "integer"
    case .double: "double"
    case .string: "string"
    case .data: "data"
    case .date: "date"
    case .uuid: "uuid"
    case .decimal: "decimal"
    case .array: "array"
    case .map: "map"
    case .reference: "reference"
    case .blob: "blob"
    }
  }
}

extension CollectionSurvey.Property {
  /// The property as a declaration would have it.
  var definition: PropertyDefinition {
    let types = Set(types.keys).subtracting(["null"])
    let type = types.count == 1 ? types.first.flatMap { ValueConversion.types[$0] } : nil
    return PropertyDefinition(name ?? "", type ?? .any)
  }

  /// The types, the most frequent first.
  var typeNames: [String] {
    types.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
  }
}
