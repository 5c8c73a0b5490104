import Cambium

/// `cambium patch`: changes some properties of a record.
enum PatchCommand {
  static let changes = Operand(
    "OBJECT", .text,
    "a JSON object of properties, or - to read it from standard input; null takes one out")

  static let command = Command(
    name: "patch", group: .change,
    summary: "changes some properties of a record",
    discussion: """
      As in RFC 7396, a property that is null is taken out, those not named stay, and an object
      changes the members of the object that is there in the same way.
      """,
    operands: [.database, .path, changes],
    options: Option.change + [.quiet] + Option.output(.short, .json) + [.color],
    examples: [
      "cambium patch team.cambium users/ada '{\"born\": 1815, \"draft\": null}'":
        "one set, one taken out",
      "cambium patch team.cambium users/ada '{\"born\": 1816}' --if-seq 12":
        "unless somebody wrote since 12",
    ],
    servings: [Serving(.post, scope: .paths, isObject: true, body: changes.name)], run: run)

  static func run(_ call: Call) throws {
    let value = try Changing.json(changes, call)
    guard case .map(let patch) = value, !patch.isEmpty else {
      throw Failure.usage(
        "\(changes.name) must be a JSON object that names a property",
        hint: "`cambium put` sets a node's whole value")
    }
    let path = call.value(.path).path
    try Changing.run(call) { tx in
      guard try tx[path].exists else {
        throw try MissingNode.failure(path, below: tx[.root], call.database)
      }
      let node = tx[path]
      let updates = try patch.members.map { member in
        (member.name, try merged(node[member.name], member.value))
      }
      try tx.update(path, updates)
    }
  }

  /// The value after a patch, or nil where the patch takes it out (RFC 7396).
  ///
  /// It calls itself for the members of a record, so not deeper than values nest.
  static func merged(_ old: Value?, _ patch: Value) -> Value? {
    switch patch {
    case .null: return nil
    case .map(let changes):
      var record = ValueMap()
      if case .map(let old)? = old { record = old }
      for member in changes.members {
        record[member.name] = merged(record[member.name], member.value)
      }
      return .map(record)
    default: return patch
    }
  }
}
