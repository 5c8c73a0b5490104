import Cambium
import Simulation

/// Questions about a collection whose records have p, q and r, each a number, a text or nothing.
struct LetterQuestions {
  private(set) var all: [JudgedQuery] = []

  init(_ collection: NodePath, _ world: World) {
    let table = ScriptTable(collection, world)
    all.append(
      JudgedQuery(
        [
          "\(collection) select r sort -q, p, id",
          "\(collection) where \(ScriptTable.always) select r, q, p sort -q ignoring case, p, id",
        ], ["id", "r"], table.sorted(by: ["-q", "p"]).column(["id", "r"])))
    all.append(table.groups(by: "p", (.sum, of: "q"), (.max, of: "r")))
    guard let value = table.rows.compactMap({ $0.values["p"] }).first else { return }
    all.append(table.filter { $0["p"] == value }.count(where: "p = \(value.literal)"))
  }
}

/// Questions about ``Members``, whose indexes and views come and go.
struct MemberQuestions {
  private(set) var all: [JudgedQuery] = []

  init(_ world: World, _ random: inout SeededGenerator) {
    let (table, path) = (ScriptTable(Members.path, world), Members.path)
    let sorted = table.sorted(by: ["-points", "score"])
    let names = sorted.rows.map { row in
      let captain = row.values["captain"].flatMap { key in table.rows.first { $0.key == key } }
      return [row.key, row.values["name"] ?? .null, captain?.values["name"] ?? .null]
    }
    let order = "sort -points, score, id"
    all.append(
      JudgedQuery(
        [
          "\(path) select name, captain.name \(order)",
          "\(path) where \(ScriptTable.always) select name, captain.name, captain, score \(order)",
        ], ["id", "name", "captain.name"], names))
    all.append(table.groups(by: "score", (.sum, of: "points"), (.max, of: "name")))
    let score = Value.integer(Int64(random.below(5)))
    let some = table.filter { $0["score"] == score }
    let (condition, first) = ("score = \(score.literal)", "sort -name limit 2")
    all.append(
      JudgedQuery(
        [
          "\(path) where \(condition) select name, points \(first)",
          "\(path) where not (not \(condition)) select name, points \(first)",
        ], ["id", "name", "points"],
        some.sorted(by: ["-name"]).prefix(2).column(["id", "name", "points"])))
    all.append(some.count(where: condition))
  }
}
