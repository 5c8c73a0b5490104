// Goal: where the log's commit succeeds and the state's does not, the write is stored, all
// observers get it, nobody reads the value before it, and the database recovers by itself.
// Method: the descriptor of the state's file is exchanged for one that answers ENOSPC or EIO, so
// that all else is what an app runs.

import LMDB
import Testing

@testable import Cambium

@Suite("A state that cannot be written", .timeLimit(.minutes(2)))
struct StateFailureTests {
  private let place: Place
  private let heard = Heard()

  init() throws {
    place = try Place()
    try place.fill(3)
  }

  private func open() throws -> Database { try place.open { $0.diagnostics = heard.add } }

  private func breakState(_ database: Database, _ fault: BrokenFile.Fault) throws -> BrokenFile {
    try BrokenFile(try database.directory.currentState().environment, fault)
  }

  private func expectBehind(
    _ applied: SequenceNumber, _ head: SequenceNumber,
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) {
    let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) { try body() }
    guard case .stateBehind(applied, head, _)? = error else {
      Issue.record("\(error as Any)", sourceLocation: sourceLocation)
      return
    }
  }

  // MARK: An I/O error

  @Test("for an I/O error is made anew at once, and the write can be read")
  func inputOutput() throws {
    let database = try open()
    let generation = try database.directory.currentState().generation
    _ = try breakState(database, .inputOutput)
    try database.write { tx in try tx.set("a", to: ["fresh": 1]) }
    #expect(try database.read { try $0["a"]["fresh"] } == 1)
    #expect(try database.head == 4)
    #expect(try database.directory.currentState().generation == generation + 1)
    #expect(heard.rebuilds.count == 1 && heard.unread == [])
    for number in 1...3 as ClosedRange<Int64> {
      try database.write { tx in try tx.set(NodePath("a/\(number)"), to: .integer(number)) }
    }
    try expectSound(database)
    try database.close()
    try place.use({ $0.diagnostics = heard.add }) { database in
      #expect(try database.head == 7)
      try expectSound(database)
    }
    #expect(heard.rebuilds.count == 1)
  }

  @Test("since an I/O error inside a body is made anew by the next write")
  func inputOutputInBody() throws {
    let database = try open()
    let error = StorageError(.inputOutput, "the disk is on fire")
    try database.directory.currentState().environment.health.poison(error)
    #expect(try database.head == 3)
    try database.write { tx in try tx.set("a", to: 1) }
    #expect(try database.read { try $0["a"].value } == 1)
    #expect(heard.rebuilds.count == 1)
    try expectSound(database)
    try database.close()
  }

  @Test("for an I/O error tells observers in order, none twice")
  func observers() async throws {
    let database = try open()
    let found = Task { try await sequences(3, of: database.changes(after: 2)) }
    _ = try breakState(database, .inputOutput)
    try await database.write { tx in try tx.set("a", to: 1) }
    try await database.write { tx in try tx.set("b", to: 1) }
    #expect(try await found.value == numbers(3, 5))
    try expectSound(database)
    try await database.close()
  }

  @Test("nor made anew says so, and is as soon as a write can do it")
  func noNewGeneration() async throws {
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let heard = Heard()
      var options = Database.Options()
      options.diagnostics = heard.add
      let database = try Database(at: path, options: options)
      try database.commit { tx in
        for number in 0..<5000 as Range<Int64> {
          try tx.set(NodePath(keys: ["m", .integer(number)]), to: 1)
        }
      }
      let state = try database.directory.currentState().environment
      let limit = Files.size(of: "\(path)/log/data.mdb") + 200_000
      try #require(Files.size(of: "\(state.path)/data.mdb") > limit)
      _ = try BrokenFile(state, .inputOutput)
      try FileSizeLimit.set(limit)
      try database.commit { tx in try tx.set("a", to: 1) }
      #expect(heard.unread == [5] && heard.rebuilds == [])
      let error = #expect(throws: DatabaseError.self) { try database.read { try $0["a"].value } }
      if case .stateBehind(4, 5, _)? = error {} else { Issue.record("\(error as Any)") }
      #expect(try database.read(at: .sequence(4)) { try $0["m"].childCount } == 5000)
      #expect(throws: DatabaseError.self) { try database.commit { tx in try tx.set("b", to: 1) } }
      try FileSizeLimit.set(nil)
      try database.commit { tx in try tx.set("b", to: 1) }
      #expect(try database.read { try $0["a"].value } == 1)
      #expect(try database.head == 6)
      #expect(heard.rebuilds.count == 1)
      #expect(try database.verify().findings == [])
      try database.close()
    }
    try place.expectSound()
  }

  // MARK: No room

  @Test("for want of room says so to readers, writers and verification, and catches up by itself")
  func full() throws {
    let database = try open()
    let file = try breakState(database, .full)
    try database.write { tx in try tx.set("a", to: ["fresh": 1]) }
    #expect(heard.unread == [4])
    expectBehind(3, 4) { _ = try database.read { try $0["a"].exists } }
    expectBehind(3, 4) { _ = try database.snapshot() }
    expectBehind(3, 4) { _ = try database.read(at: .sequence(4)) { try $0["a"].exists } }
    #expect(try database.read(at: .sequence(3)) { try $0["n/3"].value } == 3)
    // Nothing more is logged while the state cannot follow.
    let error = #expect(throws: DatabaseError.self) {
      try database.write { tx in try tx.set("b", to: 1) }
    }
    if case .full? = error {} else { Issue.record("\(error as Any)") }
    #expect(try database.directory.log.read { try $0.head().sequence } == 4)
    #expect(heard.unread == [4], "it is told once")
    try file.mend()
    #expect(try database.read { try $0["a"]["fresh"] } == 1)
    try database.write { tx in try tx.set("b", to: 1) }
    #expect(try database.head == 5)
    #expect(heard.rebuilds == [])
    try expectSound(database)
    try database.close()
  }

  @Test("for want of room ends the waiting of observers, who go on where they were")
  func fullForObservers() async throws {
    let database = try open()
    let file = try breakState(database, .full)
    let waiting = Task { try await sequences(1, of: database.changes(after: 3)) }
    try await Task.sleep(for: .milliseconds(50))
    try await database.write { tx in try tx.set("a", to: 1) }
    let error = await #expect(throws: DatabaseError.self) { try await waiting.value }
    if case .stateBehind(3, 4, _)? = error {} else { Issue.record("\(error as Any)") }
    try file.mend()
    // Nobody reads or writes: the engine has to try by itself.
    #expect(try await eventually { database.directory.feed.applied == 4 })
    #expect(try await sequences(1, of: database.changes(after: 3)) == [4])
    try expectSound(database)
    try await database.close()
  }

  @Test("for want of room is tried again after twice the time, up to a minute")
  func retries() throws {
    let database = try open()
    let file = try breakState(database, .full)
    try database.write { tx in try tx.set("a", to: 1) }
    let job = CatchUpJob(database.writer)
    for seconds in [2, 4, 8, 16, 32, 60, 60] {
      #expect(try job.step(ProgressReporter()) == .after(.seconds(seconds)))
    }
    try file.mend()
    #expect(try job.step(ProgressReporter()) == .whenDue)
    #expect(try database.read { try $0["a"].value } == 1)
    try expectSound(database)
    try database.close()
  }

  @Test("that is behind at the end is caught up by the next opening")
  func closedBehind() throws {
    let database = try open()
    let file = try breakState(database, .full)
    try database.write { tx in try tx.set("a", to: 1) }
    try file.mend()
    try database.close()
    try place.use({ $0.diagnostics = heard.add }) { database in
      #expect(try database.read { try $0["a"].value } == 1)
      try expectSound(database)
    }
    #expect(heard.rebuilds == [])
  }

  // MARK: The end

  @Test("is not trusted by the next opening where its last sync failed")
  func syncFails() throws {
    let database = try open()
    try database.write { tx in try tx.set("a", to: 1) }
    _ = try breakState(database, .inputOutput)
    #expect(throws: DatabaseError.self) { try database.close() }
    try place.use({ $0.diagnostics = heard.add }) { database in
      #expect(try database.read { try $0["a"].value } == 1)
      try expectSound(database)
    }
    #expect(heard.rebuilds.count == 1)
  }

  @Test("because it is open for reading only is behind without harm, and verification says it")
  func readOnly() throws {
    try place.appendToLog("a", 1)
    try place.use({ $0.readOnly = true }) { database in
      let verification = try database.verify()
      #expect(verification.isSound && verification.behind == 1 && verification.records == 4)
    }
    try place.use { database in
      let verification = try database.verify()
      #expect(verification.isSound && verification.behind == 0)
    }
  }
}
