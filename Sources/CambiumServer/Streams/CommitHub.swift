import Cambium
import Synchronization

/// Reads the change feed once for all streams of the server.
///
///     the feed, any process ──▶ run() ──▶ sink, sink, sink …
///
/// Ten thousand streams thus cost one look at the log for each commit, and a call each.
final class CommitHub: Sendable {
  /// A sink's place in the hub.
  struct Following: Sendable {
    /// The last commit before those that the sink gets.
    let after: SequenceNumber
    private let stop: @Sendable () -> Void

    init(after: SequenceNumber, stop: @escaping @Sendable () -> Void) {
      self.after = after
      self.stop = stop
    }

    /// Ends it. A call that has begun is still made.
    func cancel() { stop() }
  }

  private struct State {
    var position: SequenceNumber
    var sinks: [UInt64: @Sendable (Commit) -> Void] = [:]
    var last: UInt64 = 0
  }

  private let database: Database
  private let state: Mutex<State>

  /// A hub that begins after the newest commit.
  ///
  /// - Throws: ``DatabaseError``.
  init(_ database: Database) throws {
    self.database = database
    state = Mutex(State(position: try database.head))
  }

  /// Calls `sink` with each commit from now on, one after another, in order. It must not block.
  func follow(_ sink: @escaping @Sendable (Commit) -> Void) -> Following {
    state.withLock { state in
      state.last += 1
      let number = state.last
      state.sinks[number] = sink
      return Following(after: state.position) { [weak self] in
        self?.state.withLock { _ = $0.sinks.removeValue(forKey: number) }
      }
    }
  }

  /// The last commit that was handed out.
  var position: SequenceNumber { state.withLock { $0.position } }

  /// Goes on behind what compaction has dropped, where it was faster.
  func skipCompacted() {
    guard let horizon = try? database.horizon else { return }
    state.withLock { $0.position = max($0.position, horizon) }
  }

  /// Hands out commits until the task is cancelled or the database is closed.
  ///
  /// - Throws: ``DatabaseError``, also where compaction has overtaken the hub.
  func run() async throws {
    for try await commit in database.changes(after: position) {
      let sinks = state.withLock { state in
        state.position = commit.sequence
        return Array(state.sinks.values)
      }
      for sink in sinks { sink(commit) }
    }
  }
}
