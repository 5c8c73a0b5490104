import Cambium
import FoundationEssentials
import LMDB
import Simulation

/// Opens what a crash has left, and checks every promise against the script.
struct Checker: Sendable {
  private(set) var script: Script
  /// The system start to open in; nil for this one.
  var systemStart: String?
  /// True if what was not flushed may be lost, though the system was not started since.
  var losesUnflushed = false
  /// The mount to open in; nil for the one that it is on.
  var mount: String?
  /// True if the state may have to be rebuilt. After a killed process it must not.
  var mayRebuild = true
  /// True if stored bytes were changed. Otherwise nothing may be called damaged: a state of which
  /// pages may be missing is not looked at, for what is missing need not show.
  var mayBeDamaged = false
  /// True if there is a backup beside the database, or will be.
  var backsUp = false
  /// True to walk the pages and fold the log once more.
  var verifies = true
  /// True if positions of consumers and tags are there; a restored database has none.
  var hasPositions = true
  /// True if records have the times of the script.
  var hasTimes = false

  init(script: Script) { self.script = script }

  /// Checks the database at a path: all that was acknowledged is there (P1), it is what exactly the
  /// transactions up to its head make (P2), the log folds to the same state (P4), feeds give every
  /// transaction once and in order (P5), and writing continues.
  func check(_ path: String, _ marks: Marks) throws {
    let head = try checkOpening(path, marks)
    guard script.erasures.contains(head + 1) else { return }
    // It continues with an erasure, and then as before.
    var options = Database.Options.roomy
    options.systemStart = systemStart
    options.mountIdentity = mount
    let erasure = try Database.erase(Staff.erased, at: path, options: options)
    try demand(erasure.sequence.rawValue == head + 1, "the erasure is \(erasure.sequence)")
    var marks = marks
    marks.take(erasure: head + 1)
    _ = try checkOpening(path, marks)
  }

  /// Opens and checks.
  ///
  /// - Returns: The newest transaction.
  private func checkOpening(_ path: String, _ marks: Marks) throws -> UInt64 {
    let backups = backsUp ? BackupChecker(self, path, marks) : nil
    try backups?.checkLeft()
    let reports = Reports()
    var options = Database.Options.roomy
    options.createIfMissing = !marks.isCreated
    options.systemStart = systemStart
    options.mountIdentity = mount
    if hasTimes { options.clock = { [times = script.times] in times.now } }
    options.diagnostics = { reports.take($0) }
    let database = try Database(at: path, options: options)
    let head = try database.head.rawValue
    // The end of a process takes nothing that was written.
    let isKept = systemStart == nil && !losesUnflushed
    let least = isKept ? max(marks.acknowledged, marks.written) : marks.acknowledged
    try demand(
      head >= least, "P1: transaction \(least) was acknowledged, and the head is \(head)")
    try demand(
      head <= marks.most, "P2: \(marks.most) transactions were submitted, and the head is \(head)")
    let reasons = reports.rebuilds
    try demand(
      mayRebuild || reasons.allSatisfy { $0 == "there is none" },
      "the state was made anew after a killed process: \(reasons)")
    let seeing = seeing(head)
    try seeing.checkContent(database, head, path)
    try seeing.checkFeed(database, head)
    try seeing.judgeRest(database, head, path, marks)
    if !script.erasures.contains(head + 1) { try seeing.writeOn(database, head) }
    try seeing.compareMembers(database)
    try backups?.goOn(database)
    if verifies { try demandSound(database) }
    try database.close()
    let damage = reports.damage
    try demand(mayBeDamaged || damage.isEmpty, "P1: damage was trusted, and found: \(damage)")
    return head
  }

  /// Checks what the workload of a trial has left.
  init(_ setting: Setting) {
    self.init(script: setting.script)
    backsUp = setting.workload == .backup
    hasTimes = setting.hasTimes
  }

  /// The checker of a database whose newest transaction is a given one.
  func seeing(_ head: UInt64) -> Checker {
    var checker = self
    checker.script = script.seen(at: head)
    return checker
  }

  /// Demands that `verify` finds nothing.
  func demandSound(_ database: Database) throws {
    let findings = try database.verify().findings
    try demand(findings.isEmpty, "P4: verify found \(findings)")
  }

  /// Checks the present, some moments of the past, and what is stored beside the tree.
  private func checkContent(_ database: Database, _ head: UInt64, _ path: String) throws {
    var random = SeededGenerator(seed: head, 7)
    let horizon = try database.horizon.rawValue
    try demand(horizon <= head, "the horizon \(horizon) is after the head \(head)")
    let middle = horizon + UInt64(random.below(Int(head - horizon) + 1))
    for moment in [head, middle, max(horizon, head / 2), horizon] {
      // Asking takes longer than comparing, so it is done of two moments.
      let isJudged = moment == head || moment == middle
      try compare(database, at: moment, isPresent: moment == head, judging: isJudged)
    }
    try judgeArchive(database, path, &random)
    if !hasPositions { return }
    let position = try database.consumer(Script.consumer).position().rawValue
    let moved = script.position(at: head)
    try demand(position == moved, "P2: the consumer's position is \(position), the head \(head)")
  }

  /// Writes one transaction more; of a migration that is under way, all that are left.
  private func writeOn(_ database: Database, _ head: UInt64) throws {
    var head = head
    repeat {
      let number = try script.writeNext(database)
      try demand(number == head + 1, "the next transaction is \(number) after \(head)")
      try compare(database, at: number, isPresent: true, judging: number.isMultiple(of: 2))
      head = number
    } while script.isMigrating(at: head)
  }

