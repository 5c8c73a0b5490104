import Testing

@testable import Cambium
@testable import LMDB

/// The feed delivers every commit to its observers, once and in order, from wherever they begin.
@Suite("The change feed", .timeLimit(.minutes(2)))
struct FeedTests {
  // MARK: Order

  @Test("tells every commit once and in order, however many write and however slow one observes")
  func order() async throws {
    try await withDatabase { database in
      let count = 4 * 40 + 64 * 3
      async let eager = sequences(count, of: database.changes(after: 0))
      async let slow = slowly(count, database.changes(after: 0))
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          await onThreads(4) { thread in
            for number in 0..<40 {
              try database.write { tx in try tx.set(place(thread, number), to: .integer(1)) }
            }
          }
        }
        for task in 4..<68 {
          group.addTask {
            for number in 0..<3 {
              try await database.write { tx in try tx.set(place(task, number), to: .integer(1)) }
            }
          }
        }
        try await group.waitForAll()
      }
      let expected = numbers(1, UInt64(count))
      let late = try await sequences(count, of: database.changes(after: 0))
      #expect(late == expected)
      let found = try await (eager, slow)
      #expect(found.0 == expected)
      #expect(found.1 == expected)
    }
  }

  private func slowly(_ count: Int, _ commits: Commits) async throws -> [SequenceNumber] {
    var found: [SequenceNumber] = []
    for try await commit in commits {
      if commit.sequence.rawValue % 50 == 0 { try await Task.sleep(for: .milliseconds(5)) }
      found.append(commit.sequence)
      if found.count == count { break }
    }
    return found
  }

  private func place(_ writer: Int, _ number: Int) -> NodePath {
    NodePath(keys: ["w", .integer(Int64(writer)), .integer(Int64(number))])
  }

  @Test("goes on after any number")
  func resumes() async throws {
    try await withDatabase { database in
      try write(12, to: database)
      for seen in UInt64(0)..<12 {
        let found = try await sequences(
          Int(12 - seen), of: database.changes(after: SequenceNumber(seen)))
        #expect(found == numbers(seen + 1, 12))
      }
    }
  }

  @Test("begins with the next commit unless told otherwise")
  func fromNow() async throws {
    try await withDatabase { database in
      try write(3, to: database)
      async let found = sequences(2, of: database.changes())
      // The feed begins at the call of `changes`, which was before this.
      try await database.write { tx in try tx.set("a", to: 4) }
      try await database.write { tx in try tx.set("a", to: 5) }
      try await database.write { tx in try tx.set("a", to: 6) }
      let numbers = try await found
      #expect(numbers.first.map { $0 >= 4 } == true)
      #expect(numbers.count == 2 && numbers[1] == numbers[0].next)
    }
  }

  @Test("waits for a number that is far ahead")
  func ahead() async throws {
    try await withDatabase { database in
      async let found = sequences(1, of: database.changes(after: 5))
      try write(6, to: database)
      #expect(try await found == [6])
    }
  }

  @Test("reaches a hundred observers")
  func manyObservers() async throws {
    try await withDatabase { database in
      try await withThrowingTaskGroup(of: [SequenceNumber].self) { group in
        for _ in 0..<100 {
          group.addTask { try await sequences(5, of: database.changes(after: 0)) }
        }
        try write(5, to: database)
        for try await found in group { #expect(found == numbers(1, 5)) }
      }
    }
  }

  private func write(_ count: Int64, to database: Database) throws {
    for number in 0..<count {
      try database.write { tx in try tx.set("a", to: .integer(number)) }
    }
  }

  // MARK: The end

  @Test("ends when the observer's task is cancelled")
  func cancelled() async throws {
    try await withDatabase { database in
      try write(1, to: database)
      let observer = Task { try await sequences(100, of: database.changes(after: 0)) }
      observer.cancel()
      // It may have seen the first commit before it was cancelled.
      #expect(try await observer.value.count <= 1)
    }
  }

  @Test("ends when the task is cancelled while it waits")
  func cancelledWaiting() async throws {
    try await withDatabase { database in
      try write(1, to: database)
      let (seen, report) = AsyncStream.makeStream(of: SequenceNumber.self)
      let observer = Task {
        for try await commit in database.changes(after: 0) { report.yield(commit.sequence) }
        report.finish()
      }
      var iterator = seen.makeAsyncIterator()
      #expect(await iterator.next() == 1)
      observer.cancel()
      #expect(await iterator.next() == nil)
      try await observer.value
    }
  }

  @Test("ends when the database is closed, for those who wait and for those who come later")
  func closed() async throws {
    let place = try Place()
    let database = try place.open()
    try write(1, to: database)
    let (seen, report) = AsyncStream.makeStream(of: SequenceNumber.self)
    let observer = Task {
      for try await commit in database.changes(after: 0) { report.yield(commit.sequence) }
    }
    var iterator = seen.makeAsyncIterator()
    #expect(await iterator.next() == 1)
    try await database.close()
    try await observer.value
    #expect(try await sequences(1, of: database.changes(after: 0)) == [])
    try place.expectSound()
  }

  // MARK: Content of commits

  @Test("tells metadata, time, origin, operations and events with each commit")
  func contents() async throws {
    try await withDatabase { database in
      try await database.write(metadata: ["who": "ada"]) { tx in
        try tx.event("begun", ["step": 1])
        try tx.set("a", to: 1)
        try tx.event("ended")
      }
      try await database.write { tx in try tx.event("alone", 5) }
      var iterator = database.changes(after: 0).makeAsyncIterator()
      let first = try #require(try await iterator.next())
      #expect(first.metadata == ["who": "ada"])
      #expect(first.operationCount == 3)
      #expect(
        first.events
          == [Event(name: "begun", payload: ["step": 1]), Event(name: "ended", payload: .null)])
      let second = try #require(try await iterator.next())
      #expect(second.events == [Event(name: "alone", payload: 5)])
      #expect(try second.changes.fetch() == [])
      #expect(second.origin == first.origin)
      #expect(second.time >= first.time)
    }
  }

  @Test("tells old and new values, also long after")
  func values() async throws {
    try await withDatabase { database in
      try await database.write { tx in
        try tx.set("b", to: ["name": "Bob", "born": 1900])
        try tx.set("a", to: 1)
      }
      try await database.write { tx in
        try tx.increment("a", by: 1)
        try tx.update("b", ["born": nil])
        try tx.set("c", to: 3)
        try tx.set("d", to: 4)
        try tx.remove("d")
      }
      try await database.write { tx in try tx.set("a", to: 2) }
      try await database.write { tx in try tx.remove("b") }
      for _ in 0..<3 { try await database.write { tx in try tx.set("a", to: "later") } }
      let told = try numbers(1, 4).map { try database.commit($0).changes.fetch() }
      let bob: Value = ["name": "Bob", "born": 1900]
      #expect(
        told == [
          [Change(path: "a", old: nil, new: 1), Change(path: "b", old: nil, new: bob)],
          [
            Change(path: "a", old: 1, new: 2), Change(path: "b", old: bob, new: ["name": "Bob"]),
            Change(path: "c", old: nil, new: 3),
          ],
          [], [Change(path: "b", old: ["name": "Bob"], new: nil)],
        ])
    }
  }

  // MARK: The past

  @Test("can be walked between any two numbers, in both directions")
  func cursors() throws {
    try withDatabase { database in
      try write(6, to: database)
      func walk(_ cursor: consuming CommitCursor) throws -> [SequenceNumber] {
        var found: [SequenceNumber] = []
        while let commit = try cursor.next() { found.append(commit.sequence) }
        return found
      }
      #expect(try walk(database.commits()) == numbers(1, 6))
      #expect(try walk(database.commits(reversed: true)) == numbers(1, 6).reversed())
      #expect(try walk(database.commits(after: 2, upTo: 4)) == [3, 4])
      #expect(try walk(database.commits(after: 2, upTo: 4, reversed: true)) == [4, 3])
      #expect(try walk(database.commits(after: 6)) == [])
      #expect(try walk(database.commits(after: 9, reversed: true)) == [])
      #expect(try walk(database.commits(upTo: 100)) == numbers(1, 6))
    }
  }

  @Test("has no commit before the first or after the newest")
  func bounds() throws {
    try withDatabase { database in
      try write(2, to: database)
      #expect(try database.commit(2).sequence == 2)
      for number in [0, 3, UInt64.max] {
        #expect(throws: DatabaseError.self) { try database.commit(SequenceNumber(number)) }
      }
    }
  }

  @Test("does not believe a damaged wake file")
  func damagedWakeFile() async throws {
    try await withDatabase { database in
      try write(1, to: database)
      try WakeFile(path: "\(database.path)/wake").write(1 << 60)
      async let found = sequences(2, of: database.changes(after: 0))
      try await database.write { tx in try tx.set("a", to: 2) }
      let numbers = try await found
      #expect(numbers == [1, 2])
    }
  }
}
