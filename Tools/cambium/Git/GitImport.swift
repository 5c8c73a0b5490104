import Cambium
import FoundationEssentials

/// The first-parent history of a git repository becomes one transaction per commit, oldest first.
///
/// A file is a node with the properties `mode`, `blob` and `size`, and `contents` where asked for.
/// Where these are not, a partial clone is enough, which lacks files; then there is no `size`.
/// The commit that was imported last is found through a cursor, so that running again takes what is
/// new.
struct GitImport {
  let repository: GitRepository
  let into: NodePath
  let revision: String
  let withContents: Bool
  let skipInvalid: Bool

  /// The counts of what an import has done.
  struct Report {
    var commits = 0
    var changes = 0
    var skipped = 0
    /// False where the sizes of files were left out.
    var hasSizes = true
  }

  /// A content of more bytes than this is stored before the transaction, in constant memory.
  private static let inlineBytesMax: UInt64 = 4 << 20

  private var cursor: String { "git/\(into)" }

  /// Imports what is not imported yet.
  func run(_ database: Database, _ bar: ProgressBar) throws -> Report {
    let last = try lastCommit(database)
    let total = try repository.commitCount(of: revision, after: last)
    let history = try repository.history(of: revision, after: last)
    let objects = repository.objects()
    var report = Report(hasSizes: try withContents || !repository.isPartial())
    while let commit = try history.next() {
      let plan = try GitImportPlan(commit, under: into, skipInvalid: skipInvalid)
      try write(commit, plan, report.hasSizes ? objects : nil, database)
      report.commits += 1
      report.changes += plan.steps.count
      report.skipped += plan.skipped.count
      if !bar.update("import", UInt64(report.commits), of: UInt64(total)) {
        throw Failure.stopped()
      }
    }
    return report
  }

  /// The commit of the transaction that the last import made last.
  private func lastCommit(_ database: Database) throws -> String? {
    guard let sequence = try database.cursor(cursor) else { return nil }
    return try database.commit(SequenceNumber(sequence)).metadata["commit"]
  }

  private func write(
    _ commit: GitCommit, _ plan: GitImportPlan, _ objects: GitObjects?, _ database: Database
  ) throws {
    let files = try files(plan, objects)
    var contents: [String: Content] = [:]
    if withContents, let objects { contents = try self.contents(files, objects, database) }
    try database.write(metadata: Self.metadata(commit)) { tx in
      for case .remove(let path) in plan.steps { try tx.remove(path) }
      for file in files {
        var record: ValueMap = ["mode": .string(file.mode), "blob": .string(file.blob)]
        record["size"] = file.size.map { .integer(Int64(clamping: $0)) }
        switch contents[file.blob] {
        case .stored(let blob): record["contents"] = .blob(blob)
        case .inMemory(let data): record["contents"] = .blob(try tx.store(data))
        case nil: break
        }
        try tx.set(file.path, to: .map(record))
      }
      for case .remove(let path) in plan.steps { try removeEmptyFolders(above: path, tx) }
      // A commit that changes nothing is a transaction, too.
      try tx.event("commit", .string(commit.id))
      try tx.saveCursor(cursor, tx.sequence.rawValue)
    }
  }

  private static func metadata(_ commit: GitCommit) -> [String: String] {
    [
      "commit": commit.id, "author": commit.author, "email": commit.email, "date": commit.date,
      "subject": commit.subject,
    ]
  }

  /// Folders are nodes without a value of their own; git knows none that are empty.
  private func removeEmptyFolders(above path: NodePath, _ tx: borrowing Database.Transaction) throws
  {
    var folder = path.parent
    while let path = folder, path != into, path.isWithin(into) {
      let node = tx[path]
      guard try node.exists, try node.value == nil, try node.childCount == 0 else { return }
      try tx.remove(path)
      folder = path.parent
    }
  }

  // MARK: Files

  private struct File {
    let path: NodePath
    let mode: String
    let blob: String
    /// Nil for a submodule, whose content is elsewhere, and where sizes are left out.
    let size: UInt64?
  }

  private func files(_ plan: GitImportPlan, _ objects: GitObjects?) throws -> [File] {
    var puts: [(path: NodePath, mode: String, blob: String)] = []
    for case .put(let path, let mode, let blob) in plan.steps { puts.append((path, mode, blob)) }
    let blobs = puts.filter { $0.mode != GitImport.submodule }.map(\.blob)
    var sizes = (try objects?.sizes(of: blobs) ?? []).makeIterator()
    return puts.map { put in
      File(
        path: put.path, mode: put.mode, blob: put.blob,
        size: put.mode == GitImport.submodule ? nil : sizes.next())
    }
  }

  private static let submodule = "160000"

  private enum Content {
    case inMemory(Data)
    case stored(Blob)
  }

  private func contents(
    _ files: [File], _ objects: GitObjects, _ database: Database
  ) throws -> [String: Content] {
    let wanted = files.filter { $0.size != nil }
    var contents: [String: Content] = [:]
    var bytes: UInt64 = 0
    try objects.contents(of: wanted.map(\.blob)) { index, content in
      let file = wanted[index]
      bytes += file.size ?? 0
      // The memory that contents of one commit take stays small, however many files it has.
      if bytes <= GitImport.inlineBytesMax {
        var data = Data()
        while let part = try content.next() { data += part }
        contents[file.blob] = .inMemory(data)
      } else {
        contents[file.blob] = .stored(
          try database.store { writer in
            while let part = try content.next() { try writer.append(part) }
          })
      }
    }
    return contents
  }
}
