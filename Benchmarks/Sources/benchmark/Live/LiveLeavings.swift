import Cambium
import Synchronization

/// Starts and cancels thousands of observers, and measures what is left of them.
///
///     start 1,000 ──▶ first results ──▶ cancel ──▶ …      beside tasks on a bare AsyncStream
struct LiveLeavings {
  private let data: TrackerData
  private let count: Int
  private let figures: LiveFigures
  private let directory: String

  init(_ count: Int, issues: Int, _ directory: String, _ figures: LiveFigures) {
    data = TrackerData(issues: issues)
    self.count = count
    self.directory = directory
    self.figures = figures
  }

  func run() async throws {
    let database = try TrackerData.open(directory + "/tracker.cambium")
    defer { try? database.close() }
    try data.load(into: database)
    let own = try await cost { try await observe($0, in: database) }
    let peer = try await cost(of: listen)
    let name = "\(count) observers started and cancelled"
    figures.add(
      "\(name), µs for each", own.seconds * 1e6, beside: ("AsyncStream", peer.seconds * 1e6))
    figures.add(
      "\(name), bytes left for each", own.bytes, beside: ("AsyncStream", peer.bytes),
      bar: .atMost(64))
    figures.add("\(name), queries that are left", Double(LifeToken.alive), bar: .atMost(0))
  }

  /// Runs a body with all numbers of observers, some at a time. One turn goes before, so that what
  /// is made once does not count.
  private func cost(
    of body: (Range<Int>) async throws -> Void
  ) async throws -> (seconds: Double, bytes: Double) {
    let step = max(1, count / 10)
    try await body(0..<step)
    let (start, before) = (ContinuousClock.now, Memory.allocated() ?? 0)
    for first in stride(from: 0, to: count, by: step) {
      try await body(first..<min(first + step, count))
    }
    let seconds = seconds(since: start)
    let bytes = (Memory.allocated() ?? 0) - before
    return (seconds / Double(count), Double(bytes) / Double(count))
  }

  /// Follows queries until each has its first result.
  private func observe(_ numbers: Range<Int>, in database: Database) async throws {
    let observers = numbers.map { number in
      // The query holds the token, and whatever is left of the observer holds the query.
      let token = LifeToken()
      let query = CrowdQueries(database).issues(of: 1 + number % data.users)
      return LiveObserver(query.filter { _ in token.isAlive })
    }
    for observer in observers { try await observer.begin() }
    for observer in observers { await observer.end() }
  }

  /// The same with streams of numbers.
  private func listen(_ numbers: Range<Int>) async throws {
    let ends = numbers.map { number in
      let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
      let (heard, told) = AsyncStream.makeStream(of: Int.self)
      let task = Task { for await number in stream { told.yield(number) } }
      continuation.yield(number)
      return (task, heard)
    }
    for (task, heard) in ends {
      for await _ in heard { break }
      task.cancel()
      await task.value
    }
  }
}

/// An object that is counted as long as anything holds it.
private final class LifeToken: Sendable {
  private static let count = Atomic<Int>(0)

  static var alive: Int { count.load(ordering: .sequentiallyConsistent) }

  var isAlive: Bool { true }

  init() { LifeToken.count.add(1, ordering: .sequentiallyConsistent) }

  deinit { LifeToken.count.subtract(1, ordering: .sequentiallyConsistent) }
}
