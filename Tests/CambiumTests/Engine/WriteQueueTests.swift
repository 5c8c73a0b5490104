// Async writes wait in a queue until the writer takes them, all at once.

import Dispatch
import Synchronization
import Testing

@testable import Cambium

@Suite("The queue of writes")
struct WriteQueueTests {
  private struct Abandoned: Error {}

  /// Fills the queue of a held writer with writes of `set("n/<index>")`.
  ///
  /// - Returns: The tasks; those of which the queue is full have been refused.
  private func fillQueue(
    of database: Database, by surplus: Int,
    failing: @escaping @Sendable (Int) -> Bool = { _ in false }
  ) async throws -> [Task<SequenceNumber, any Error>] {
    let (refusals, refusal) = AsyncStream<Void>.makeStream()
    let tasks = (0..<(database.directory.options.queueLength + surplus)).map { index in
      Task {
        do {
          return try await database.write { tx in
            try tx.set(NodePath("n/\(index)"), to: 1)
            if failing(index) { throw Abandoned() }
            return tx.sequence
          }
        } catch let error as DatabaseError {
          refusal.yield()
          throw error
        }
      }
    }
    var count = 0
    for await _ in refusals {
      count += 1
      if count == surplus { break }
    }
    return tasks
  }

  @Test("commits what waits with one commit of the log, and each body is a transaction")
  func group() async throws {
    try await withDatabase({ options in
      options.queueLength = 200
      options.busyTimeout = .seconds(60)
    }) { database in
      try await database.write { tx in try tx.set("n", to: 0) }
      let before = try database.logCommits
      let tasks = try await database.holdingWriter {
        try await fillQueue(of: database, by: 3) { $0 % 20 == 7 }
      }
      var sequences: Set<SequenceNumber> = []
      var errors: [any Error] = []
      for task in tasks {
        switch await task.result {
        case .success(let sequence): sequences.insert(sequence)
        case .failure(let error): errors.append(error)
        }
      }
      #expect(try database.logCommits == before + 1)
      #expect(sequences == Set((2...(try database.head.rawValue)).map { SequenceNumber($0) }))
      #expect(sequences.count + errors.count == 203)
      #expect(errors.count(where: { $0 is Abandoned }) >= 7)
      #expect(try database.read { try $0["n"].childCount } == sequences.count)
    }
  }

  @Test("goes along with a synchronous write")
  func synchronous() async throws {
    let (place, work) = (try Place(), ManualWork())
    let database = try place.open { ($0.background, $0.queueLength) = (work, 5) }
    // Nobody works the queue off until the test says so.
    let tasks = try await fillQueue(of: database, by: 1)
    try database.commit { tx in try tx.set("m", to: 1) }
    #expect(try database.head == 6)
    work.runAll()
    var sequences: Set<SequenceNumber> = []
    for task in tasks {
      if case .success(let sequence) = await task.result { sequences.insert(sequence) }
    }
    #expect(sequences == [2, 3, 4, 5, 6])
    func finish() throws {
      try expectSound(database)
      try database.close()
    }
    try finish()
  }

  @Test("is bounded: what comes when it is full is refused, and what waits is not lost")
  func bounded() async throws {
    try await withDatabase({ options in
      options.queueLength = 4
      options.busyTimeout = .seconds(60)
    }) { database in
      let tasks = try await database.holdingWriter {
        try await fillQueue(of: database, by: 6)
      }
      var count = 0
      for task in tasks {
        switch await task.result {
        case .success: count += 1
        case .failure(DatabaseError.busy(let reason)): #expect(reason.contains("queueLength"))
        case .failure(let error): Issue.record(error)
        }
      }
      #expect(count == 4)
      #expect(try database.head == 4)
    }
  }

  @Test("forgets a write that is cancelled before it starts")
  func cancelled() async throws {
    try await withDatabase({ options in
      options.queueLength = 5
      options.busyTimeout = .seconds(60)
    }) { database in
      let tasks = try await database.holdingWriter {
        let tasks = try await fillQueue(of: database, by: 1)
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
        return tasks
      }
      var count = 0
      for task in tasks where await task.isFailure(of: CancellationError.self) { count += 1 }
      #expect(count == 5)
      #expect(try database.head == 0)
      // A place is free again.
      try await database.write { tx in try tx.set("a", to: 1) }
    }
  }

  @Test("does not cancel a write that runs")
  func cancelledWhileRunning() async throws {
    try await withDatabase { database in
      let (starts, start) = AsyncStream<Void>.makeStream()
      let end = DispatchSemaphore(value: 0)
      let task = Task {
        try await database.write { tx in
          start.yield()
          end.wait()
          try tx.set("a", to: 1)
        }
      }
      for await _ in starts {
        task.cancel()
        end.signal()
        break
      }
      try await task.value
      #expect(try database.head == 1)
    }
  }

  @Test("gives up after the timeout")
  func timeout() async throws {
    try await withDatabase({ $0.busyTimeout = .milliseconds(20) }) { database in
      try await database.holdingWriter {
        let error = await #expect(throws: DatabaseError.self) {
          try await database.write { tx in try tx.set("a", to: 1) }
        }
        guard case .busy? = error else {
          Issue.record("\(String(describing: error))")
          return
        }
      }
      try await database.write { tx in try tx.set("a", to: 1) }
      #expect(try database.head == 1)
    }
  }

  @Test("fails what comes when the database is closed")
  func closed() async throws {
    let directory = try TemporaryDirectory()
    let database = try Database(at: "\(directory.path)/test.cambium")
    try await database.write { tx in try tx.set("a", to: 1) }
    try await database.close()
    for error in [
      await #expect(throws: DatabaseError.self) {
        try await database.write { tx in try tx.set("b", to: 1) }
      },
      #expect(throws: DatabaseError.self) { try database.snapshot() },
    ] {
      guard case .closed? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
    let again = try Database(at: database.path)
    #expect(try again.head == 1)
    try expectSound(again)
  }

  @Test("keeps the order and loses nothing under many writers")
  func many() async throws {
    try await withDatabase { database in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<20 {
          group.addTask {
            for number in 0..<25 {
              try await database.write { tx in
                try tx.append(.integer(Int64(number)), to: NodePath("lists/\(writer)"))
                try tx.increment("total", by: 1)
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try database.head == 500)
      try database.read { snapshot in
        #expect(try snapshot["total"].value == 500)
        for list in try snapshot["lists"].children.fetch() {
          #expect(try list.value == .array((0..<25).map { .integer($0) }))
        }
      }
    }
  }
}

extension Task {
  /// True if the task ended with an error of a certain type.
  fileprivate func isFailure<E: Error>(of type: E.Type) async -> Bool {
    if case .failure(let error) = await result { return error is E }
    return false
  }
}
