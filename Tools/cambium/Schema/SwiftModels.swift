import Cambium

/// Writes the models that declared collections are: structs with schemas, which compile.
///
/// A declaration does not say everything that the app's code said: what is not required is
/// optional, cases of enums are their raw values, and what is code is named in a comment, as are
/// conditions of indexes and views.
struct SwiftModels {
  typealias Declared = (path: Path, definition: CollectionDefinition)

  private let collections: [Declared]
  /// The structs' names, by collection.
  private var names: [Path: String] = [:]

  /// Names the structs, other than those in `taken`.
  init(_ collections: [Declared], taken: inout Set<String>) {
    self.collections = collections
    for (path, definition) in collections {
      if let model = definition.model, SwiftDeclarations.isPlain(model),
        taken.insert(model).inserted
      {
        names[path] = model
      } else {
        names[path] = SwiftDeclarations.structName(path, &taken)
      }
    }
  }

  /// The declarations, each after an empty line.
  var lines: [String] { collections.flatMap { [""] + model($0.path, $0.definition) } }

  private func model(_ path: Path, _ definition: CollectionDefinition) -> [String] {
    var (members, schema) = ([String](), [String]())
    var nested: [(name: String, members: [String])] = []
    for property in definition.properties {
      let parts = property.name.split(separator: ".", omittingEmptySubsequences: false)
      let words = parts.compactMap { SwiftDeclarations.identifier(String($0)) }
      guard words.count == parts.count, words.count <= 2, property.name != "id",
        !isShadowed(property.name, in: definition)
      else {
        members.append("// \(Terminal.escaped(property.name)): \(property.type)")
        continue
      }
      let line = declaration(words[words.count - 1], property)
      if words.count == 1 {
        members.append(line)
      } else {
        let index = nested.firstIndex { $0.name == words[0] } ?? nested.count
        if index == nested.count { nested.append((words[0], [])) }
        nested[index].members.append(line)
      }
      schema += rules(property, "\\.\(words.joined(separator: "."))")
    }
    for (name, inner) in nested {
      let type = SwiftModels.nestedType(name)
      members += ["var \(name) = \(type)()", "struct \(type): Nested {"]
      members += inner.map { "  " + $0 } + ["}"]
    }
    schema += definition.indexes.flatMap { lines(of: $0, definition) }
    schema += definition.views.flatMap { lines(of: $0, definition) }
    schema += definition.rulesInCode.map { "// in the app's code: \(Terminal.escaped($0))" }
    return text(path, definition, members, schema)
  }

  private func text(
    _ path: Path, _ definition: CollectionDefinition, _ members: [String], _ schema: [String]
  ) -> [String] {
    // One that does not know the steps by which the records came here must be a later one.
    let isLater = definition.steps.contains { $0.version >= definition.version }
    let version = definition.version + (isLater ? 1 : 0)
    let key = definition.keys == .uuid ? nil : definition.keys == .integer ? "Int" : "String"
    var lines = ["/// \(Terminal.escaped(path.description)), as declared."]
    lines.append("struct \(names[path] ?? "Model"): Model {")
    lines += key.map { ["  typealias Key = \($0)"] } ?? []
    lines += (["var id = ID()"] + members).map { "  " + $0 }
    let name = String(reflecting: path.description)
    let head = version == 1 ? name : "\(name), version: \(version)"
    lines.append("  static let schema = Schema<\(names[path] ?? "Model")>(\(head)) {")
    lines += schema.map { "    " + $0 } + ["  }", "}"]
    return lines
  }

  /// Whether another property has a part of the name, so that no struct could hold both.
  private func isShadowed(_ name: String, in definition: CollectionDefinition) -> Bool {
    definition.properties.contains {
      name.hasPrefix($0.name + ".") || $0.name.hasPrefix(name + ".")
    }
  }

  private static func nestedType(_ name: String) -> String {
    let plain = name.filter { $0 != "`" }
    return SwiftDeclarations.capitalized(plain) + "Part"
  }

  // MARK: Properties

  private func declaration(_ name: String, _ property: PropertyDefinition) -> String {
    let type = swiftType(property.type)
    if let absence = property.absence, let literal = SwiftModels.literal(absence) {
      return "var \(name): \(type) = \(literal)"
    }
    guard property.isRequired, let start = SwiftModels.start(property.type) else {
      return "var \(name): \(type)?"
    }
    return "var \(name): \(type) = \(start)"
  }

  private func swiftType(_ type: PropertyType) -> String {
    switch type {
    case .reference(let path): names[path].map { "\($0).ID" } ?? "Value"
    case .array(let element): "[\(swiftType(element))]"
    case .map(let element): "[String: \(swiftType(element))]"
    case .keyed(by: let path, let element):
      "[\(names[path].map { "\($0).ID" } ?? "String"): \(swiftType(element))]"
    default: type.swiftName
    }
  }

  /// What a property of a type is initially; nil where nothing offers itself.
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

  private static func literal(_ value: Value) -> String? {
    switch value {
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .double(let value): value.isFinite ? "\(value)" : nil
    case .string(let value): String(reflecting: value)
    default: nil
    }
  }

