// `cambium info --readers` and `--checkpoints`: who holds space back, and the start of a rebuild.

import Cambium

extension InfoCommand {
  static let readers = Option(flag: "readers", "list the moments that are read now, and by whom")
  static let checkpoints = Option(
    flag: "checkpoints", "list the copies of the state from which a rebuild can start")

  /// The options that ask for a list instead of the overview.
  static let lists = [readers, checkpoints]

  /// The offer of a list under its own name.
  static func serving(_ list: Option) -> Serving {
    let others = [by, depth, groups] + lists
    return Serving(
      .get, without: others.map(\.name).filter { $0 != list.name }, fixed: [list.name],
      name: list.name, summary: list.help.replacing("list ", with: "lists ", maxReplacements: 1))
  }

  static func checkLists(_ call: Call) throws {
    let given = ([by] + lists).filter(call.has).map { "--\($0.name)" }
    if given.count > 1 { throw Failure.usage("\(given[0]) and \(given[1]) exclude each other") }
  }

  static func tell(readersOf database: Database, _ call: Call) throws {
    let writer = try ListWriter(
      call, columns: ["process", "environment", "behind", "sequence", "age"])
    for held in try database.heldSnapshots() {
      if call.format == .short {
        try call.output.line(text(held))
        continue
      }
      try writer.write([
        "process": UInt64(held.process), "environment": held.environment, "behind": held.behind,
        "sequence": held.sequence, "age": held.age?.seconds,
      ])
    }
    try writer.finish()
  }

  private static func text(_ held: HeldSnapshot) -> String {
    var text = "process \(held.process)  \(held.environment), \(Quantity.count(held.behind)) behind"
    if let sequence = held.sequence { text += ": tx \(sequence)" }
    if let age = held.age { text += ", for \(Quantity.seconds(age))" }
    return text
  }

  static func tell(checkpointsOf database: Database, _ call: Call) throws {
    let writer = try ListWriter(call, columns: ["sequence", "behind", "bytes", "made"])
    let head = try database.head
    for checkpoint in try database.checkpoints() {
      let behind = head.rawValue - min(head, checkpoint.sequence).rawValue
      if call.format == .short {
        let made = checkpoint.made.map { ", made \(Zone.system.textWithOffset($0))" } ?? ""
        try call.output.line(
          "tx \(checkpoint.sequence), \(Quantity.count(behind)) behind: "
            + Quantity.bytes(checkpoint.bytes) + made)
        continue
      }
      try writer.write([
        "sequence": checkpoint.sequence, "behind": behind, "bytes": checkpoint.bytes,
        "made": checkpoint.made,
      ])
    }
    try writer.finish()
  }
}
