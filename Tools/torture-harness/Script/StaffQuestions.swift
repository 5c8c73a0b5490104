import Cambium
import Simulation

/// Questions about ``Staff``: one for each index, and for what each view can answer.
struct StaffQuestions {
  private(set) var all: [JudgedQuery] = []
  private let table: ScriptTable
  private let path = Staff.path

  init(_ world: World, _ random: inout SeededGenerator) {
    table = ScriptTable(Staff.path, world)
    let team = Value.string(random.pick(Staff.teams))
    let members = table.filter { $0["team"] == team }
    ask("team = \(team.literal)", "name", "sort pay, id", members.sorted(by: ["pay"]), ["name"])
    ask(nil, "name, team", "sort -pay, id", table.sorted(by: ["-pay"]), ["name", "team"])
    let tag = Value.integer(Int64(random.below(5)))
    ask(
      "tags has \(tag.literal)", "pay", "sort id",
      table.filter { $0["tags"]?.list.contains(tag) ?? false }, ["pay"])
    ask(
      "pay >= \(Staff.payMin)", "pay", "sort -name, id",
      table.filter { $0["pay"]?.number.map { $0 >= Staff.payMin } ?? false }.sorted(by: ["-name"]),
      ["pay"])
    if let badge = table.rows.last?.values["badge"] {
      ask(
        "badge = \(badge.literal)", "pay", "sort id", table.filter { $0["badge"] == badge },
        ["pay"])
    }
    askViews(team, members)
  }

  /// Asks for some records, once so that an index can answer alone.
  private mutating func ask(
    _ condition: String?, _ selection: String, _ order: String, _ answer: ScriptTable,
    _ names: [String]
  ) {
    let plainly = condition.map { "not (not \($0))" } ?? ScriptTable.always
    all.append(
      JudgedQuery(
        [
          "\(path) \(condition.map { "where \($0) " } ?? "")select \(selection) \(order)",
          "\(path) where \(plainly) select \(selection), badge, tags \(order)",
        ], ["id"] + names, answer.column(["id"] + names)))
  }

  private mutating func askViews(_ team: Value, _ members: ScriptTable) {
    all.append(
      table.groups(by: "team", (.sum, of: "pay"), (.max, of: "name"), (.min, of: "pay")))
    let (condition, first) = ("team = \(team.literal)", "sort -pay limit 2")
    all.append(
      JudgedQuery(
        [
          "\(path) where \(condition) select pay, badge \(first)",
          "\(path) where not (not \(condition)) select pay, badge \(first)",
        ], ["pay"], members.sorted(by: ["-pay"]).prefix(2).column(["pay"])))
    all.append(members.count(where: condition))
  }
}