  private func rules(_ property: PropertyDefinition, _ keyPath: String) -> [String] {
    var (calls, notes) = ("", [String]())
    if let label = property.label {
      let words = [label, property.documentation].compactMap { $0.map { String(reflecting: $0) } }
      calls += ".labelled(\(words.joined(separator: ", ")))"
    }
    if property.isRequired { calls += ".required()" }
    if property.absence.flatMap(SwiftModels.literal) != nil { calls += ".defaultOnEmpty()" }
    if case .reference(let path) = property.type.element, names[path] != nil {
      calls += property.deleteRule.map { ".onDelete(.\($0.rawValue))" } ?? ""
      if property.mustExist { calls += ".mustExist()" }
    }
    if let domain = property.domain {
      if let call = SwiftModels.call(domain) {
        calls += call
      } else {
        notes.append("// \(Terminal.escaped(property.name)) has a domain that is not told here")
      }
    }
    return (calls.isEmpty ? [] : ["Property(\(keyPath))\(calls)"]) + notes
  }

  private static func call(_ domain: Domain) -> String? {
    switch (domain.values, domain.treatment) {
    case (.list(let values), .reject):
      let literals = values.compactMap(literal)
      return literals.count == values.count ? ".oneOf([\(literals.joined(separator: ", "))])" : nil
    case (.range(let least?, let greatest?), let treatment):
      guard let least = literal(least), let greatest = literal(greatest) else { return nil }
      let word =
        switch treatment {
        case .clamp: "clamped(to: "
        case .reject: "rejected(outside: "
        case .clear: "cleared(outside: "
        }
      return ".\(word)\(least)...\(greatest))"
    default: return nil
    }
  }

  // MARK: Indexes and views

  private func keyPath(_ name: String) -> String {
    let words = name.split(separator: ".").map { SwiftDeclarations.identifier(String($0)) ?? "?" }
    return "\\." + words.joined(separator: ".")
  }

  private func term(_ term: IndexDefinition.Term) -> String {
    var text = keyPath(term.property)
    if term.collation != .binary { text += ".\(term.collation.rawValue)" }
    return text + (term.isDescending ? ".descending" : "")
  }

  /// A line, or a comment where its condition would be lost, or a property cannot be named.
  private func line(
    _ text: String, _ condition: Condition?, _ names: [String], _ definition: CollectionDefinition
  ) -> [String] {
    if let condition { return ["// \(text).where { \(Terminal.escaped("\(condition)")) }"] }
    let isTold = names.allSatisfy { name in
      definition[name] != nil && name != "id" && !isShadowed(name, in: definition)
        && name.split(separator: ".", omittingEmptySubsequences: false).count <= 2
        && name.split(separator: ".", omittingEmptySubsequences: false)
          .allSatisfy { SwiftDeclarations.identifier(String($0)) != nil }
    }
    return [isTold ? text : "// \(Terminal.escaped(text))"]
  }

  private func lines(of index: IndexDefinition, _ definition: CollectionDefinition) -> [String] {
    var text = "\(index.isUnique ? "Unique" : "Index")(\(list(index.terms.map(term))))"
    if !index.covered.isEmpty { text += ".covering(\(list(index.covered.map(keyPath))))" }
    return line(
      text, index.condition, index.terms.map(\.property) + index.covered, definition)
  }

  private func lines(of view: ViewDefinition, _ definition: CollectionDefinition) -> [String] {
    switch view.content {
    case .groups(by: let names, let measures):
      // A sum counts as well.
      let told = measures.count > 1 ? measures.filter { $0 != .count } : measures
      return told.flatMap { measure in
        line(
          call(measure.word, measure.property.map { [keyPath($0)] } ?? [], by: names),
          view.condition, names + [measure.property].compactMap(\.self), definition)
      }
    case .top(by: let names, let terms):
      return line(
        call("Top", terms.map(term), by: names), view.condition,
        names + terms.map(\.property), definition)
    case .text(let names, let language):
      let language = language.map { [", language: \"\($0)\""] } ?? []
      return line(
        "TextIndex(\(list(names.map(keyPath)))\(language.joined()))", view.condition, names,
        definition)
    }
  }

  private func call(_ word: String, _ arguments: [String], by names: [String]) -> String {
    let by = names.isEmpty ? [] : ["by: " + list(names.map(keyPath))]
    return "\(word)(\(list(arguments + by)))"
  }

  private func list(_ words: [String]) -> String { words.joined(separator: ", ") }
}

extension ViewDefinition.Measure {
  fileprivate var word: String {
    switch self {
    case .count: "Count"
    case .sum: "Sum"
    case .average: "Average"
    case .minimum: "Minimum"
    case .maximum: "Maximum"
    }
  }

  fileprivate var property: String? {
    switch self {
    case .count: nil
    case .sum(let name), .average(let name), .minimum(let name), .maximum(let name): name
    }
  }
}

extension PropertyType {
  /// What one of its values is, where it holds several in order.
  fileprivate var element: PropertyType {
    if case .array(let element) = self { element } else { self }
  }
}

extension PropertyType {
  /// The Swift type of a single value; `Value` for what has no type that is the same for everybody.
  var swiftName: String {
    switch self {
    case .bool: "Bool"
    case .integer: "Int"
    case .double: "Double"
    case .string: "String"
    case .data: "Data"
    case .date: "Date"
    case .uuid: "UUID"
    case .decimal: "Decimal"
    case .blob: "Blob"
    default: "Value"
    }
  }
}
