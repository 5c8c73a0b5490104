import Cambium

/// `cambium verify --pages`: the pages of any file of LMDB.
extension VerifyCommand {
  static func verifyPages(_ call: Call) throws {
    let files = try ProgressBar.showing(call, unit: "pages") {
      try Database.walkPages(of: call.database, options: call.databaseOptions, progress: $0)
    }
    for file in files { try call.output.report(json(file)) { try write(file, call.output) } }
    let damaged = files.filter { !$0.findings.isEmpty }
    guard let first = damaged.first else { return }
    throw Failure.corrupt(
      damaged.count == 1
        ? "\(first.path): \(first.findings[0])" : "\(damaged.count) files are damaged")
  }

  private static func write(_ file: PageExamination, _ output: Output) throws {
    let isSound = file.findings.isEmpty
    try output.verdict(
      Terminal.escaped(file.path), isSound ? "is sound" : "is damaged", isSound: isSound)
    let counts: Entries = [
      "pages": Quantity.count(file.pages), "used": Quantity.count(file.used),
      "free": Quantity.count(file.free),
    ]
    let tables = file.tables.map {
      (Terminal.escaped($0.name), "\(Quantity.count($0.entries)) entries")
    }
    if file.pages > 0 { try output.table(counts + Entries(tables), indent: 2) }
    for finding in file.findings { try output.finding("", finding) }
  }

  private static func json(_ file: PageExamination) -> JSONLine {
    [
      "file": file.path, "sound": file.findings.isEmpty, "pages": file.pages, "used": file.used,
      "free": file.free, "findings": file.findings,
    ]
  }
}
