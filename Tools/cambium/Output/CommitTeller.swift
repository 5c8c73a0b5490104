import Cambium

/// Writes transactions, with as much of what each changed as is asked for.
struct CommitTeller {
  enum Detail: Equatable {
    /// The number, and why or what.
    case oneLine
    /// The author, the time, the reason, and the number of operations.
    case line
    /// The number of changed nodes below each.
    case stat
    /// The changes; for people, only the first few.
    case patch(first: Int)
  }

  let call: Call
  let detail: Detail
  /// The node below which changes are counted.
  var under = NodePath.root
  var text = CommitText()

  /// The writer of the forms that are neither for people nor streams of JSON; nil for those two.
  var list: ListWriter?

  /// The writer of a list, where the command line asks for one.
  static func list(_ call: Call, _ detail: Detail) throws -> ListWriter? {
    if !call.format.isJSON, call.format != .short, detail.tellsChanges {
      throw Failure.usage(
        "\(call.format.rawValue) has a row for each transaction, and none for its changes",
        hint: "-o json tells all")
    }
    let writer = try ListWriter(
      call, columns: CommitText.columns,
      further: ["events", "stat", "changes", "logged"])
    let isStream = call.format == .json && !call.has(.fields)
    return isStream || call.format == .short ? nil : writer
  }

  /// Writes a transaction.
  func tell(_ commit: Commit) throws {
    if let list {
      try list.write(object(commit))
    } else if call.format == .json {
      try tellJSON(commit)
    } else {
      try tellShort(commit)
    }
  }

  /// Writes the end of the list.
  func finish() throws { try list?.finish() }

  /// A transaction in one object, with its changes.
  private func object(_ commit: Commit) throws -> JSONLine {
    var object = CommitText.json(commit)
    var lines: [JSONLine] = []
    try forEachDetail(of: commit) { lines.append($0) }
    if call.format.isJSON, let name = detail.member(of: commit) { object.add(name, lines) }
    return object
  }

  private func tellShort(_ commit: Commit) throws {
    try call.output.line(detail == .oneLine ? text.oneLine(commit) : text.line(commit))
    switch detail {
    case .oneLine, .line: break
    case .stat:
      try forEachCount(of: commit) { path, counts in
        let line = counts.line { Terminal.padded($0 + $1, to: 7, leading: true) }
        try call.output.line(StyledLine("  ") + line + "  \(Terminal.escaped(path.description))")
      }
    case .patch where commit.isArchived: try OperationText.write(commit, indent: 2, call.output)
    case .patch(let first): try tellChanges(commit, first: first)
    }
  }

  /// Passes each node below the place with its counts. The archive does not know how many nodes a
  /// transaction changed.
  private func forEachCount(
    of commit: Commit, _ body: (NodePath, ChangeCounts.Counts) throws -> Void
  ) throws {
    if commit.isArchived {
      throw Failure(
        .refused, "compacted",
        "transaction \(commit.sequence) is archived: --stat cannot count what it changed",
        hint: "--patch tells its operations")
    }
    var counts = ChangeCounts(below: under)
    try counts.forEach(of: commit.changes.forEach, body)
  }

  private func tellChanges(_ commit: Commit, first: Int) throws {
    let text = ChangeText(output: call.output, indent: 2)
    var changes = commit.changes.makeCursor()
    var left = first
    while let change = try changes.next() {
      if left == 0 {
        let command = "cambium show \(Shell.quoted(call.database)) \(commit.sequence)"
        return try call.output.line(StyledLine("  … more: `\(command)` shows all", .metadata))
      }
      left -= 1
      try text.write(change)
    }
  }

  /// Streams the changes, of which there may be very many.
  private func tellJSON(_ commit: Commit) throws {
    try call.output.write(bytes: CommitText.json(commit).versioned.unfinished)
    if let name = detail.member(of: commit) {
      try call.output.write(",\"\(name)\":[")
      var isFirst = true
      try forEachDetail(of: commit) { line in
        if !isFirst { try call.output.write(",") }
        isFirst = false
        try call.output.write(bytes: line.object)
      }
      try call.output.write("]")
    }
    try call.output.write("}\n")
  }

  private func forEachDetail(of commit: Commit, _ body: (JSONLine) throws -> Void) throws {
    switch detail {
    case .oneLine, .line: break
    case .stat: try forEachCount(of: commit) { path, counts in try body(counts.json(path)) }
    case .patch where commit.isArchived: try OperationText.json(commit).forEach(body)
    case .patch: try commit.changes.forEach { try body(ChangeText.json($0)) }
    }
  }
}

extension CommitTeller.Detail {
  /// The member of a JSON object that has it.
  fileprivate func member(of commit: Commit) -> String? {
    switch self {
    case .oneLine, .line: nil
    case .stat: "stat"
    case .patch: commit.isArchived ? "logged" : "changes"
    }
  }

  fileprivate var tellsChanges: Bool {
    switch self {
    case .oneLine, .line: false
    case .stat, .patch: true
    }
  }
}
