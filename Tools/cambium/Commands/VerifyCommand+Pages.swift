import Cambium

/// `cambium verify --pages`: the pages of any file of LMDB.
extension VerifyCommand {
  static func verifyPages(_ invocation: Invocation, _ output: Output) throws {
    let files = try ProgressBar.showing(invocation, unit: "pages") {
      try Database.walkPages(
        of: invocation.database, options: invocation.databaseOptions, progress: $0)
    }
    for file in files where invocation.format.isJSON {
      try output.object(json(file), invocation.format)
    }
    for file in files where !invocation.format.isJSON && !invocation.isQuiet {
      try write(file, output)
    }
    let damaged = files.filter { !$0.findings.isEmpty }
    guard let first = damaged.first else { return }
    throw Failure.corrupt(
      damaged.count == 1
        ? "\(first.path): \(first.findings[0])" : "\(damaged.count) files are damaged")
  }

  private static func write(_ file: PageExamination, _ output: Output) throws {
    let isSound = file.findings.isEmpty
    var line = StyledLine(Terminal.escaped(file.path), .heading)
    line.add(isSound ? " is sound" : " is damaged", isSound ? .inserted : .deleted)
    try output.line(line)
    var entries = [
      (name: "pages", text: Quantity.count(file.pages)),
      (name: "used", text: Quantity.count(file.used)),
      (name: "free", text: Quantity.count(file.free)),
    ]
    for table in file.tables {
      let text = "\(Quantity.count(table.entries)) entries"
      entries.append((name: Terminal.escaped(table.name), text: text))
    }
    if file.pages > 0 { try output.table(entries, indent: 2) }
    for finding in file.findings {
      var line = StyledLine("  ✗", .deleted)
      line.add("  \(Terminal.escaped(finding))")
      try output.line(line.text(output.style))
    }
  }

  private static func json(_ file: PageExamination) -> JSONLine {
    [
      "file": file.path, "sound": file.findings.isEmpty, "pages": file.pages, "used": file.used,
      "free": file.free, "findings": file.findings,
    ]
  }
}
