// Goal: async code that writes single models shares flushes, and holds up no task while it waits.
// Method: the writer is held until as many writes wait as the queue takes, which the refusal of one
// more shows; then the commits of the log are counted, not the time.

import Foundation
import Testing

@testable import Cambium

@Suite("Async writes of single models", .timeLimit(.minutes(2)))
struct AsyncWritingTests {
  private struct Note: Cambium.Model {
    typealias Key = String
    var id = ID()
    var text = ""
    var reads = 0

    static let schema = ModelSchema<Note>("notes") {
      Property(\.text).validated("must not be empty") { !$0.isEmpty }
    }
  }

  /// Runs calls at the same time, all of which wait for the writer before the first has its turn.
  ///
  /// - Returns: The result of each call.
  private func together(
    _ database: Database, _ calls: [@Sendable () async throws -> Void]
  ) async throws -> [Result<Void, any Error>] {
    let tasks = try await database.holdingWriter {
      let (refusals, refusal) = AsyncStream<Void>.makeStream()
      let tasks = calls.map { call in
        Task {
          do { try await call() } catch let error as DatabaseError {
            refusal.yield()
            throw error
          }
        }
      }
      // One more than the queue takes, so that the refusal says that it is full.
      for await _ in refusals { break }
      return tasks
    }
    var results: [Result<Void, any Error>] = []
    for task in tasks { results.append(await task.result) }
    return results
  }

  @Test("share one commit of the log, whatever they do, and each is a transaction")
  func sharing() async throws {
    let count = 200
    try await withDatabase({ options in
      options.queueLength = count
      options.busyTimeout = .seconds(60)
    }) { database in
      try await database.register(Note.self)
      for id in ["old", "gone"] { try await database.insert(Note(id: ID(id), text: id)) }
      let (commits, head) = (try database.logCommits, try database.head)
      let results = try await together(database, calls(count + 1, database))
      #expect(try database.logCommits == commits + 1)
      #expect(results.count { (try? $0.get()) == nil } == 1)
      #expect(try database.head.rawValue == head.rawValue + UInt64(count))
      try expectNotes(database, after: head)
    }
  }

  private typealias ID = Note.ID

  /// Inserts, upserts, updates and batches; those of the same kind differ by their number.
  private func calls(_ count: Int, _ database: Database) -> [@Sendable () async throws -> Void] {
    (0..<count).map { number in
      {
        let actor = "actor-\(number)"
        switch number % 4 {
        case 0: try await database.insert(Note(id: ID("n\(number)"), text: "new"), actor: actor)
        case 1: try await database.upsert(Note(id: ID("n\(number)"), text: "put"), actor: actor)
        case 2: try await database.update(ID("old"), actor: actor) { $0.reads += 1 }
        default:
          var batch = WriteBatch()
          batch.increment("notes/gone", "reads", by: 1)
          try await database.write(batch, metadata: ["number": "\(number)"], actor: actor)
        }
      }
    }
  }

  /// Compares what the calls did, counted from their transactions, with what is stored.
  private func expectNotes(_ database: Database, after head: SequenceNumber) throws {
    var kinds = [0, 0, 0, 0]
    var commits = try database.commits(after: head)
    while let commit = try commits.next() {
      let actor = try #require(commit.metadata["actor"])
      let number = try #require(Int(actor.dropFirst("actor-".count)))
      kinds[number % 4] += 1
      #expect(commit.metadata["number"] == (number % 4 == 3 ? "\(number)" : nil))
      if number % 4 < 2 {
        let note = try database.get(ID("n\(number)"))
        #expect(note.text == (number % 4 == 0 ? "new" : "put"))
      }
    }
    #expect(try database.query(Note.self).count() == 2 + kinds[0] + kinds[1])
    #expect(try database.get(ID("old")).reads == kinds[2])
    #expect(try database.get(ID("gone")).reads == kinds[3])
  }

  @Test("are refused and reported as synchronous ones are, one by one within a commit")
  func refusals() async throws {
    try await withDatabase { database in
      try await database.register(Note.self)
      try await database.insert(Note(id: ID("a"), text: "a"))
      let head = try database.head
      await #expect(throws: ValidationError.self) {
        try await database.insert(Note(id: ID("b"), text: ""))
      }
      await #expect(throws: DatabaseError.self) {
        try await database.insert(Note(id: ID("a"), text: "again"))
      }
      await #expect(throws: DatabaseError.self) {
        try await database.update(ID("b")) { $0.text = "there is none" }
      }
      #expect(try await database.delete(ID("b")) == false)
      #expect(try database.query(Note.self).fetch().map(\.text) == ["a"])
      #expect(try await database.upsert(Note(id: ID("a"), text: "a")) == .unchanged)
      #expect(try await database.update(ID("a")) { $0.text = "b" }.properties == ["text"])
      #expect(try database.head > head)
      let cancelled = Task {
        while !Task.isCancelled { await Task.yield() }
        try await database.insert(Note(id: ID("c"), text: "c"))
      }
      cancelled.cancel()
      await #expect(throws: CancellationError.self) { try await cancelled.value }
      #expect(try database.find(ID("c")) == nil)
    }
  }

  @Test("sign the transactions of every call with who makes it")
  func actors() async throws {
    try await withDatabase { database in
      let ada = "ada"
      try await database.register(Note.self, actor: ada)
      try await database.insert(Note(id: ID("a"), text: "a"), metadata: ["why": "new"], actor: ada)
      try await database.update(ID("a"), metadata: ["actor": "bob"], actor: ada) { $0.text = "b" }
      try await database.delete(ID("a"), actor: ada)
      try await database.undoLast(of: .init(actor: ada))
      try await database.redo(of: .init(actor: ada))
      try await database.revert(after: 3, upTo: try database.head, actor: ada)
      try await database.undo(try database.head, actor: ada)
      try await database.declare("others", CollectionDefinition(), actor: ada)
      try await database.write(actor: ada) { tx in try tx.set("x", to: 1) }
      var commits = try database.commits(after: .zero)
      while let commit = try commits.next() {
        #expect(commit.metadata["actor"] == ada, "transaction \(commit.sequence)")
      }
      #expect(try database.commit(2).metadata["why"] == "new")
    }
  }

  @Test("hold up no task: as many as there are threads wait, and others go on")
  func waiting() async throws {
    try await withDatabase({ $0.busyTimeout = .seconds(60) }) { database in
      try await database.register(Note.self)
      let threads = ProcessInfo.processInfo.activeProcessorCount
      let tasks: [Task<Void, any Error>] = try await database.holdingWriter {
        let tasks = (0..<4 * threads).map { number in
          Task {
            switch number % 4 {
            case 0: try await database.tag("tag-\(number)")
            case 1: _ = try await database.store(Data([UInt8(number % 256)]))
            case 2: try await database.setRetention(Retention(transactions: 1000))
            default: try await database.insert(Note(id: ID("n\(number)"), text: "new"))
            }
          }
        }
        // Only a task that gets a thread can end what the others wait for.
        await Task { for _ in 0..<100 { await Task.yield() } }.value
        return tasks
      }
      for task in tasks { try await task.value }
      #expect(try database.tags.count == threads)
    }
  }
}
