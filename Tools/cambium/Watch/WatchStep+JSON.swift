import Cambium

/// A step as a line of JSON:
///
///     {"v":1,"sequence":7,"rows":3,
///      "deletions":[{"at":2,"id":"eve","values":{…}}],
///      "insertions":[{"at":0,"id":"ada","values":{…}}],
///      "moves":[{"from":1,"to":2,"id":"bob"}],
///      "updates":[{"before":1,"after":2,"id":"bob","values":{"age":{"old":1,"new":2}}}]}
///
/// Where there are sections, a place is `[section, row]`, and `sections` has their deletions,
/// insertions and moves. ``ListDifference`` says in which order it is applied.
extension WatchStep {
  /// The line; `old` is the state before.
  func json(after old: WatchedList) -> JSONLine {
    var line: JSONLine = ["sequence": list.sequence, "rows": list.count]
    if list.isSectioned { line.add("sections", sections(after: old)) }
    line.add("deletions", difference.deletions.map { entry($0, in: old) })
    line.add("insertions", difference.insertions.map { entry($0, in: list) })
    line.add(
      "moves",
      difference.moves.map { move in
        ["from": place(move.from), "to": place(move.to), "id": list[move.to].identity] as JSONLine
      })
    line.add("updates", difference.updates.map { entry($0, after: old) })
    return line
  }

  private func sections(after old: WatchedList) -> JSONLine {
    func entries(_ numbers: [Int], _ list: WatchedList) -> [JSONLine] {
      numbers.map { ["at": $0, "value": list.sections[$0].value] }
    }
    return [
      "deletions": entries(difference.sectionDeletions, old),
      "insertions": entries(difference.sectionInsertions, list),
      "moves": difference.sectionMoves.map { ["from": $0.from, "to": $0.to] as JSONLine },
    ]
  }

  private func entry(_ at: SectionedPosition, in list: WatchedList) -> JSONLine {
    ["at": place(at), "id": list[at].identity, "values": Value.map(list[at].values)]
  }

  private func entry(_ update: ListDifference.Update, after old: WatchedList) -> JSONLine {
    let (before, after) = (old[update.before], list[update.after])
    let values = update.names.map { name in
      let line: JSONLine = ["old": before.values[name], "new": after.values[name]]
      return (name, line as (any JSONPart)?)
    }
    return [
      "before": place(update.before), "after": place(update.after), "id": after.identity,
      "values": JSONLine(values),
    ]
  }

  private func place(_ place: SectionedPosition) -> any JSONPart {
    list.isSectioned ? [place.section, place.item] : place.item
  }
}
