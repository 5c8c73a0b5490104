import Cambium

/// `cambium mv`: gives a node another path.
enum MoveCommand {
  static let source = Operand("PATH", .path, "the node, as in users/ada")
  static let target = Operand("NEWPATH", .path, "its new path, with its key there")

  static let command = Command(
    name: "mv", group: .change,
    summary: "moves a node and all below it",
    discussion: """
      One transaction, however much is below. Nothing may be at NEWPATH, and it cannot be inside the
      node; nodes above it are created. References to a record that was moved keep its old key.
      """,
    operands: [.database, source, target],
    options: Option.change + [.quiet] + Option.output(.short, .json) + [.color],
    examples: [
      "cambium mv team.cambium users/ada former/ada --reason 'left the team'": "another collection",
      "cambium mv team.cambium users/ada users/lovelace": "another key",
    ],
    servings: [Serving(.post, scope: .paths, isObject: true, name: "move")], run: run)

  static func run(_ call: Call) throws {
    let (source, target) = (call.value(source).path, call.value(target).path)
    try Changing.run(call) { tx in
      guard try tx[source].exists else {
        throw try MissingNode.failure(source, below: tx[.root], call.database)
      }
      try tx.move(source, to: target)
    }
  }
}
