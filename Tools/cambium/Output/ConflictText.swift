import Cambium

/// A conflict of an undo or a merge as the commands print it.
///
///     conflict: users/ada born is 1817 and was left as 1816 (changed by 12)
///     conflict: users/ada born was 1815: 1816 here (12, actor=ada), 1817 there (9, actor=bob)
protocol ToldConflict {
  /// The conflict in a line.
  var words: String { get }
  var json: JSONLine { get }
}

extension UndoConflict: ToldConflict {
  var words: String {
    func text(_ value: Value?) -> String { value.map { ValueText.short($0) } ?? "nothing" }
    var place = path.isRoot ? "the root" : path.description
    if let property { place += " \(property)" }
    let words =
      found == left
      ? "\(place): \(reason)" : "\(place) is \(text(found)), and was left \(text(left))"
    return words + (changedBy.map { " (changed by \($0))" } ?? "")
  }

  var json: JSONLine {
    [
      "path": path.description, "property": property, "left": left, "found": found,
      "changedBy": changedBy, "reason": reason,
    ]
  }
}

extension MergeConflict: ToldConflict {
  var words: String { description }

  var json: JSONLine {
    [
      "path": path.description, "property": property, "base": base, "here": json(here),
      "there": json(there), "reason": reason,
    ]
  }

  private func json(_ side: Side) -> JSONLine {
    [
      "value": side.value, "changedBy": side.changedBy, "time": side.time,
      "metadata": side.metadata,
    ]
  }
}

/// An undo or a merge, done or only looked at, as its command tells it.
struct ConflictingChange {
  /// The largest number of conflicts that an error names.
  private static let namedMax = 3

  /// Members of its JSON, besides the conflicts and changes.
  var json: JSONLine
  /// The same as a line of text.
  let line: String
  let conflicts: [any ToldConflict]
  /// The changes that it would make; nil where it is done.
  var changes: [Change]?

  /// The reason why nothing was done, in one line.
  static func message(_ start: String, _ conflicts: [any ToldConflict]) -> String {
    let named = conflicts.prefix(namedMax).map(\.words).joined(separator: "; ")
    let more = conflicts.count - namedMax
    return "\(start): \(named)" + (more > 0 ? "; and \(more) more" : "")
  }

  /// Prints it.
  ///
  /// - Throws: A failure where it would be refused.
  func tell(_ resolution: ConflictResolution, _ output: Output) throws {
    if changes == nil && output.isQuiet { return }
    if output.format.isJSON { try output.object(whole) } else { try tellLines(resolution, output) }
    if changes != nil && resolution == .refuse && !conflicts.isEmpty {
      throw Failure.silent(.refused)
    }
  }

  private var whole: JSONLine {
    var whole = json
    whole.add("conflicts", conflicts.map(\.json))
    whole.add("changes", changes?.map(ChangeText.json))
    return whole
  }

  private func tellLines(_ resolution: ConflictResolution, _ output: Output) throws {
    try output.line(line)
    let text = ChangeText(output: output)
    for change in changes ?? [] { try text.write(change) }
    let word =
      switch resolution {
      case .refuse: "conflict"
      case .skipConflicts: "left"
      case .overwrite: "overwritten"
      }
    for conflict in conflicts { try output.line("\(word): \(Terminal.escaped(conflict.words))") }
    if changes != nil && conflicts.isEmpty { try output.line("no conflicts") }
  }
}
