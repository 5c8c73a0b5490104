import Cambium
import FoundationEssentials
import LMDB
import Simulation

/// Changes stored bytes, and demands that nothing crashes, hangs, or reads wrong without a word:
/// damage of the state is mended from the log, damage of the log is named, and what is harmless
/// raises no alarm. `quota` is the number of changes.
struct Corruption {
  let setting: Setting
  let checker: Checker

  private var place: String { "\(setting.directory)/state" }

  /// A database's files by their paths, as they are and as they were.
  private struct Content {
    var now: [String: [UInt8]] = [:]
    var before: [String: [UInt8]] = [:]
    var log: String { "log/data.mdb" }
    var state: String { now.keys.first { $0.hasPrefix("state-") } ?? "" }
  }

  func run(_ cases: Cases) throws {
    let root = Recording.root(of: setting.recording)
    let files = try read("\(root)/test.cambium", try Recording(setting.recording))
    var marks = Marks()
    let folder = String(setting.recording.dropLast("recording".count))
    marks.read(System.read("\(folder)marks"))
    for index in 0..<setting.quota {
      var random = SeededGenerator(seed: setting.seed, 17 + UInt64(index))
      let name = random.oneIn(2) ? files.log : files.state
      guard let now = files.now[name] else { throw Failure("there is no \(name)") }
      let mutation = Mutation(of: now, older: files.before[name] ?? now, &random)
      if cases.isOver { return }
      cases.next("\(name): \(mutation)") { [marks] in
        try check(files, name, mutation, marks)
      }
    }
  }

  /// Reads the files of a finished database, and what they held half-way.
  private func read(_ path: String, _ recording: Recording) throws -> Content {
    var files = Content()
    for file in try LMDB.Files.names(in: path).map({ "\($0)/data.mdb" }) + ["log/tail"] {
      if System.exists("\(path)/\(file)") { files.now[file] = System.read("\(path)/\(file)") }
    }
    var disk = Disk(.journal)
    for call in recording.calls.prefix(recording.calls.count * 2 / 3) { disk.run(call) }
    let half = "\(setting.directory)/half"
    System.remove(half)
    try disk.write(disk.whole, to: half)
    for name in files.now.keys { files.before[name] = System.read("\(half)/test.cambium/\(name)") }
    return files
  }

  private func check(
    _ files: Content, _ name: String, _ mutation: Mutation, _ marks: Marks
  ) throws {
    System.remove(place)
    try System.makeDirectory(place)
    for (file, bytes) in files.now {
      let content = file == name ? mutation.bytes : bytes
      try System.makeDirectory("\(place)/\(System.directory(of: file))")
      try System.makeFile("\(place)/\(file)", content[...], [], size: content.count)
    }
    let isLog = name == files.log
    let harmless = mutation.changedPages.isEmpty
    do {
      try checkOpened(marks, isLog: isLog, isHarmless: harmless, isOlder: mutation.isOlder)
    } catch let error as DatabaseError {
      try demand(isLog, "the state's damage is not mended from the log: \(error)")
      try demand(!harmless, "a false alarm: \(error)")
      try demand(error.isAboutDamage, "the log's damage gives \(error)")
    }
  }

  /// Reads everything first, as an app does that has no doubt: what it gets is right, or an error.
  /// Then verifies, and mends.
  private func checkOpened(
    _ marks: Marks, isLog: Bool, isHarmless: Bool, isOlder: Bool
  ) throws {
    var options = Database.Options.roomy
    options.createIfMissing = false
    let database = try Database(at: place, options: options)
    var complaint: String?
    // Nothing is wrong in a page that is an older form of itself, or that leads to an older page,
    // but the tree around it.
    do { complaint = try self.complaint(database) } catch let error as Violation where isOlder {
      complaint = "\(error)"
    }
    try demand(!isHarmless || complaint == nil, "a false alarm: \(complaint ?? "")")
    let findings = try database.verify().findings
    if findings.isEmpty {
      try demand(complaint == nil, "reading gives \(complaint ?? ""), and verify finds nothing")
      try database.close()
      return try checker.check(place, marks)
    }
    try demand(!isHarmless, "a false alarm: \(findings)")
    if isLog {
      return try demand(findings.allSatisfy(isNamed), "the log's damage is not named: \(findings)")
    }
    try demand(findings.allSatisfy(\.isRepairable), "the state is damaged, not: \(findings)")
    try database.rebuild()
    try database.close()
    try checker.check(place, marks)
  }

  /// Reads the present, the oldest moment, and the feed between them; nothing of it may be wrong.
  ///
  /// - Returns: The error that came instead; nil for none.
  private func complaint(_ database: Database) throws -> String? {
    do {
      let (head, horizon) = (try database.head.rawValue, try database.horizon.rawValue)
      let checker = checker.seeing(head)
      try checker.compare(database, at: head, isPresent: true)
      try checker.compare(database, at: horizon, isPresent: horizon == head)
      var commits = try database.commits(after: SequenceNumber(horizon), readsArchive: true)
      while let commit = try commits.next() { try checker.checkCommit(commit) }
      return nil
    } catch let error as DatabaseError {
      try demand(error.isAboutDamage, "reading what is damaged gives \(error)")
      return "\(error)"
    }
  }

  /// True if a finding names a place.
  private func isNamed(_ finding: Verification.Finding) -> Bool {
    ["record ", "page", "entry", "blob", "head", "list", "table"].contains {
      finding.description.contains($0)
    }
  }
}

extension DatabaseError {
  /// True if it says that stored bytes are wrong, or not those of a database.
  fileprivate var isAboutDamage: Bool {
    switch self {
    case .corrupt, .unsupported: true
    // LMDB's own error for a read transaction that has found damage.
    case .ioFailure(let reason): reason.contains("MDB_BAD_TXN")
    default: false
    }
  }
}
