import Cambium

/// The message about a path where nothing is: which part of it is missing, and what was probably
/// meant.
enum MissingNode {
  /// More names than these are not looked through.
  private static let namesMax = 1000

  /// The failure, for a path where `root` has nothing below it, as of a moment if the past was
  /// asked for.
  static func failure(
    _ path: NodePath, below root: Node, _ database: String, at moment: SequenceNumber? = nil,
    verb: String = "is", base: NodePath = Surroundings.current().base
  ) throws -> Failure {
    var parent = root
    var missing = path.last
    for key in path.keys {
      missing = key
      let child = parent.child(key)
      guard try child.exists else { break }
      parent = child
    }
    let time = moment.map { " after transaction \($0)" } ?? ""
    return Failure(
      .missing, "not_found",
      "nothing \(verb) at \(path.isRoot ? "the root" : path.description)\(time)",
      hint: try hint(parent, missing, database, lead: base.isRoot ? "" : "/"))
  }

  /// Refuses a node that is not there, in a snapshot that --at may have chosen.
  static func check(_ node: Node, _ snapshot: Snapshot, _ call: Call) throws {
    if try node.exists { return }
    throw try failure(
      node.path, below: snapshot.root, call.database,
      at: call.has(.at) ? snapshot.sequence : nil)
  }

  /// `lead` is what a path from the root begins with: a slash, where paths start elsewhere.
  private static func hint(
    _ parent: Node, _ missing: Key?, _ database: String, lead: String
  ) throws -> String {
    let names = try names(below: parent)
    let name = missing?.description ?? ""
    if let nearest = Suggestion.nearest(to: name, in: names), let key = try? Key(nearest) {
      return "did you mean \(lead)\(parent.path.appending(key))?"
    }
    if names.isEmpty && parent.path.isRoot { return "the database has no nodes" }
    let path = lead + parent.path.description
    let operands = path.isEmpty ? [database] : [database, path]
    let words = operands.map(Shell.quoted).joined(separator: " ")
    return "`cambium tree --depth 1 \(words)` shows what is there"
  }

  /// Children and properties.
  private static func names(below node: Node) throws -> [String] {
    var names: [String] = []
    if case .map(let record)? = try node.value { names = record.members.map(\.name) }
    try node.children.limit(namesMax).forEach { child in
      if let key = child.key { names.append(key.description) }
    }
    return names
  }
}
