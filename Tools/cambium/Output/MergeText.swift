import Cambium

/// Conflicts of a merge as the commands print them.
///
///     conflict: users/ada born was 1815: 1816 here (12, actor=ada), 1817 there (9, actor=bob)
enum MergeText {
  /// The largest number of conflicts that an error names.
  private static let namedMax = 3

  /// The reason why nothing was merged, in one line.
  static func message(_ conflicts: [MergeConflict]) -> String {
    let named = conflicts.prefix(namedMax).map(\.description).joined(separator: "; ")
    let more = conflicts.count - namedMax
    return "changed on both sides: \(named)" + (more > 0 ? "; and \(more) more" : "")
  }

  /// A conflict as JSON.
  static func json(_ conflict: MergeConflict) -> JSONLine {
    [
      "path": conflict.path.description, "property": conflict.property, "base": conflict.base,
      "here": json(conflict.here), "there": json(conflict.there), "reason": conflict.reason,
    ]
  }

  private static func json(_ side: MergeConflict.Side) -> JSONLine {
    [
      "value": side.value, "changedBy": side.changedBy, "time": side.time,
      "metadata": side.metadata,
    ]
  }
}
