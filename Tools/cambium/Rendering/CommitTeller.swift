import Cambium

/// Writes transactions, with as much of what each changed as is asked for.
struct CommitTeller {
  enum Detail: Equatable {
    /// The number, and why or what.
    case oneLine
    /// Who, when, why, and how many operations.
    case line
    /// How many nodes below each were changed.
    case stat
    /// The changes; for people only so many.
    case patch(first: Int)
  }

  let output: Output
  let format: OutputFormat
  let detail: Detail
  /// What hints name.
  let database: String
  /// What the changes are counted below.
  var under = Path.root
  var text = CommitText()

  /// Writes what stands before the first transaction.
  func begin() throws {
    guard format == .csv else { return }
    if detail != .line && detail != .oneLine {
      throw Failure(
        .usage, "usage", "CSV has a line for each transaction, so it cannot tell of changes",
        hint: "-o json tells all")
    }
    var bytes: [UInt8] = []
    CommitText.csv.appendHeader(to: &bytes)
    try output.write(bytes: bytes)
  }

  /// Writes a transaction.
  func tell(_ commit: Commit) throws {
    switch format {
    case .json: try tellJSON(commit)
    case .csv:
      var bytes: [UInt8] = []
      CommitText.csv.append(CommitText.record(commit), to: &bytes)
      try output.write(bytes: bytes)
    case .short: try tellShort(commit)
    }
  }

  private func tellShort(_ commit: Commit) throws {
    try output.line(detail == .oneLine ? text.oneLine(commit) : text.line(commit))
    switch detail {
    case .oneLine, .line: break
    case .stat:
      var counts = ChangeCounts(below: under)
      try counts.forEach(of: commit.changes) { path, counts in
        var line = StyledLine("  ")
        line.add(counts.line)
        line.add("  \(Terminal.escaped(path.description))")
        try output.line(line)
      }
    case .patch(let first): try tellChanges(commit, first: first)
    }
  }

  private func tellChanges(_ commit: Commit, first: Int) throws {
    let text = ChangeText(output: output, indent: 2)
    var changes = commit.changes.makeCursor()
    var left = first
    while let change = try changes.next() {
      if left == 0 {
        let command = "cambium show \(Shell.quoted(database)) \(commit.sequence)"
        return try output.line(StyledLine("  … more: `\(command)` shows all", .metadata))
      }
      left -= 1
      try text.write(change)
    }
  }

  /// Streams the changes, of which there may be very many.
  private func tellJSON(_ commit: Commit) throws {
    try output.write(bytes: CommitText.json(commit).unfinished)
    switch detail {
    case .oneLine, .line: break
    case .stat:
      var counts = ChangeCounts(below: under)
      try writeArray("stat") { write in
        try counts.forEach(of: commit.changes) { path, counts in
          var line = JSONLine()
          line.add("path", path.description)
          counts.add(to: &line)
          try write(line)
        }
      }
    case .patch:
      try writeArray("changes") { write in
        try commit.changes.forEach { try write(ChangeText.json($0)) }
      }
    }
    try output.write("}\n")
  }

  private func writeArray(
    _ name: String, _ body: ((JSONLine) throws -> Void) throws -> Void
  ) throws {
    try output.write(",\"\(name)\":[")
    var isFirst = true
    try body { line in
      if !isFirst { try output.write(",") }
      isFirst = false
      try output.write(bytes: line.object)
    }
    try output.write("]")
  }
}

/// Counts changes by the node below a path. Changes come in path order, so only one node's counts
/// are kept.
struct ChangeCounts {
  /// How many changes of each kind.
  struct Counts {
    var inserted = 0
    var updated = 0
    var deleted = 0

    /// `+2 ~1 -0`, in columns.
    fileprivate var line: StyledLine {
      let kinds: [(mark: String, count: Int, role: Role)] = [
        ("+", inserted, .inserted), ("~", updated, .updated), ("-", deleted, .deleted),
      ]
      var line = StyledLine()
      for kind in kinds {
        let text = kind.mark + Quantity.count(kind.count)
        line.add(
          Terminal.padded(text, to: 7, leading: true), kind.count > 0 ? kind.role : nil)
      }
      return line
    }

    fileprivate func add(to line: inout JSONLine) {
      line.add("inserted", inserted)
      line.add("updated", updated)
      line.add("deleted", deleted)
    }
  }

  private let depth: Int
  private var path: Path?
  private var counts = Counts()

  init(below path: Path) { depth = path.depth + 1 }

  /// Visits each node below the path, with the counts of its changes and of those below it.
  mutating func forEach(of changes: Changes, _ body: (Path, Counts) throws -> Void) throws {
    try changes.forEach { change in
      let place = Path(keys: change.path.keys.prefix(depth))
      if place != path {
        if let path { try body(path, counts) }
        path = place
        counts = Counts()
      }
      if change.old == nil {
        counts.inserted += 1
      } else if change.new == nil {
        counts.deleted += 1
      } else {
        counts.updated += 1
      }
    }
    if let path { try body(path, counts) }
  }
}
