import Cambium

/// A collection's declaration for people: what holds for each property, then indexes, views, what
/// the app checks by code, and what was done to the records.
///
///     people  5 records, Person, version 2, integer keys
///       name      text  required
///       nick      string  in 2 of 5, not declared
///       born      an integer  from 1800 to 2100
///       unique    name
///       step      full name  tx 5
struct DeclarationText {
  let path: NodePath
  let definition: CollectionDefinition
  let count: Int
  /// The features that its records were seen to have; nil where nobody looked.
  var survey: CollectionSurvey?

  /// The lines, the first one flush left.
  var lines: [StyledLine] {
    var lines = [heading]
    let undeclared = survey?.undeclared(in: definition) ?? []
    let names =
      (definition.properties.map(\.name) + undeclared.compactMap(\.name)).map {
        Terminal.escaped($0)
      } + ["unique", "index"]
    let width = names.map(Terminal.displayWidth).max() ?? 0
    func line(_ word: String, _ text: String, _ rest: [String] = []) {
      var line = StyledLine("  \(Terminal.padded(Terminal.escaped(word), to: width))", .metadata)
      line.add("  \(Terminal.escaped(text))")
      let note = rest.joined(separator: ", ")
      if !note.isEmpty { line.add("  \(Terminal.escaped(note))", .metadata) }
      lines.append(line)
    }
    for property in definition.properties {
      line(property.name, "\(property.type)", property.rules)
    }
    for property in undeclared {
      let whole = survey?.records ?? 0
      let (part, all) = (Quantity.count(property.present), Quantity.count(whole))
      line(
        property.name ?? "", property.typeNames.joined(separator: " or "),
        (property.present < whole ? ["in \(part) of \(all)"] : []) + ["not declared"])
    }
    for index in definition.indexes { line(index.isUnique ? "unique" : "index", index.text) }
    for view in definition.views { line("view", view.text) }
    for rule in definition.rulesInCode { line("rule", rule, ["only the app checks it"]) }
    for step in definition.steps {
      line("step", StepText.words(step.name), step.sequence == .zero ? [] : ["tx \(step.sequence)"])
    }
    if let migration = definition.migration {
      let steps = migration.steps.map { StepText.words($0) }.joined(separator: "; ")
      line("migrating", steps, ["\(Quantity.count(migration.done)) of \(Quantity.count(count))"])
    }
    return lines
  }

  private var heading: StyledLine {
    var line = StyledLine(Terminal.escaped(path.description), .heading)
    var words = ["\(Quantity.count(UInt64(count), "record"))"]
    words += definition.model.map { ["declared as \(Terminal.escaped($0))"] } ?? ["declared"]
    words.append("version \(definition.version)")
    words += definition.keys.map { ["\($0.rawValue) keys"] } ?? []
    line.add("  \(words.joined(separator: ", "))")
    return line
  }
}

extension PropertyDefinition {
  /// The rules that hold for it besides its type.
  fileprivate var rules: [String] {
    var rules = [label, documentation].compactMap { $0.map { "“\($0)”" } }
    if isRequired { rules.append("required") }
    if let absence { rules.append("\(ValueText.short(absence)) where absent") }
    if let domain { rules.append(domain.text) }
    if let elementDomain { rules.append("each \(elementDomain.text)") }
    if let keyDomain { rules.append("each key \(keyDomain.text)") }
    if let deleteRule { rules.append("on delete \(deleteRule.rawValue)") }
    if mustExist { rules.append("must exist") }
    return rules
  }
}

extension Domain {
  fileprivate var text: String {
    let range =
      switch values {
      case .list(let values):
        "one of \(values.map { ValueText.short($0) }.joined(separator: ", "))"
      case .range(let least, let greatest):
        [least.map { "from \(ValueText.short($0))" }, greatest.map { "to \(ValueText.short($0))" }]
          .compactMap(\.self).joined(separator: " ")
      }
    return treatment == .reject ? range : "\(range) by \(treatment.rawValue)"
  }
}
