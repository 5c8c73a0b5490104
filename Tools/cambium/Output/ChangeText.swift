import Cambium

/// Changes as the commands print them.
///
///     + users/bob  name Bob  born 1980
///     ~ users/ada  born 1815 → 1816  +email "ada@example.org"  -draft
///     - users/eve  name Eve
struct ChangeText {
  let output: Output
  /// The indentation of the lines.
  var indent = 0

  /// Writes a change for people.
  func write(_ change: Change) throws {
    try write(Terminal.escaped(change.path.description), from: change.old, to: change.new)
  }

  /// Writes a step of a node's history, for people.
  func write(_ step: HistoryStep) throws {
    if let origin = step.origin {
      let start = StyledLine(spaces: indent) + StyledLine(">", .updated)
      let move = ChangeText.arrow(
        Terminal.escaped(origin.description), Terminal.escaped(step.path.description))
      try output.line(start + "  " + move)
      if step.kind == .rewritten { return }
    }
    if step.kind == .rewritten { return try write(mark: "=", .metadata, "") }
    if step.old != nil || step.new != nil { return try write("", from: step.old, to: step.new) }
    let isThere = step.kind != .went
    try write(mark: isThere ? "+" : "-", isThere ? .inserted : .deleted, "  no value of its own")
  }

  private func write(mark: String, _ role: Role, _ text: String) throws {
    try output.line(
      StyledLine(spaces: indent) + StyledLine(mark, role) + StyledLine(text, .metadata))
  }

  /// Writes how a value has changed, under a name or none.
  func write(_ name: String, from old: Value?, to new: Value?) throws {
    let (mark, role): (String, Role) =
      switch (old, new) {
      case (nil, _): ("+", .inserted)
      case (_, nil): ("-", .deleted)
      default: ("~", .updated)
      }
    var head = StyledLine(spaces: indent)
    head.add(name.isEmpty ? mark : "\(mark) \(name)", role)
    let items = ChangeText.items(from: old, to: new)
    for line in StyledLine.filled(head, items, columns: output.columns) {
      try output.line(line.text(output.style))
    }
  }

  private static func items(from old: Value?, to new: Value?) -> [StyledLine] {
    switch (old, new) {
    case (.map(let old)?, .map(let new)?): return items(from: old, to: new)
    case (let old?, let new?): return [arrow("", old, new)]
    case (.map(let record)?, nil), (nil, .map(let record)?):
      return ValueText.properties(record)
    case (let value?, nil), (nil, let value?): return [StyledLine(ValueText.short(value))]
    case (nil, nil): return [StyledLine("no value of its own", .metadata)]
    }
  }

  /// The properties that differ; both records are walked in order of their names.
  private static func items(from old: ValueMap, to new: ValueMap) -> [StyledLine] {
    var items: [StyledLine] = []
    for member in old.members {
      let name = Terminal.escaped(member.name)
      switch new[member.name] {
      case nil: items.append(StyledLine("-\(name)", .deleted))
      case let value? where value != member.value:
        items.append(arrow(name + " ", member.value, value))
      default: break
      }
    }
    for member in new.members where old[member.name] == nil {
      let name = StyledLine("+\(Terminal.escaped(member.name)) ", .inserted)
      items.append(name + ValueText.short(member.value))
    }
    return items
  }

  private static func arrow(_ name: String, _ old: Value, _ new: Value) -> StyledLine {
    StyledLine(name, .metadata) + arrow(ValueText.short(old), ValueText.short(new))
  }

  private static func arrow(_ old: String, _ new: String) -> StyledLine {
    StyledLine("\(old) ") + StyledLine("→", .updated) + " \(new)"
  }

  /// A change as a line of JSON. A value that was not there has no member.
  static func json(_ change: Change) -> JSONLine {
    ["path": change.path.description, "old": change.old, "new": change.new]
  }

  /// The fields of a change's row.
  static let columns = ["path", "old", "new"]
}
