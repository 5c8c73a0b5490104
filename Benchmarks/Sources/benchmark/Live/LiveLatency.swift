import Cambium

/// Measures the time from a commit's return to the callback of an observer, in a task of the same
/// process and in another process. The next commit waits for the callback, so that each must come.
///
///     commit ──▶ observer's callback              beside a bare AsyncStream
///     commit ──▶ callback in another process      beside a byte through a pipe
struct LiveLatency {
  private let data: TrackerData
  private let count: Int
  private let figures: LiveFigures
  private let path: String
  /// The most seconds that anything may take before it counts as lost.
  private let patience = 60

  init(_ count: Int, issues: Int, _ directory: String, _ figures: LiveFigures) {
    data = TrackerData(issues: issues)
    self.count = count
    self.figures = figures
    path = directory
  }

  func run() async throws {
    let (followed, quiet) = (try open("followed"), try open("quiet"))
    defer { for database in [followed, quiet] { try? database.close() } }
    try await measureTasks(followed, quiet)
    try measureProcesses(followed, quiet)
  }

  private func open(_ name: String) throws -> Database {
    let database = try TrackerData.open("\(path)/\(name).cambium")
    try data.load(into: database)
    return database
  }

  /// Leaves a number in the newest open issue.
  ///
  /// - Returns: The time at which the commit returned.
  private func commit(_ number: Int, _ database: Database) throws -> Int64 {
    try TrackerChange.prioritized(issue: data.newestOpen(1)[0], number).make(in: database)
    return MonotonicClock.now
  }

  // MARK: Tasks

  private func measureTasks(_ followed: Database, _ quiet: Database) async throws {
    let (moments, told) = AsyncStream.makeStream(of: ObservedMoment.self)
    let (bell, ring) = AsyncStream.makeStream(of: Int.self)
    let query = LiveFollower.query(followed)
    let limit = Duration.seconds(patience + count / 100)
    let tasks = [
      Task {
        defer { told.finish() }
        for try await diff in query.changes() { told.yield(LiveFollower.moment(of: diff)) }
      },
      Task {
        for await number in bell {
          told.yield(ObservedMoment(number: number, time: MonotonicClock.now))
        }
      },
      Task {
        try await Task.sleep(for: limit)
        told.finish()
      },
    ]
    defer { for task in tasks { task.cancel() } }
    var iterator = moments.makeAsyncIterator()
    _ = await iterator.next()
    func latency(since start: Int64, _ number: Int) async throws -> Double {
      guard let moment = await iterator.next() else { throw BenchmarkError("a change was lost") }
      if moment.number != number { throw BenchmarkError("change \(number) was lost") }
      return Double(moment.time - start)
    }
    var (own, peer) = ([Double](), [Double]())
    for number in 10..<(count + 10) {
      own.append(try await latency(since: commit(number, followed), number))
      let start = try commit(number, quiet)
      ring.yield(number)
      peer.append(try await latency(since: start, number))
    }
    add("commit to callback", own, "AsyncStream", peer, median: 30)
  }

  // MARK: Processes

  private func measureProcesses(_ followed: Database, _ quiet: Database) throws {
    let other = try ChildConversation([LiveFollower.argument, followed.path])
    // The first result.
    _ = try other.line(within: patience)
    var (own, peer) = ([Double](), [Double]())
    // Other numbers than those of the tasks, so that each makes a difference.
    for number in (count + 10)..<(2 * count + 10) {
      let start = try commit(number, followed)
      own.append(
        Double(try LiveFollower.time(of: other.line(within: patience), "change", number) - start))
      let rung = try commit(number, quiet)
      try other.ring()
      peer.append(
        Double(try LiveFollower.time(of: other.line(within: patience), "echo", 0) - rung))
    }
    add("commit to callback in another process", own, "pipe", peer, median: 1_000, worst: 50_000)
  }

  /// Adds the figures of some latencies in nanoseconds.
  private func add(
    _ name: String, _ own: [Double], _ peerName: String, _ peer: [Double], median: Double,
    worst: Double? = nil
  ) {
    let (own, peer) = (own.sorted(), peer.sorted())
    let figures = [
      ("median", 0.5, FigureBar.atMost(median)), ("99 %", 0.99, nil),
      ("worst", 1, worst.map { .atMost($0) }),
    ]
    for (word, share, bar) in figures {
      let index = min(own.count - 1, Int(Double(own.count) * share))
      self.figures.add(
        "\(name), \(word) of \(own.count), µs", own[index] / 1_000,
        beside: (peerName, peer[index] / 1_000), bar: bar)
    }
  }
}
