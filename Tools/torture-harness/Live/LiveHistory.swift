import Cambium
import Simulation

/// One random history of a database with live queries of all shapes, which look now and then; other
/// processes write as well. Everything follows from the seed, but for how their writes lie among
/// those of this process where both write at a time.
struct LiveHistory {
  private let database: Database
  private let writer: RandomWriter
  private let questions: Questions
  private var followed: [any Followed] = []
  private let task: FollowedTask
  /// Draws who looks when; a generator of its own, since the writer goes on with its own.
  private var records: RandomRecords
  /// Starts another process that commits some transactions; the result waits for its end.
  private let startOther: (_ seed: UInt64, _ commits: Int) throws -> () throws -> Void
  /// Waits for the other process, as long as there is one.
  private var other: (() throws -> Void)?

  /// The queries that are followed at a time.
  private static let queries = 12

  init(
    at path: String, seed: UInt64, _ counts: LiveCounts,
    startOther: @escaping (_ seed: UInt64, _ commits: Int) throws -> () throws -> Void
  ) throws {
    // Queries keep their groups in files at once, soon, or not at all.
    var options = Database.Options()
    options.stepSizes.keptBytes = [0, 4 << 10, options.stepSizes.keptBytes][Int(seed % 3)]
    // A task that follows takes its steps where it waits, or has nearly all taken elsewhere.
    options.stepSizes.shortRecords = [256, 0, 3][Int(seed / 3 % 3)]
    database = try LiveHistory.open(path, options)
    writer = RandomWriter(database, seed: seed, 31, declares: true)
    task = FollowedTask(database)
    questions = Questions(database: database, counts: counts)
    records = RandomRecords(random: SeededGenerator(seed: seed, 37))
    self.startOther = startOther
  }

  private static func open(_ path: String, _ options: Database.Options) throws -> Database {
    try Database(at: path, options: options, for: Player.self, Team.self)
  }

  /// The part of another process: opens the database, and commits some transactions.
  static func write(at path: String, seed: UInt64, commits: Int) throws {
    let database = try open(path, Database.Options())
    let writer = RandomWriter(database, seed: seed, 41, declares: false)
    for _ in 0..<commits { try writer.commit() }
    try database.close()
  }

  /// Runs it until the database has had some number of transactions.
  mutating func run(commits: Int) throws {
    try writer.begin()
    for _ in 0..<LiveHistory.queries { followed.append(try questions.follow(&records)) }
    while try database.head.rawValue < UInt64(commits) { try go() }
    try other?()
    other = nil
    for query in followed { try query.step(isAlone: true) }
    followed = []
    try task.finish(database)
    let findings = try database.verify().findings
    try demand(findings.isEmpty, "the database is not sound: \(findings)")
    questions.counts.commits += try database.head.rawValue
    questions.counts.note(writer)
    try database.close()
  }

  /// Some transactions, of which each query takes in as many as there were since it looked last.
  private mutating func go() throws {
    for _ in 0..<(1 + records.random.below(3)) { try writer.commit() }
    for query in followed where records.random.oneIn(4) {
      try query.step(isAlone: other == nil)
    }
    if records.random.oneIn(12) {
      followed[records.random.below(followed.count)] = try questions.follow(&records)
    }
    if records.random.oneIn(12) {
      try followed[records.random.below(followed.count)].ask()
    }
    if records.random.oneIn(60) { try haveOthersWrite() }
  }

  /// Has another process write, half of the times while this one goes on.
  private mutating func haveOthersWrite() throws {
    try other?()
    let commits = 5 + records.random.below(20)
    other = try startOther(records.random.next(), commits)
    questions.counts.others += commits
    if records.random.oneIn(2) { return }
    try other?()
    other = nil
  }
}
