// Goal: commits that reach the state's file later make no difference to anybody: readers, other
// processes, the next process after any end of this one.
// Method: each test first makes sure that there are such commits, and then looks where they could
// be missed. The random histories of other suites run with them as well, since they are the
// default.

import LMDB
import Testing

@testable import Cambium

@Suite("A state whose file gets commits later", .timeLimit(.minutes(2)))
struct DeferredStateTests {
  private let place: Place

  init() throws {
    place = try Place()
    try place.fill(3)
  }

  /// Writes some numbers, without a reader in between.
  private func write(_ numbers: Range<Int64>, to database: Database) throws {
    for number in numbers {
      try database.write { tx in
        try tx.set(NodePath("n/\(number)"), to: ["number": .integer(number)])
      }
    }
  }

  private func isDeferred(_ database: Database) throws -> Bool {
    try !database.directory.latestState().behind.isEmpty
  }

  /// The position in the state's file, whatever is to be written to it.
  private func position(_ database: Database) throws -> SequenceNumber {
    try database.directory.latestState().applied()
  }

  // MARK: Readers

  @Test("shows them to every reader, and is deferred again once nobody reads in between")
  func readers() throws {
    let database = try place.open()
    try write(0..<20, to: database)
    #expect(try isDeferred(database))
    #expect(try position(database) < 23)
    #expect(try database.read { try $0["n"].childCount } == 20)
    #expect(try !isDeferred(database))
    #expect(try position(database) == 23)
    // One that is written before a reader might come is written at once.
    try write(20..<21, to: database)
    #expect(try !isDeferred(database))
    try write(21..<23, to: database)
    #expect(try isDeferred(database))
    #expect(try database.snapshot(at: .sequence(25))["n/21"]["number"] == 21)
    try expectSound(database)
    try database.close()
  }

