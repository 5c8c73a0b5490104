// `cambium info --by`: what the bytes of a database are.

import Cambium

extension InfoCommand {
  static let by = Option(
    "by", "WHAT[,WHAT…]", .text,
    "what the bytes are: by collection, property, age, table, environment")
  static let depth = Option(
    "depth", "N", .number(1...1000), "with --by: how many keys of a path name a collection",
    fallback: "1")
  static let groups = Option(
    "limit", letter: "n", "N", .number(1...1_000_000),
    "with --by: at most so many named groups, the others together", fallback: "1000")

  /// The criteria that a list of names asks for.
  static func criteria(_ text: String) throws -> [Sizes.Criterion] {
    var criteria: [Sizes.Criterion] = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let criterion = Sizes.Criterion(rawValue: String(name)) else {
        let names = Sizes.Criterion.allCases.map(\.rawValue)
        let nearest = Suggestion.nearest(to: String(name), in: names)
        throw Failure.usage(
          "--by cannot be “\(Terminal.escaped(String(name)))”",
          hint: nearest.map { "did you mean \($0)?" } ?? "it is \(names.joined(separator: ", "))")
      }
      if criteria.contains(criterion) {
        throw Failure.usage("--by names \(criterion.rawValue) twice")
      }
      criteria.append(criterion)
    }
    return criteria
  }

  /// Prints the groups.
  static func tell(_ criteria: [Sizes.Criterion], of database: Database, _ call: Call) throws {
    let columns = criteria.map(\.rawValue) + ["use", "bytes"] + parts.map(\.name)
    let writer = try ListWriter(call, columns: columns)
    let sizes = try measure(criteria, database, call)
    if call.format == .short { return try tell(sizes, call.output) }
    for group in sizes.groups { try writer.write(json(group, criteria)) }
    try writer.finish()
  }

  private static func measure(
    _ criteria: [Sizes.Criterion], _ database: Database, _ call: Call
  ) throws -> Sizes {
    do {
      return try ProgressBar.showing(call) {
        try database.sizes(
          by: criteria, depth: call.value(depth).number,
          groupsMax: call.value(groups).number, progress: $0)
      }
    } catch is CancellationError {
      throw Failure.stopped()
    }
  }

  /// The columns, and what each has of a group.
  private static let parts: [(name: String, bytes: @Sendable (Sizes.Group) -> UInt64)] = [
    ("log", { $0.log }), ("archive", { $0.archive }), ("tree", { $0.tree }),
    ("history", { $0.history }), ("other", { $0.other }),
  ]

  // MARK: For people

  private static func tell(_ sizes: Sizes, _ output: Output) throws {
    let parts = parts.filter { part in sizes.groups.contains { part.bytes($0) > 0 } }
    let rows = sizes.groups.map { group in
      (names: names(group), bytes: [group.bytes] + parts.map { $0.bytes(group) })
    }
    let totals = (0...parts.count).map { column in
      rows.reduce(0) { $0 + $1.bytes[column] }
    }
    let heads = sizes.criteria.map(\.rawValue)
    let widths = heads.indices.map { column in
      ([heads[column]] + rows.map { $0.names[column] } + (column == 0 ? ["in all"] : []))
        .map { Terminal.displayWidth($0) }.max() ?? 0
    }
    let total = ["in all"] + heads.dropFirst().map { _ in "" }
    try output.line(line(heads, ["bytes"] + parts.map(\.name), widths, .heading))
    for row in rows {
      try output.line(line(row.names, row.bytes.map(Quantity.bytes), widths, nil))
    }
    try output.line(line(total, totals.map(Quantity.bytes), widths, .metadata))
  }

  private static func line(
    _ names: [String], _ cells: [String], _ widths: [Int], _ role: Role?
  ) -> StyledLine {
    var text = zip(names, widths).map { Terminal.padded($0, to: $1) }.joined(separator: "  ")
    for cell in cells { text += Terminal.padded(cell, to: 11, leading: true) }
    return StyledLine(text, role)
  }

  /// A group's names; the first that is not known says what the bytes are for instead.
  private static func names(_ group: Sizes.Group) -> [String] {
    var use: String? = "(\(text(group.use)))"
    return group.names.map { name in
      if let name { return Terminal.escaped(name.isEmpty ? "/" : name) }
      defer { use = nil }
      return use ?? ""
    }
  }

  private static func text(_ use: Sizes.Use) -> String {
    switch use {
    case .nodes: "keys and headers of nodes"
    case .values: "single values"
    case .transactions: "headers of transactions"
    case .events: "events"
    case .names: "names of properties"
    case .blobs: "blobs"
    case .entries: "positions and settings"
    case .indexes: "indexes"
    case .views: "views"
    case .leftovers: "nodes moved and removed at once"
    case .space: "room in pages"
    case .structure: "tables and lists of pages"
    case .free: "free pages"
    case .copies: "copies of the state"
    case .uploads: "unfinished uploads"
    case .files: "locks and other files"
    case .others: "others"
    case .content: "content"
    }
  }

  // MARK: For programs

  private static func json(_ group: Sizes.Group, _ criteria: [Sizes.Criterion]) -> JSONLine {
    var line = JSONLine()
    for (criterion, name) in zip(criteria, group.names) {
      line.add(criterion.rawValue, name)
    }
    line.add("use", group.use.rawValue)
    line.add("bytes", group.bytes)
    for part in parts { line.add(part.name, part.bytes(group)) }
    return line
  }
}
