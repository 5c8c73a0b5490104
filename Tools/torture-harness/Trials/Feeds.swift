import Cambium
import FoundationEssentials
import Simulation
import Synchronization

/// Follows feeds while writers run and are killed, and the state is rebuilt: an observer that is
/// slow, one that is cancelled again and again, and an observer and a consumer in processes of
/// their own, which are killed and restarted. `quota` is the number of courses.
struct Feeds {
  let setting: Setting

  func run(_ cases: Cases) {
    for index in 0..<setting.quota {
      if cases.isOver { return }
      cases.next("course \(index)") {
        var course = try FeedCourse(setting, index)
        defer { course.giveUp() }
        try course.check()
      }
    }
  }
}

/// One course: rounds in which everyone is disturbed, and an end that all must reach.
private struct FeedCourse {
  private let run: RecordedRun
  private let work: WorkloadRun
  private let database: Database
  private let end = FeedEnd()
  private var random: SeededGenerator
  private var followers: [Awaited<SequenceNumber>] = []
  private var children: [ChildProcess] = []

  private static let rounds = 3
  private static let secondsMax = 20

  init(_ setting: Setting, _ index: Int) throws {
    run = try RecordedRun(setting, in: "\(setting.directory)/run")
    work = try FeedProcess.work(setting, at: run.database, marks: run.marksFile)
    database = try work.open()
    random = SeededGenerator(seed: setting.seed, 29 + UInt64(index))
    follow(seed: random.next())
  }

  mutating func check() throws {
    for _ in 0..<FeedCourse.rounds { try disturb() }
    let last = try database.head.rawValue + 1
    end.number.withLock { $0 = last }
    try start("observe") { $0.end = last }
    try start("consume") { $0.end = last }
    try work.write(database)
    while let child = children.popLast() { try demandEnd(child.wait(), .exited(0)) }
    for follower in followers {
      let told = try follower.get(within: FeedCourse.secondsMax, "P5: an observer was not told")
      try demand(told.rawValue == last, "P5: an observer was told up to \(told) of \(last)")
    }
    for kind in FeedProcess.Kind.allCases {
      let told = try FeedNotes(FeedNotes.file(kind, run.marksFile)).told
      try demand(told == last, "P5: the \(kind) was told up to \(told) of \(last)")
    }
    try database.close()
    try Checker(script: work.script).check(run.database, run.marks)
  }

  /// Ends what is still there after a violation.
  mutating func giveUp() {
    for follower in followers { follower.cancel() }
    while let child = children.popLast() {
      child.kill()
      _ = child.wait()
    }
  }

  // MARK: Everyone

  /// Follows in this process.
  private mutating func follow(seed: UInt64) {
    let (database, end) = (database, end)
    followers = [
      Awaited { try await database.followSlowly(.milliseconds(1)) { end.isReached($0) } },
      Awaited { try await database.followWithRestarts(seed: seed) { end.isReached($0) } },
    ]
  }

  /// One round: a writer is killed at a durable call, or ends before; the others after a number of
  /// transactions, at a durable call, or when the writers are done.
  private mutating func disturb() throws {
    let when = random.pick(["before", "half", "after"])
    let kill = ["TORTURE_KILL": "\(1 + random.below(60)):\(when)"]
    let writes = 1 + random.below(8)
    try start("write", kill) { $0.count = writes }
    for kind in FeedProcess.Kind.allCases {
      let kill = random.oneIn(2) ? ["TORTURE_KILL": "\(1 + random.below(20)):half"] : [:]
      let count = 1 + random.below(20)
      try start(kind.command, kill) { $0.count = count }
    }
    for _ in 0..<random.below(5) { try work.write(database) }
    if random.oneIn(2) { try database.rebuild() }
    let writer = children.removeFirst()
    try demandEnd(writer.wait(), .exited(0), .killed(9))
    System.sleep(milliseconds: random.below(8))
    while let child = children.popLast() {
      child.kill()
      try demandEnd(child.wait(), .killed(9))
    }
  }

  private mutating func start(
    _ command: String, _ orders: [String: String] = [:], _ change: (inout Arguments) -> Void
  ) throws {
    children.append(try run.start(command, orders, change))
  }

  private func demandEnd(_ end: ChildProcess.End, _ expected: ChildProcess.End...) throws {
    try demand(expected.contains(end), "P5: a process ended with \(end): \(run.output)")
  }
}

/// The last transaction of a course, once it is known.
private final class FeedEnd: Sendable {
  let number = Mutex(UInt64.max)

  func isReached(_ commit: Commit) -> Bool {
    commit.sequence.rawValue == number.withLock { $0 }
  }
}
