// A collection's declaration as a value, the form in which the log and the state store it:
//
//     { "model": "Flight", "version": 1, "keys": "uuid",
//       "properties": [ { "name": "origin", "type": { "reference": "airports" },
//                         "required": true, "onDelete": "deny" },
//                       { "name": "country", "type": "string", "nullable": false,
//                         "absence": "NL", "stored": true },
//                       { "name": "prices", "type": { "map": "decimal" },
//                         "elements": { "from": 0, "treatment": "reject" },
//                         "keys": { "list": [ "EUR" ], "treatment": "reject" } }, … ],
//       "indexes": [ { "terms": [ "origin", { "property": "scheduled", "descending": true } ],
//                      "unique": true, "where": "number > 0", "covered": [ "number" ] }, … ],
//       "views": [ { "groups": { "by": [ "carrier" ], "measures": [ "count", { "sum": "x" } ] } },
//                  { "text": { "properties": [ "title" ], "language": "en" } }, … ],
//       "rules": [ "number must be positive", … ],
//       "steps": [ { "name": "full name", "version": 2, "sequence": 41 }, … ],
//       "migration": { "steps": [ "cents" ], "done": 3000, "last": "UA1545" } }
//
// Members that have their default are left out. Conditions are in the query language; "dialect": 2
// accompanies one with patterns, which are Swift's Regex without it. A declaration with a dialect,
// "nullable", "stored", "elements" or "keys" of a property makes its transaction record one of
// format 2.

import FoundationEssentials

/// A type that can be written as a ``Value``, and read from one.
protocol ValueCodable {
  var value: Value { get throws }
  init(_ value: Value) throws
}

extension CollectionDefinition: ValueCodable {
  /// The declaration as a value.
  package var value: Value {
    get throws {
      var map = ValueMap()
      map["model"] = model.map { .string($0) }
      map["version"] = .integer(Int64(version))
      map["keys"] = keys.map { .string($0.rawValue) }
      map.set("properties", try properties.map { try $0.value })
      map.set("indexes", try indexes.map { try $0.value })
      map.set("views", try views.map { try $0.value })
      map.set("rules", rulesInCode.map { .string($0) })
      map.set("steps", steps.map(\.value))
      map["migration"] = migration?.value
      return .map(map)
    }
  }

  /// Reads a declaration.
  package init(_ value: Value) throws {
    self.init()
    let map = try Members(value)
    model = try map.text("model")
    version = Int(clamping: try map.integer("version") ?? 1)
    keys = try map.choice("keys")
    properties = try map.list("properties")
    indexes = try map.list("indexes")
    views = try map.list("views")
    rulesInCode = try map.texts("rules")
    steps = try map.list("steps")
    migration = try map["migration"].map { try UnfinishedMigration($0) }
  }
}

extension CollectionDefinition {
  /// The lowest format of transaction records that can express a stored declaration.
  static func format(of stored: [UInt8]) -> UInt8 {
    guard let definition = try? CollectionDefinition(stored.lend { try Value($0) }) else {
      return 1
    }
    let isNew =
      definition.hasPatterns
      || definition.properties.contains {
        $0.isNullable != nil || !$0.omitsAbsence || $0.elementDomain != nil || $0.keyDomain != nil
      }
    return isNew ? 2 : 1
  }

  /// True if a condition in it has a pattern.
  private var hasPatterns: Bool {
    (indexes.map(\.condition) + views.map(\.condition)).contains { $0?.patternDialect != nil }
  }
}

extension PropertyDefinition: ValueCodable {
  var value: Value {
    get throws {
      var map: ValueMap = ["name": .string(name)]
      map["type"] = type.value
      map.set("required", isRequired)
      map["nullable"] = isNullable.map { .bool($0) }
      map["absence"] = absence
      map.set("stored", !omitsAbsence)
      map["domain"] = domain?.value
      map["elements"] = elementDomain?.value
      map["keys"] = keyDomain?.value
      map["onDelete"] = deleteRule.map { .string($0.rawValue) }
      map.set("mustExist", mustExist)
      map["label"] = label.map { .string($0) }
      map["documentation"] = documentation.map { .string($0) }
      return .map(map)
    }
  }

  init(_ value: Value) throws {
    let map = try Members(value)
    self.init(try map.needed("name") { try map.text($0) }, try PropertyType(map["type"] ?? .null))
    isRequired = try map.flag("required")
    isNullable = map["nullable"] == nil ? nil : try map.flag("nullable")
    absence = map["absence"]
    omitsAbsence = try !map.flag("stored")
    domain = try map["domain"].map { try Domain($0) }
    elementDomain = try map["elements"].map { try Domain($0) }
    keyDomain = try map["keys"].map { try Domain($0) }
    deleteRule = try map.choice("onDelete")
    mustExist = try map.flag("mustExist")
    label = try map.text("label")
    documentation = try map.text("documentation")
  }
}

extension PropertyType: ValueCodable {
  private static let plain: [(PropertyType, String)] = [
    (.any, "any"), (.bool, "bool"), (.integer, "integer"), (.double, "double"),
    (.string, "string"), (.data, "data"), (.date, "date"), (.uuid, "uuid"), (.decimal, "decimal"),
    (.blob, "blob"),
  ]