  /// Checks what is declared about the members, and how far their migration is.
  private func compareMembers(_ database: Database) throws {
    let head = Int(try database.head.rawValue)
    guard head < script.members.count else { return }
    try database.read { try script.members[head].check($0) }
  }
}

// MARK: The tree

extension Checker {
  /// Compares every node at a moment, and what queries answer.
  func compare(
    _ database: Database, at moment: UInt64, isPresent: Bool, judging isJudged: Bool = true
  ) throws {
    guard moment < UInt64(script.worlds.count) else {
      throw Violation("P2: transaction \(moment) was never written")
    }
    let world = script.worlds[Int(moment)]
    let when: Moment = isPresent ? .now : .sequence(SequenceNumber(moment))
    try database.read(at: when) { snapshot in
      let found = "at transaction \(moment)"
      try demand(snapshot.sequence.rawValue == moment, "P2: \(snapshot.sequence) was read \(found)")
      var nodes = try snapshot.root.descendants(includingSelf: false)
      for path in world.nodes.keys.sorted() {
        guard let node = try nodes.next() else { throw Violation("P2: no \(path) \(found)") }
        try demand(node.path == path, "P2: \(node.path) instead of \(path) \(found)")
        guard let expected = world.nodes[path] else { continue }
        try compare(node, expected, snapshot, found)
      }
      if let extra = try nodes.next() { throw Violation("P2: \(extra.path) \(found)") }
      try compareCounts(snapshot, world, found)
      if isJudged { try Judge(script: script).judge(snapshot, at: moment) }
    }
  }

  private func compare(
    _ node: Node, _ expected: World.Node, _ snapshot: Snapshot, _ found: String
  ) throws {
    let (value, modified) = (try node.value, try node.modified?.rawValue)
    let path = node.path
    try demand(modified == expected.modified, "P2: \(path) is of \(modified ?? 0) \(found)")
    guard let bytes = expected.blob else {
      return try demand(
        value == expected.value,
        "P2: \(path) holds \(value.map { "\($0)" } ?? "nothing") \(found)")
    }
    guard case .blob(let blob)? = value else { throw Violation("P2: \(path) is no blob \(found)") }
    var content: [UInt8] = []
    try snapshot.read(blob) { content += $0 }
    try demand(content == bytes, "P2: the blob of \(path) differs \(found)")
  }

  private func compareCounts(_ snapshot: Snapshot, _ world: World, _ found: String) throws {
    var counts: [NodePath: Int] = [:]
    for path in world.nodes.keys { counts[path.parent ?? .root, default: 0] += 1 }
    for path in [.root] + world.nodes.keys {
      let (count, expected) = (try snapshot[path].childCount, counts[path] ?? 0)
      try demand(count == expected, "P2: \(path) has \(count) children, not \(expected) \(found)")
    }
  }
}

// MARK: Feeds

extension Checker {
  /// Checks that walking and observing from the horizon give each transaction once, in order.
  private func checkFeed(_ database: Database, _ head: UInt64) throws {
    var walked: [UInt64] = []
    let horizon = try database.horizon
    var commits = try database.commits(after: horizon)
    while let commit = try commits.next() {
      walked.append(commit.sequence.rawValue)
      try checkCommit(commit)
    }
    let expected = head == horizon.rawValue ? [] : Array(horizon.rawValue + 1...head)
    try demand(walked == expected, "P5: walking the log gave \(walked)")
    if expected.isEmpty { return }
    try observe(database, after: horizon, upTo: head)
    try checkChanges(database, head)
  }

  func checkCommit(_ commit: Commit) throws {
    let number = Int(commit.sequence.rawValue)
    guard number < script.worlds.count else { throw Violation("P2: \(number) was never written") }
    if script.erasures.contains(UInt64(number)) {
      return try demand(
        Set(commit.events.map(\.name)) == [Erasure.eventName], "P2: \(number) is not the erasure")
    }
    let events = commit.events.map(\.payload)
    try demand(
      events == script.worlds[number].events.map { .integer($0) },
      "P5: the events of \(number) are \(events)")
    let expected = script.metadata(of: UInt64(number))
    try demand(commit.metadata == expected, "P2: the metadata of \(number) is \(commit.metadata)")
  }

  /// Observes all transactions.
  private func observe(
    _ database: Database, after horizon: SequenceNumber, upTo head: UInt64
  ) throws {
    let observer = Awaited {
      try await database.follow(after: horizon) { $0.sequence.rawValue < head }
    }
    defer { observer.cancel() }
    let (last, _) = try observer.get(within: 5, "P5: observing from the horizon did not end")
    try demand(last.rawValue == head, "P5: observing from the horizon ended at \(last) of \(head)")
  }

  /// Checks what one transaction is said to have changed.
  private func checkChanges(_ database: Database, _ number: UInt64) throws {
    let (old, new) = (script.worlds[Int(number) - 1].nodes, script.worlds[Int(number)].nodes)
    let changed = Set(old.keys).union(new.keys).filter {
      old[$0]?.value != new[$0]?.value || old[$0]?.blob != new[$0]?.blob
    }
    let told = try database.commit(SequenceNumber(number)).changes.fetch().map(\.path)
    try demand(told == changed.sorted(), "P5: \(number) is said to have changed \(told)")
  }
}
