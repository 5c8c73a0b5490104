import Cambium

/// Writes the struct that one declared collection is.
struct SwiftModel {
  let path: NodePath
  private let definition: CollectionDefinition
  /// True if others refer to it, and nothing else is said of it.
  private let isReferredOnly: Bool
  /// The structs' names, by collection.
  private var types: [NodePath: String] = [:]
  /// The structs that it may refer to.
  private var others: [NodePath: SwiftModel] = [:]
  /// The name of each property in the struct.
  private var places: [String: Place] = [:]
  private var properties: [PropertyDefinition]

  /// The place of a property: one word, or that of a nested value and one in it.
  private struct Place {
    var words: [String]
    /// True if it is stored under another name than that.
    var isRenamed = false
  }

  /// Words that members of a model cannot be called, since it has such already; nor can they begin
  /// with a capital, as its types do.
  private static let reserved: Set = ["id", "schema"]

  init(_ path: NodePath, _ definition: CollectionDefinition, isReferredOnly: Bool = false) {
    self.path = path
    self.definition = definition
    self.isReferredOnly = isReferredOnly
    properties = definition.properties
    // Properties that indexes and views use must have a name in the struct.
    let used =
      definition.indexes.flatMap { index in
        index.terms.map(\.property) + index.covered.filter { definition.preview($0) == nil }
      } + definition.views.flatMap(\.names)
    for name in used where !properties.contains(where: { $0.name == name }) {
      properties.append(PropertyDefinition(name, .any))
    }
    for property in properties { places[property.name] = plainPlace(property.name) }
    var taken = Set(places.values.compactMap(\.words.first))
    for property in properties where places[property.name] == nil {
      places[property.name] = Place(
        words: [SwiftModel.freeWord(property.name, &taken)], isRenamed: true)
    }
  }

  /// Sets all structs, and their names.
  mutating func know(_ others: [NodePath: SwiftModel], _ types: [NodePath: String]) {
    (self.others, self.types) = (others, types)
  }

  // MARK: Names

