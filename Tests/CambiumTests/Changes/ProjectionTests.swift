// Goal: an app's projection says what folding every transaction in order says, whatever happens
// meanwhile: other versions, errors, closing in the middle, compaction, a state that is rebuilt.
// Method: counters by color, compared with a plain look at the nodes.

import Dispatch
import Foundation
import Simulation
import Synchronization
import Testing

@testable import Cambium

/// Counts nodes by color, and events by name.
private struct Colors: Projection {
  let name = "colors"
  var version = 1
  var failing: (@Sendable () -> Bool)?

  func fold(
    _ change: Change, at sequence: SequenceNumber, into table: ProjectionTable
  ) throws {
    if failing?() == true { throw DatabaseError.misuse(reason: "not today") }
    try add(-1, color(change.old), table)
    try add(+1, color(change.new), table)
  }

  func fold(_ event: Event, at sequence: SequenceNumber, into table: ProjectionTable) throws {
    try add(+1, NodePath(keys: ["events", .text(event.name)]), table)
  }

  private func color(_ value: Value?) -> NodePath? {
    guard case .map(let record) = value, case .string(let color) = record["color"] else {
      return nil
    }
    return NodePath(keys: [.integer(Int64(version)), .text(color)])
  }

  private func add(_ step: Int64, _ path: NodePath?, _ table: ProjectionTable) throws {
    guard let path else { return }
    var count: Int64 = 0
    if case .integer(let number) = try table.value(at: path) { count = number }
    try table.set(path, to: count + step == 0 ? nil : .integer(count + step))
  }
}

@Suite("A projection of an app") struct ProjectionTests {
  private static let colors = ["red", "green", "blue"]

  private func write(_ database: Database, _ random: inout SeededGenerator, _ count: Int) throws {
    for _ in 0..<count {
      let (key, color) = (Int64(random.below(30)), random.pick(ProjectionTests.colors))
      try database.write { tx in
        let path = NodePath(keys: ["things", .integer(key)])
        if random.oneIn(4) {
          _ = try tx.remove(path)
        } else {
          try tx.set(path, to: .map(["color": .string(color)]))
        }
        if random.oneIn(5) { try tx.event("tick") }
        if random.oneIn(40) { _ = try tx.remove("things") }
      }
    }
  }

  private func expected(_ snapshot: Snapshot, version: Int) throws -> [NodePath: Value] {
    var counts: [NodePath: Int64] = [:]
    for key in try snapshot["things"].children.keys() {
      if case .string(let color) = try snapshot[NodePath(keys: ["things", key])]["color"] {
        counts[NodePath(keys: [.integer(Int64(version)), .text(color)]), default: 0] += 1
      }
    }
    return counts.mapValues { .integer($0) }
  }

  private func content(_ projection: RegisteredProjection, _ snapshot: Snapshot) throws
    -> [NodePath: Value]
  {
    var content: [NodePath: Value] = [:]
    try projection.read(snapshot).forEach { path, value in
      if path.keys.first != "events" { content[path] = value }
      return true
    }
    return content
  }

  private func compare(
    _ database: Database, _ projection: RegisteredProjection, version: Int = 1
  ) async throws {
    try await projection.catchUp()
    try database.read { snapshot in
      let table = try projection.read(snapshot)
      #expect(table.position == snapshot.sequence)
      #expect(table.version == version)
      let (found, wanted) = (
        try content(projection, snapshot),
        try expected(snapshot, version: version)
      )
      #expect(found == wanted)
    }
  }

  @Test("says what the transactions say", arguments: SeededGenerator.seeds(1, 2))
  func histories(seed: UInt64) async throws {
    print("seed \(seed)")
    try await withDatabase { database in
      var random = SeededGenerator(seed: seed)
      try write(database, &random, 100)
      let projection = try database.register(Colors())
      try await compare(database, projection)
      for _ in 0..<5 {
        try write(database, &random, 20)
        try await compare(database, projection)
      }
      var events = 0
      var commits = try database.commits()
      while let commit = try commits.next() { events += commit.events.count }
      let counted = try database.read { try projection.read($0)["events/tick"] }
      #expect(counted == .integer(Int64(events)))
    }
  }

  @Test("says how far it is, and ends at the whole")
  func progress() async throws {
    try await withDatabase { database in
      var random = SeededGenerator(seed: 5)
      try write(database, &random, 200)
      let told = Mutex<[WorkProgress]>([])
      let projection = try database.register(Colors()) { progress in
        told.withLock { $0.append(progress) }
        return true
      }
      try await compare(database, projection)
      let first = told.withLock { $0 }
      #expect(!first.isEmpty && first.allSatisfy { $0.done <= $0.total ?? 0 })
      #expect(first.map(\.done) == first.map(\.done).sorted())
      let head = try database.head.rawValue
      #expect(first.last?.done == head && first.last?.total == head)
    }
  }