  var value: Value {
    switch self {
    case .reference(let path): ["reference": .string(path.description)]
    case .array(let element): ["array": element.value]
    case .map(let element): ["map": element.value]
    case .keyed(by: let path, let element):
      ["map": element.value, "by": .string(path.description)]
    default: .string(PropertyType.plain.first { $0.0 == self }?.1 ?? "any")
    }
  }

  init(_ value: Value) throws {
    if case .string(let name) = value {
      guard let found = PropertyType.plain.first(where: { $0.1 == name }) else {
        throw Members.unknown("type", name)
      }
      self = found.0
      return
    }
    let map = try Members(value)
    if let path = try map.path("reference") {
      self = .reference(path)
    } else if let element = map["array"] {
      self = .array(try PropertyType(element))
    } else if let element = map["map"] {
      let type = try PropertyType(element)
      self = try map.path("by").map { .keyed(by: $0, type) } ?? .map(type)
    } else {
      throw Members.unknown("type", "\(value)")
    }
  }
}

extension Domain: ValueCodable {
  var value: Value {
    var map = ValueMap()
    switch values {
    case .range(let least, let greatest):
      map["from"] = least
      map["to"] = greatest
    case .list(let values): map["list"] = .array(values)
    }
    map["treatment"] = .string(treatment.rawValue)
    return .map(map)
  }

  init(_ value: Value) throws {
    let map = try Members(value)
    let treatment = try map.needed("treatment") { try map.choice($0, Treatment.self) }
    if case .array(let values)? = map["list"] {
      self.init(.list(values), treatment)
    } else {
      self.init(.range(map["from"], map["to"]), treatment)
    }
  }
}

extension IndexDefinition: ValueCodable {
  var value: Value {
    get throws {
      var map: ValueMap = ["terms": .array(terms.map(\.value))]
      map.set("unique", isUnique)
      map["where"] = condition.map { .string($0.description) }
      map["dialect"] = condition?.patternDialect.map { .integer($0) }
      map.set("covered", covered.map { .string($0) })
      return .map(map)
    }
  }

  init(_ value: Value) throws {
    let map = try Members(value)
    self.init(try map.list("terms"))
    isUnique = try map.flag("unique")
    condition = try map.condition("where")
    covered = try map.texts("covered")
  }
}

extension IndexDefinition.Term: ValueCodable {
  var value: Value {
    if !isDescending && collation == .binary { return .string(property) }
    var map: ValueMap = ["property": .string(property)]
    map.set("descending", isDescending)
    map["collation"] = collation == .binary ? nil : .string(collation.rawValue)
    return .map(map)
  }

  init(_ value: Value) throws {
    if case .string(let name) = value {
      self.init(name)
      return
    }
    let map = try Members(value)
    self.init(
      try map.needed("property") { try map.text($0) }, isDescending: try map.flag("descending"),
      collation: try map.choice("collation") ?? .binary)
  }
}

extension ViewDefinition: ValueCodable {
  var value: Value {
    get throws {
      var map = ValueMap()
      switch content {
      case .groups(by: let names, let aggregates):
        var groups: ValueMap = ["measures": .array(aggregates.map(\.value))]
        groups.set("by", names.map { .string($0) })
        map["groups"] = .map(groups)
      case .top(by: let names, let terms):
        var top: ValueMap = ["terms": .array(terms.map(\.value))]
        top.set("by", names.map { .string($0) })
        map["top"] = .map(top)
      case .text(let names, language: let language):
        var text: ValueMap = ["properties": .array(names.map { .string($0) })]
        text["language"] = language.map { .string($0) }
        map["text"] = .map(text)
      }
      map["where"] = condition.map { .string($0.description) }
      map["dialect"] = condition?.patternDialect.map { .integer($0) }
      return .map(map)
    }
  }

  init(_ value: Value) throws {
    let map = try Members(value)
    let condition = try map.condition("where")
    if let groups = try map["groups"].map({ try Members($0) }) {
      self.init(
        .groups(by: try groups.texts("by"), try groups.list("measures")), where: condition)
    } else if let top = try map["top"].map({ try Members($0) }) {
      self.init(.top(by: try top.texts("by"), try top.list("terms")), where: condition)
    } else if let text = try map["text"].map({ try Members($0) }) {
      self.init(
        .text(try text.texts("properties"), language: try text.text("language")),
        where: condition)
    } else {
      throw Members.unknown("view", "\(value)")
    }
  }
}

extension ViewDefinition.Aggregate: ValueCodable {
  var value: Value {
    switch self {
    case .count: "count"
    case .sum(let name): ["sum": .string(name)]
    case .average(let name): ["average": .string(name)]
    case .minimum(let name): ["minimum": .string(name)]
    case .maximum(let name): ["maximum": .string(name)]
    }
  }

  init(_ value: Value) throws {
    if value == "count" {
      self = .count
      return
    }
    let map = try Members(value)
    if let name = try map.text("sum") {
      self = .sum(name)
    } else if let name = try map.text("average") {
      self = .average(name)
    } else if let name = try map.text("minimum") {
      self = .minimum(name)
    } else if let name = try map.text("maximum") {
      self = .maximum(name)
    } else {
      throw Members.unknown("measure", "\(value)")
    }
  }
}