  @Test("shows them to transactions, by key and in order, and to a transaction that is given up")
  func transactions() throws {
    let database = try place.open()
    try write(0..<20, to: database)
    try database.write { tx in
      #expect(try tx["n/7"]["number"] == 7)
      try tx.increment("n/7", "number", by: 1)
      #expect(try tx["n/7"]["number"] == 8)
    }
    #expect(try isDeferred(database))
    #expect(throws: Expected.self) {
      try database.write { tx in
        try tx.set("n/7", to: ["number": 100])
        throw Expected()
      }
    }
    try database.write { tx in
      #expect(try tx["n/7"]["number"] == 8)
      try? tx.attempt {
        try tx.remove("n/8")
        throw Expected()
      }
      try tx.remove("n/9")
      var numbers = 0
      try tx["n"].children.forEach("number") { if $0 != nil { numbers += 1 } }
      #expect(numbers == 19)
    }
    #expect(try database.read { try $0["n"].childCount } == 19)
    try expectSound(database)
    try database.close()
  }

  private struct Expected: Error {}

  @Test("gets them within a moment if nobody reads")
  func delay() async throws {
    let database = try place.open()
    try write(0..<20, to: database)
    let isWritten = try await eventually { try position(database) == 23 }
    #expect(isWritten)
    try await database.close()
  }

  // MARK: Other processes

  @Test("gets them at once while another process has it open, which sees each of them")
  func otherProcess() async throws {
    let signals = (ready: place.beside("ready"), written: place.beside("written"))
    let database = try place.open()
    try write(0..<20, to: database)
    #expect(try isDeferred(database))
    async let other = #expect(processExitsWith: .success) {
      [
        path = place.path as String, ready = signals.ready as String,
        written = signals.written as String
      ] in
      let database = try Database(at: path)
      // The ones that were deferred when it came, and all later ones.
      try #require(try database.read { try $0["n"].childCount } == 20)
      try Signal.send(ready)
      try Signal.wait(for: written)
      try #require(try database.read { try $0["n"].childCount } == 40)
      try database.commit { tx in try tx.set("n/40", to: ["number": 40]) }
      try await database.close()
    }
    try await Signal.arrival(of: signals.ready)
    try write(20..<40, to: database)
    #expect(try !isDeferred(database))
    try Signal.send(signals.written)
    _ = await other
    try write(41..<50, to: database)
    #expect(try isDeferred(database))
    #expect(try database.read { try $0["n"].childCount } == 50)
    try expectSound(database)
    try await database.close()
  }

  @Test("that another process has caught up meanwhile is not given them once more")
  func caughtUp() async throws {
    let database = try place.open { $0.background = ManualWork() }
    defer { try? database.close() }
    try write(0..<20, to: database)
    #expect(try isDeferred(database))
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let database = try Database(at: path)
      try database.commit { tx in try tx.set("n/20", to: ["number": 20]) }
      try await database.close()
    }
    try write(21..<30, to: database)
    #expect(try database.read { try $0["n"].childCount } == 30)
    try expectSound(database)
  }

  /// Stores an entry again as it is.
  private func rewrite(
    _ name: String, in transaction: borrowing WriteTransaction, _ tables: StateTables
  ) throws {
    try Array(name.utf8).lend { key in
      let value = try transaction.access.get(tables.meta, key) { $0.array() }
      try #require(value).lend { try transaction.put(tables.meta, key, $0) }
    }
  }

  @Test("does not keep a step of background work waiting, which the log could not make again")
  func steps() throws {
    let database = try place.open { $0.background = ManualWork() }
    defer { try? database.close() }
    try write(0..<20, to: database)
    try database.writer.exclusively {
      let state = try database.directory.stateForStep().state
      #expect(try !isDeferred(database))
      let transaction = try WriteTransaction(state.environment, behind: state.behind)
      try rewrite("head", in: transaction, state.tables)
      try transaction.commit()
      #expect(try !isDeferred(database))
    }
    try expectSound(database)
  }

  // MARK: Ends

  @Test("gets them when the database is closed")
  func closing() throws {
    let database = try place.open()
    try write(0..<20, to: database)
    #expect(try isDeferred(database))
    try database.close()
    try place.editState { transaction, tables in
      let head = try StateReader(access: transaction.access, tables: tables).head()
      #expect(head.applied == 23)
    }
  }

  @Test("that never gets them is brought up to the log by the next process")
  func killed() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = place.path as String] in
      let database = try Database(at: path)
      for number in 0..<20 as Range<Int64> {
        try database.commit { tx in try tx.set(NodePath("n/\(number)"), to: .integer(number)) }
      }
      kill(getpid(), SIGKILL)
    }
    try place.use { database in
      #expect(try database.read { try $0["n"].childCount } == 20)
      try expectSound(database)
    }
  }

  // MARK: Failures

  @Test("that cannot be written says so to readers, never the value before, and recovers")
  func failure() async throws {
    let heard = Heard()
    let database = try place.open { $0.diagnostics = heard.add }
    let broken = try BrokenFile(try database.directory.currentState().environment, .full)
    // The first one after a reader is written at once, so that its own commit fails.
    try write(0..<1, to: database)
    #expect(throws: DatabaseError.self) { try database.read { try $0["n/0"].exists } }
    try broken.mend()
    #expect(try database.read { try $0["n/0"]["number"] } == 0)
    try write(1..<20, to: database)
    #expect(try isDeferred(database))
    let later = try BrokenFile(try database.directory.latestState().environment, .full)
    for _ in 0..<3 {
      #expect(throws: DatabaseError.self) { try database.read { try $0["n"].childCount } }
      #expect(try database.snapshot(at: .sequence(4))["n"].childCount == 4)
    }
    try later.mend()
    #expect(try database.read { try $0["n"].childCount } == 20)
    #expect(heard.unread.count == 2)
    try write(20..<30, to: database)
    try expectSound(database)
    try await database.close()
  }

  @Test("with an I/O error is made anew, with all that its file has never got")
  func inputOutput() async throws {
    let heard = Heard()
    let database = try place.open { $0.diagnostics = heard.add }
    try write(0..<20, to: database)
    #expect(try isDeferred(database))
    _ = try BrokenFile(try database.directory.latestState().environment, .inputOutput)
    #expect(throws: DatabaseError.self) { try database.read { try $0["n"].childCount } }
    let isNew = try await eventually { (try? database.read { try $0["n"].childCount }) == 20 }
    #expect(isNew)
    // It is told once it can be seen.
    let isTold = try await eventually { heard.rebuilds.count == 1 }
    #expect(isTold)
    try write(20..<30, to: database)
    #expect(try database.read { try $0["n"].childCount } == 30)
    try expectSound(database)
    try await database.close()
  }
}