  @Test("goes on where it was after closing, and begins anew with another version")
  func versions() async throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/test.cambium"
    var random = SeededGenerator(seed: 3)
    let calls = Mutex(0)
    let counting = Colors(failing: {
      calls.withLock { $0 += 1 }
      return false
    })
    do {
      let database = try Database(at: path)
      try write(database, &random, 80)
      try await compare(database, try database.register(counting))
      try await database.close()
    }
    let database = try Database(at: path)
    let before = calls.withLock { $0 }
    try await compare(database, try database.register(counting))
    #expect(calls.withLock { $0 } == before)
    let isHeld = Mutex(true)
    let held = Colors(version: 2, failing: { isHeld.withLock { $0 } })
    let next = try database.register(held)
    await #expect(throws: DatabaseError.self) { try await next.catchUp() }
    try database.read { snapshot in
      let table = try next.read(snapshot)
      #expect(table.version == 1)
      #expect(table.position == snapshot.sequence)
    }
    isHeld.withLock { $0 = false }
    try await compare(database, next, version: 2)
    await #expect(throws: DatabaseError.self) {
      try await database.register(Colors()).catchUp()
    }
    try await compare(database, try database.register(held), version: 2)
    try expectSound(database)
    try await database.close()
  }

  @Test("tells errors, and goes on after them")
  func errors() async throws {
    let told = Mutex<[String]>([])
    let isFailing = Mutex(true)
    try await withDatabase {
      $0.diagnostics = { diagnostic in told.withLock { $0.append("\(diagnostic)") } }
    } _: { database in
      var random = SeededGenerator(seed: 4)
      try write(database, &random, 10)
      let projection = try database.register(Colors(failing: { isFailing.withLock { $0 } }))
      await #expect(throws: DatabaseError.misuse(reason: "not today")) {
        try await projection.catchUp()
      }
      #expect(told.withLock { $0.first }?.contains("not today") == true)
      isFailing.withLock { $0 = false }
      try await compare(database, projection)
    }
  }

  @Test("tells an error to those who waited when the step began, and to nobody who came later")
  func lateWaiter() async throws {
    enum Phase { case failing, failingOnce, over }
    let phase = Mutex(Phase.failing)
    let late = Mutex<Task<Void, any Error>?>(nil)
    let registered = Mutex<RegisteredProjection?>(nil)
    try await withDatabase { database in
      var random = SeededGenerator(seed: 6)
      try write(database, &random, 10)
      let projection = try database.register(
        Colors(failing: {
          guard phase.withLock(\.self) == .failingOnce else {
            return phase.withLock(\.self) == .failing
          }
          let projection = registered.withLock(\.self)
          let waiter = Task<Void, any Error> { try await projection?.catchUp() }
          late.withLock { $0 = waiter }
          usleep(50_000)
          phase.withLock { $0 = .over }
          return true
        }))
      registered.withLock { $0 = projection }
      await #expect(throws: DatabaseError.misuse(reason: "not today")) {
        try await projection.catchUp()
      }
      phase.withLock { $0 = .failingOnce }
      try write(database, &random, 1)
      #expect(try await eventually { phase.withLock(\.self) == .over })
      try await late.withLock(\.self)?.value
      try await compare(database, projection)
    }
  }

  @Test("begins with what was there at the horizon")
  func compaction() async throws {
    try await withDatabase { database in
      var random = SeededGenerator(seed: 5)
      try write(database, &random, 120)
      let middle = try database.head
      try write(database, &random, 20)
      try await database.compact(upTo: middle, archives: false)
      let projection = try database.register(Colors())
      try await compare(database, projection)
      try write(database, &random, 20)
      try await compare(database, projection)
    }
  }

  @Test("is not there in the past, and not written by others than its fold")
  func misuse() async throws {
    final class Leak: Sendable {
      nonisolated(unsafe) var table: ProjectionTable?
    }
    struct Leaking: Projection {
      let name = "leaking"
      let version = 1
      let leak = Leak()
      func fold(_ change: Change, at: SequenceNumber, into table: ProjectionTable) throws {
        unsafe leak.table = table
      }
    }
    try await withDatabase { database in
      try database.commit { try $0.set("a", to: 1) }
      try database.commit { try $0.set("a", to: 2) }
      let leaking = Leaking()
      let projection = try database.register(leaking)
      try await projection.catchUp()
      let table = try #require(unsafe leaking.leak.table)
      #expect(throws: DatabaseError.self) { try table.set("b", to: 1) }
      #expect(throws: DatabaseError.self) { try table.value(at: "b") }
      #expect(throws: DatabaseError.self) {
        try database.read(at: .sequence(1)) { _ = try projection.read($0) }
      }
      await #expect(throws: DatabaseError.self) { try await projection.catchUp(to: 9) }
      #expect(throws: DatabaseError.self) { try database.register(Named(name: "")) }
    }
  }

  private struct Named: Projection {
    let name: String
    let version = 1
    func fold(_ change: Change, at: SequenceNumber, into table: ProjectionTable) throws {}
  }
}
