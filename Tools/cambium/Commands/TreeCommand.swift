import Cambium
import FoundationEssentials

/// `cambium tree`: the nodes below one, drawn as a tree.
enum TreeCommand {
  static let path = Operand.subtree("the node to start at; else the root")
  static let depth = Option("depth", "N", .number(0...Int.max), "how many levels to show")
  static let limit = Option(
    "limit", "N", .number(0...Int.max),
    "how many children of a node to show; else 20, and all unless people read it")
  static let after = Option(
    "after", "PATH", .text,
    "begin after this node, whose path is counted from PATH: a key, or several")
  static let ascii = Option(flag: "ascii", "draw with the characters of ASCII")

  static let command = Command(
    name: "tree", group: .look,
    summary: "draws the nodes below one",
    discussion: """
      A node stands with its value, cut where it is long, and the number of its children. Where it
      has more children than --limit, the rest is only counted; `cambium export` writes all. JSON
      and tables have a line for each node, in path order, also for those without a value of their
      own.
      """,
    operands: [.database, path],
    options: [depth, limit, after, .at, ascii] + Option.reading,
    examples: [
      "cambium tree air.cambium --depth 1": "the collections",
      "cambium tree src.cambium repo/Sources --at HEAD~10": "a subtree ten transactions ago",
    ],
    servings: [Serving(.get, scope: .paths, isPaged: true, without: ["ascii"])], run: run)

  static func run(_ call: Call) throws {
    let database = try OpenDatabase.forReading(call)
    let snapshot = try OpenDatabase.snapshot(call[.at]?.moment, of: database)
    let node = snapshot[call[path]?.path ?? .root]
    try MissingNode.check(node, snapshot, call)
    let writer = try ListWriter(call, columns: ["path", "value", "children"])
    let start = try call[after].map { try place($0.text, below: node) }
    let isPast = try snapshot.sequence < database.head
    if call.format != .short { return try list(node, after: start, isPast: isPast, call, writer) }
    try draw(node, after: start, isPast: isPast, call)
  }

  private static func walk(_ call: Call, _ marks: TreeWalk.Marks, childrenMax: Int) -> TreeWalk {
    TreeWalk(
      marks: marks, depthMax: call[depth]?.number ?? .max,
      childrenMax: call[limit]?.number ?? childrenMax)
  }

  /// The keys of `--after`, which lead from the first node to the last that was seen.
  private static func place(_ text: String, below node: Node) throws -> [Key] {
    do { return Array(try NodePath(text).keys) } catch {
      throw Failure.usage("--after is the path of a node below the first one")
    }
  }

  private static func list(
    _ start: Node, after place: [Key]?, isPast: Bool, _ call: Call, _ writer: ListWriter
  ) throws {
    // Whoever asks for all there is gets all there is; a page is to come soon.
    let isCounted = call[limit] == nil && call.page.size == nil
    var last: Node?
    let walk = walk(call, .none, childrenMax: .max)
    try walk.forEach(from: start, after: place) { _, node in
      try call.page.turn {
        let keys = (last ?? start).path.keys.dropFirst(start.path.depth)
        return [(name: "after", value: NodePath(keys: keys).description)]
      }
      last = node
      let tally = try ChildTally(node, isPast: isPast && !isCounted)
      try writer.write([
        "path": node.path.description, "value": node.value, "children": tally.number,
        "childrenAtLeast": tally.isAtLeast ? true : nil,
      ])
    } cut: { _, _, _ in
    }
    try writer.finish()
  }

  private static func draw(_ start: Node, after place: [Key]?, isPast: Bool, _ call: Call) throws {
    let marks =
      call.has(ascii)
      ? .ascii : TreeWalk.Marks.fitting(Surroundings.current().environment)
    try walk(call, marks, childrenMax: 20).forEach(from: start, after: place) { prefix, node in
      var line = StyledLine(prefix)
      line.add(name(of: node, isFirst: prefix.isEmpty, call), prefix.isEmpty ? .heading : nil)
      try addValue(of: node, to: &line, marks, call.output)
      let tally = try ChildTally(node, isPast: isPast)
      if !tally.isNone { line.add("  \(tally.text)", .metadata) }
      try call.output.line(line)
    } cut: { prefix, node, drawn in
      let left = try ChildTally(node, isPast: isPast).left(after: drawn)
      let more = StyledLine("\(marks.more) \(left) more", .metadata)
      try call.output.line(StyledLine(prefix) + more)
    }
  }

  /// The first node has its whole path, or the database's name for the root; others have their key.
  private static func name(of node: Node, isFirst: Bool, _ call: Call) -> String {
    guard isFirst else {
      return node.key.map { Terminal.escaped(NodePath.escaped($0.description)) } ?? ""
    }
    return Terminal.escaped(node.path.isRoot ? call.database : node.path.description)
  }

  private static func addValue(
    of node: Node, to line: inout StyledLine, _ marks: TreeWalk.Marks, _ output: Output
  ) throws {
    switch try node.value {
    case nil: break
    case .map(let record)?:
      for item in ValueText.properties(record) {
        line.add("  ")
        if line.width + item.width > output.columns { return line.add(marks.more, .metadata) }
        line.add(item)
      }
    case let value?: line.add("  \(ValueText.short(value))")
    }
  }
}
