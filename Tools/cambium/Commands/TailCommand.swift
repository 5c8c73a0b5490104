import Cambium
import FoundationEssentials
import Synchronization

/// `cambium tail`: transactions as they are committed, in any process.
enum TailCommand {
  private static let changesMax = 20
  static let path = Operand.subtree("only transactions that changed this node or one below it")
  static let recent = Option(
    "limit", letter: "n", "N", .number(0...Int.max), "start with the newest N there are",
    fallback: "10")

  static let command = Command(
    name: "tail", group: .look,
    summary: "follows the transactions as they are committed",
    discussion: """
      Runs until Ctrl-C. None is left out, and none comes twice. Each comes with its first 20
      changes; JSON has all of them, a line for each transaction.
      """,
    operands: [.database, path, .matches],
    options: [recent, .grep, .caseSensitive] + Option.output(.short, .json) + [.wait, .color],
    examples: [
      "cambium tail air.cambium weather": "what happens below a node",
      "cambium tail air.cambium actor=anna op=delete": "what anna deletes",
      "cambium tail air.cambium -n 0 --json | jq .sequence": "for programs, from now on",
    ],
    stopsSafely: true,
    servings: [
      Serving(
        .get, scope: .changes, isStream: true, without: [recent.name, "output"], name: streamName)
    ], run: run)

  /// The name of the stream of transactions.
  static let streamName = "changes"

  static func run(_ call: Call) async throws {
    let database = try OpenDatabase.forReading(call)
    let teller = CommitTeller(call: call, detail: .patch(first: changesMax))
    let filter = try CommitFilter(call, database)
    let head = try database.head
    let under = call[path]?.path ?? .root
    var recent = try LogStretch(database, under: under, until: .sequence(head.rawValue))
    recent.filter = filter
    try recent.keepNewest(call.value(Self.recent).number)
    var isEmpty = true
    try recent.forEach { commit in
      isEmpty = false
      if Signals.isInterrupted { throw Failure.stopped() }
      try teller.tell(commit)
      return true
    }
    try call.output.flush()
    if try !under.isRoot && isEmpty && !database.snapshot()[under].exists {
      let name = Terminal.escaped(under.description)
      System.note("nothing is at \(name) now; waiting for it")
    }
    if !FileManager.default.isWritableFile(atPath: database.path) {
      System.note("\(Terminal.escaped(database.path)) cannot be written, so nothing new is seen")
    }
    try await follow(database.changes(after: head, under: under), of: database, filter, teller)
  }

  /// Prints each transaction as it comes, until the user or the reader of the output has enough.
  private static func follow(
    _ commits: Commits, of database: Database, _ filter: CommitFilter, _ teller: CommitTeller
  ) async throws {
    let isAbandoned = teller.call.output.isAbandoned
    let turn = Turn()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        while !Signals.isInterrupted && !isAbandoned() {
          try await Task.sleep(for: .milliseconds(100))
        }
        // This ends the loop below, after what it is just telling.
        try turn.take { try database.close() }
      }
      for try await commit in commits {
        try turn.take {
          guard try filter.accepts(commit) else { return }
          try teller.tell(commit)
          try teller.call.output.flush()
        }
      }
      group.cancelAll()
    }
    throw Signals.isInterrupted ? Failure.stopped() : Failure.silent(.brokenPipe)
  }

  /// Lets one thing happen at a time.
  private final class Turn: Sendable {
    private let mutex = Mutex(())

    func take(_ body: () throws -> Void) rethrows { try mutex.withLock { _ in try body() } }
  }
}
