import Cambium

/// Undos as the commands print them: their conflicts, and what they would do.
///
///     conflict: users/ada born is 1817 and was left as 1816 (changed by 12)
enum UndoText {
  /// The largest number of conflicts that an error names.
  private static let namedMax = 3

  /// The reason why nothing was undone, in one line.
  static func message(_ conflicts: [UndoConflict]) -> String {
    let named = conflicts.prefix(namedMax).map(text).joined(separator: "; ")
    let more = conflicts.count - namedMax
    return "changed since: \(named)" + (more > 0 ? "; and \(more) more" : "")
  }

  /// A conflict in a line.
  static func text(_ conflict: UndoConflict) -> String {
    var place = conflict.path.isRoot ? "the root" : conflict.path.description
    if let property = conflict.property { place += " \(property)" }
    var text = "\(place) is \(value(conflict.found)), and was left \(value(conflict.left))"
    if conflict.found == conflict.left { text = "\(place): \(conflict.reason)" }
    if let sequence = conflict.changedBy { text += " (changed by \(sequence))" }
    return text
  }

  private static func value(_ value: Value?) -> String {
    value.map { ValueText.short($0) } ?? "nothing"
  }

  /// A conflict as JSON.
  static func json(_ conflict: UndoConflict) -> JSONLine {
    [
      "path": conflict.path.description, "property": conflict.property, "left": conflict.left,
      "found": conflict.found, "changedBy": conflict.changedBy, "reason": conflict.reason,
    ]
  }
}