  /// The place that a name says by itself; nil where it cannot be a name in Swift, or that of a
  /// nested value is taken by another property.
  private func plainPlace(_ name: String) -> Place? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let words = parts.compactMap(SwiftDeclarations.identifier)
    // Other names need backticks, and those would be stored with them.
    guard words.count == parts.count, words.count <= 2, parts.allSatisfy(SwiftDeclarations.isPlain),
      !SwiftModel.reserved.contains(parts[0]), parts[0].first?.isUppercase != true
    else { return nil }
    let isShadowed = properties.contains {
      name.hasPrefix($0.name + ".") || $0.name.hasPrefix(name + ".")
    }
    return isShadowed ? nil : Place(words: words)
  }

  private static func freeWord(_ name: String, _ taken: inout Set<String>) -> String {
    let words = name.split { !($0.isLetter || $0.isNumber) }.map(String.init)
    let joined = words.map(SwiftDeclarations.capitalized).joined()
    let start = SwiftDeclarations.isPlain("x" + joined) ? "property" + joined : "property"
    var word = start
    var number = 1
    while !taken.insert(word).inserted {
      number += 1
      word = start + String(number)
    }
    return word
  }

  private func keyPath(_ name: String) -> String { "\\." + words(name).joined(separator: ".") }

  private func words(_ name: String) -> [String] {
    if let preview = definition.preview(name), let other = others[preview.target] {
      return words(preview.reference) + other.words(preview.property)
    }
    return places[name]?.words ?? [name]
  }

  // MARK: The struct

  /// Its lines.
  var lines: [String] {
    let name = types[path] ?? "Model"
    // One that does not know the steps by which the records came here must be a later one.
    let isLater = definition.steps.contains { $0.version >= definition.version }
    let version = definition.version + (isLater ? 1 : 0)
    let role = isReferredOnly ? "to which others refer" : "as declared"
    var lines = ["/// \(Terminal.escaped(path.description)), \(role)."]
    if definition.keys == nil { lines.append("// Its keys may be of any kind.") }
    lines.append("struct \(name): Model {")
    if let key = SwiftModel.key(definition.keys) { lines.append("  typealias Key = \(key)") }
    lines += (["var id = ID()"] + members).map { "  " + $0 }
    let quoted = SwiftLiteral.quoted(path.description)
    let head = version == 1 ? quoted : "\(quoted), version: \(version)"
    let schema =
      properties.flatMap(rules) + definition.indexes.map(line) + definition.views.flatMap(calls)
      + definition.rulesInCode.map { "// in the app's code: \(Terminal.escaped($0))" }
    let start = "  static let schema = ModelSchema<\(name)>(\(head))"
    if schema.isEmpty { return lines + [start, "}"] }
    return lines + ["\(start) {"] + schema.map { "    " + $0 } + ["  }", "}"]
  }

  /// The type of the keys; nil for the one that a model has by itself.
  static func key(_ type: CollectionDefinition.KeyType?) -> String? {
    type == .uuid ? nil : type == .integer ? "Int" : "String"
  }

  private var members: [String] {
    var lines: [String] = []
    var nested: [(type: String, lines: [String])] = []
    for property in properties {
      guard let words = places[property.name]?.words else { continue }
      let line = declaration(words[words.count - 1], property)
      if words.count == 1 {
        lines.append(line)
        continue
      }
      let type = SwiftDeclarations.capitalized(words[0].filter { $0 != "`" }) + "Part"
      let index = nested.firstIndex { $0.type == type } ?? nested.count
      if index == nested.count {
        nested.append((type, []))
        lines.append("var \(words[0]) = \(type)()")
      }
      nested[index].lines.append(line)
    }
    return lines
      + nested.flatMap { ["struct \($0.type): Nested {"] + $0.lines.map { "  " + $0 } + ["}"] }
  }

  // MARK: Properties

  private func declaration(_ word: String, _ property: PropertyDefinition) -> String {
    let type = swiftType(property.type)
    let isReference = if case .reference = property.type { true } else { false }
    let isCleared =
      property.domain?.treatment == .clear || property.isNullable == true && !isReference
    if let literal = property.absence.flatMap({ SwiftLiteral.text($0, as: property.type) }) {
      return "var \(word): \(type)\(isCleared ? "?" : "") = \(literal)"
    }
    guard property.isRequired, property.domain?.treatment != .clear,
      let start = SwiftModel.start(property.type)
    else {
      return "var \(word): \(type)?"
    }
    return "var \(word): \(type) = \(start)"
  }

  private func swiftType(_ type: PropertyType) -> String {
    switch type {
    case .reference(let path): "\(types[path] ?? "Model").ID"
    case .array(let element): "[\(swiftType(element))]"
    case .map(let element): "[String: \(swiftType(element))]"
    case .keyed(by: let path, let element): "[\(types[path] ?? "Model").ID: \(swiftType(element))]"
    default: type.swiftName
    }
  }

  /// The initial value of a property of a type; nil where none suggests itself.
  private static func start(_ type: PropertyType) -> String? {
    switch type {
    case .bool: "false"
    case .integer, .double, .decimal: "0"
    case .string: "\"\""
    case .data: "Data()"
    case .array: "[]"
    case .map, .keyed: "[:]"
    case .any, .date, .uuid, .blob, .reference: nil
    }
  }

  private func rules(_ property: PropertyDefinition) -> [String] {
    var (calls, notes) = ("", [String]())
    if property.label != nil || property.documentation != nil {
      let words = [property.label ?? property.name] + [property.documentation].compactMap(\.self)
      calls += ".labelled(\(list(words.map(SwiftLiteral.quoted))))"
    }
    if property.isRequired { calls += ".required()" }
    if let absence = property.absence {
      if SwiftLiteral.text(absence, as: property.type) != nil {
        if property.omitsAbsence { calls += ".defaultOnEmpty()" }
      } else {
        notes.append("\(property.name) has an initial value that cannot be written here")
      }
    }
    calls += property.deleteRule.map { ".onDelete(.\($0.rawValue))" } ?? ""
    // A delete rule asks for it.
    if property.mustExist != (property.deleteRule != nil) {
      calls += property.mustExist ? ".mustExist()" : ".mustExist(false)"
    }
    if let domain = property.domain {
      if let call = SwiftModel.call(domain, property.type) {
        calls += call
      } else {
        notes.append("\(property.name) has a domain that cannot be written here")
      }
    }
    let (elementCalls, elementNotes) = SwiftModel.elementRules(property)
    (calls, notes) = (calls + elementCalls, notes + elementNotes)
    let isRenamed = places[property.name]?.isRenamed ?? false
    let name = isRenamed ? ", name: \(SwiftLiteral.quoted(property.name))" : ""
    let lines =
      calls.isEmpty && !isRenamed ? [] : ["Property(\(keyPath(property.name))\(name))\(calls)"]
    return lines + notes.map { "// \(Terminal.escaped($0))" }
  }

  /// The calls for the domains of a property's elements and keys.
  private static func elementRules(_ property: PropertyDefinition) -> (calls: String, [String]) {
    var (calls, notes) = ("", [String]())
    if let domain = property.elementDomain {
      if let call = property.type.member.flatMap({ call(domain, $0) }) {
        calls += ".each { $0\(call) }"
      } else {
        notes.append("\(property.name) has elements with a domain that cannot be written here")
      }
    }
    if let domain = property.keyDomain {
      if case .list = domain.values, let call = call(domain, .string) {
        calls += ".eachKey { $0\(call) }"
      } else {
        notes.append("\(property.name) has keys with a domain that cannot be written here")
      }
    }
    return (calls, notes)
  }

  private static func call(_ domain: Domain, _ type: PropertyType) -> String? {
    switch domain.values {
    case .list(let values):
      let literals = values.compactMap { SwiftLiteral.text($0, as: type) }
      guard literals.count == values.count else { return nil }
      let treatment = domain.treatment == .reject ? "" : ", else: .\(domain.treatment.rawValue)"
      return ".oneOf([\(literals.joined(separator: ", "))]\(treatment))"
    case .range(let least, let greatest):
      let low = least.flatMap { SwiftLiteral.text($0, as: type) }
      let high = greatest.flatMap { SwiftLiteral.text($0, as: type) }
      guard type.isOrdered, (low == nil) == (least == nil), (high == nil) == (greatest == nil)
      else { return nil }
      let (word, label) =
        switch domain.treatment {
        case .clamp: ("clamped", "to")
        case .reject: ("rejected", "outside")
        case .clear: ("cleared", "outside")
        }
      if let low, let high { return ".\(word)(\(label): \(low)...\(high))" }
      return ".\(word)(\(low.map { "below: \($0)" } ?? high.map { "above: \($0)" } ?? ""))"
    }
  }

  // MARK: Indexes and views

  private func line(_ index: IndexDefinition) -> String {
    var text = "\(index.isUnique ? "Unique" : "Index")(\(list(index.terms.map(term))))"
    if !index.covered.isEmpty { text += ".covering(\(list(index.covered.map(keyPath))))" }
    return text + condition(index.condition)
  }

  private func term(_ term: IndexDefinition.Term) -> String {
    var text = keyPath(term.property)
    if term.collation != .binary { text += ".\(term.collation.rawValue)" }
    return text + (term.isDescending ? ".descending" : "")
  }

  private func condition(_ condition: Condition?) -> String {
    condition.map { ".where { _ in Condition(\(SwiftLiteral.quoted("\($0)"))) }" } ?? ""
  }

  private func calls(_ view: ViewDefinition) -> [String] {
    let calls =
      switch view.content {
      case .groups(by: let names, let aggregates): calls(aggregates, by: names)
      case .top(by: let names, let terms): [call("Top", terms.map(term), by: names)]
      case .text(let names, let language):
        ["TextIndex(\(list(names.map(keyPath) + said(language))))"]
      }
    return calls.map { $0 + condition(view.condition) }
  }

  private func said(_ language: String?) -> [String] {
    language.map { ["language: \(SwiftLiteral.quoted($0))"] } ?? []
  }

  /// A line for each aggregate; those of one view are put together again. A sum counts as well.
  private func calls(_ aggregates: [ViewDefinition.Aggregate], by names: [String]) -> [String] {
    aggregates.enumerated().compactMap { index, aggregate in
      if aggregate == .count, aggregates.indices.contains(index + 1),
        case .sum = aggregates[index + 1]
      {
        return nil
      }
      return call(aggregate.word, aggregate.property.map { [keyPath($0)] } ?? [], by: names)
    }
  }

  private func call(_ word: String, _ arguments: [String], by names: [String]) -> String {
    let by = names.isEmpty ? [] : ["by: " + list(names.map(keyPath))]
    return "\(word)(\(list(arguments + by)))"
  }

  private func list(_ words: [String]) -> String { words.joined(separator: ", ") }
}

extension ViewDefinition.Aggregate {
  fileprivate var word: String {
    switch self {
    case .count: "Count"
    case .sum: "Sum"
    case .average: "Average"
    case .minimum: "Minimum"
    case .maximum: "Maximum"
    }
  }
}

extension PropertyType {
  /// True if its values can be compared in Swift.
  fileprivate var isOrdered: Bool {
    switch self {
    case .integer, .double, .string, .date, .uuid, .decimal: true
    default: false
    }
  }
}
