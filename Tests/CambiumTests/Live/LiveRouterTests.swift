// Goal: a mailbox gets the net changes of the records that it is concerned by, whoever made them
// and however: one by one, with a subtree as a whole, or taken back. Method: mirrors that know
// nothing but these changes. Each must begin with the record that the mirror has, so one that is
// missing, comes twice or was taken back shows; and the mirror must be as the model, or the
// database itself, is at that moment.

import Simulation
import Testing

@testable import Cambium

@Suite("The router of live queries", .timeLimit(.minutes(2)))
struct LiveRouterTests {
  @Test(
    "gives each mailbox the difference of two moments",
    arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func randomHistory(seed: UInt64) async throws {
    print("seed \(seed)")
    try await withDatabase { database in
      let history = RandomHistory(database, seed: seed, callsMax: 8)
      var random = SeededGenerator(seed: seed, 1)
      let router = LiveRouter.of(database)
      #expect(router === LiveRouter.of(database))
      let places: [NodePath] = [.root, "0", "a", "a/0", "name", "1"]
      var mirrors = try places.map { try RecordMirror(database, of: [$0]) }
      mirrors.append(try RecordMirror(database, of: ["b", "a/b"]))
      let check = database.directory.feed.observers.observe { committed in
        for change in committed.changes { router.checkIndex(change) }
      }
      for _ in 0..<60 {
        try await history.run(calls: 1 + random.below(30))
        for mirror in mirrors where random.oneIn(2) {
          try mirror.step(history.model.nodes(at:))
          if random.oneIn(6) { mirror.watch([random.pick(places), random.pick(places)]) }
        }
      }
      for mirror in mirrors { try mirror.step(history.model.nodes(at:)) }
      // A change of the question may require a run; the rest must not.
      let runs = mirrors.map(\.runs).reduce(0, +)
      #expect(runs <= mirrors.map(\.questions).reduce(0, +))
      #expect(mirrors.map(\.changes).reduce(0, +) > 20)
      for mirror in mirrors { mirror.end() }
      database.directory.feed.observers.stop(check)
      #expect(!database.directory.feed.observers.isObserved)
    }
  }

  @Test("reads the commits of another process from the log")
  func otherProcess() async throws {
    let place = try Place()
    let database = try place.open()
    try database.commit { tx in try tx.set("n/0", to: ["by": 0]) }
    let mirror = try RecordMirror(database, of: ["n", "m"])
    async let other = #expect(processExitsWith: .success) { [path = place.path as String] in
      let database = try Database(at: path)
      for number in 1...200 as ClosedRange<Int64> {
        try database.commit { tx in
          try tx.set(
            NodePath(keys: ["n", .integer(number % 20)]), to: ["theirs": .integer(number)])
          if number % 10 == 0, try tx["n/3"].exists { try tx.remove("n") }
          if number % 25 == 0 { try tx.set("m/1", to: ["new \(number)": 1]) }
          if number == 200 { try tx.set("end", to: 1) }
        }
      }
      try await database.close()
    }
    for number in 1...100 as ClosedRange<Int64> {
      try database.commit { tx in
        try tx.set(NodePath(keys: ["n", .integer(number % 30)]), to: ["ours": .integer(number)])
      }
      if number % 7 == 0 { try mirror.step() }
    }
    while try database.read({ try $0["end"].value }) == nil {
      await mirror.mailbox.wait()
      try mirror.step()
    }
    _ = await other
    try mirror.step()
    #expect(mirror.runs == 0)
    mirror.end()
    try await database.close()
    try place.expectSound()
  }

  @Test("wakes for another process's commit, and only the mailbox that it concerns")
  func waking() async throws {
    let place = try Place()
    let database = try place.open()
    let router = LiveRouter.of(database)
    let (theirs, others) = (
      try router.add([LiveGuard(collection: "n", test: .any)]),
      try router.add([LiveGuard(collection: "m", test: .any)])
    )
    async let other = #expect(processExitsWith: .success) { [path = place.path as String] in
      let database = try Database(at: path)
      try database.commit { tx in try tx.set("n/1", to: ["a": 1]) }
    }
    await theirs.wait()
    _ = await other
    #expect(theirs.count == 1 && others.count == 0)
    router.remove(theirs)
    router.remove(others)
    try await database.close()
  }

  @Test("concerns by value, key and default, also where nobody had the property yet")
  func guards() throws {
    try withDatabase { database in
      var definition = CollectionDefinition()
      var age = PropertyDefinition("age", .integer)
      age.absence = 3
      definition.properties = [age]
      try database.write { tx in try tx.declare("people", definition) }
      let router = LiveRouter.of(database)
      let boxes = try [
        value("age", 3, .integer), value("age", 4, .integer), value("late", 1, .any),
        .keys([[KeyTag.text] + Array("ada".utf8)]),
      ].map { try router.add([LiveGuard(collection: "people", test: $0)]) }
      func counts() throws -> [Int] {
        let head = try database.head
        try router.advance(to: head)
        return try boxes.map { try #require($0.taken(upTo: head)).count }
      }
      try database.write { tx in try tx.set("people/ada", to: ["name": "Ada"]) }
      #expect(try counts() == [1, 0, 0, 1])
      try database.write { tx in try tx.update("people/ada", [("age", 4)]) }
      #expect(try counts() == [1, 1, 0, 1])
      try database.write { tx in try tx.update("people/ada", [("age", 5)]) }
      #expect(try counts() == [0, 1, 0, 1])
      try database.write { tx in try tx.set("people/bob", to: ["age": 7, "late": 1]) }
      #expect(try counts() == [0, 0, 1, 0])
      try database.write { tx in try tx.set("people/bob", to: ["age": 7, "late": 2]) }
      #expect(try counts() == [0, 0, 1, 0])
      try database.write { tx in
        try tx.remove("people/bob")
        try tx.set("people/cyd", to: ["age": 9])
      }
      #expect(try counts() == [0, 0, 0, 0])
      for box in boxes { router.remove(box) }
    }
  }

  private func value(_ name: String, _ value: Value, _ type: PropertyType) throws -> LiveGuard.Test
  {
    .values(
      property: name, type: type, collation: .binary,
      ranges: [ClosedOpenBytes(prefix: try OrderedBytes.of(value, as: type))])
  }

  @Test("gives new guards the commits since the moment that the query has read")
  func replacing() throws {
    try withDatabase { database in
      let router = LiveRouter.of(database)
      let mailbox = try router.add([LiveGuard(collection: "a", test: .any)])
      #expect(mailbox.taken == 0)
      try database.write { tx in try tx.set("a/1", to: ["x": 1]) }
      #expect(mailbox.taken(upTo: 1)?.count == 1)
      try database.write { tx in try tx.set("b/1", to: ["x": 1]) }
      try database.write { tx in try tx.set("a/1", to: ["x": 2]) }
      #expect(mailbox.count == 1)
      router.replace([LiveGuard(collection: "b", test: .any)], of: mailbox)
      let changes = try #require(mailbox.taken(upTo: 3))
      #expect(changes.map(\.collection) == ["b"])
      router.replace([LiveGuard(collection: "b", test: .keys([]))], of: mailbox)
      try database.write { tx in try tx.set("b/1", to: ["x": 3]) }
      #expect(mailbox.count == 0)
      // More commits than are kept.
      for number in 0..<5 as Range<Int64> {
        try database.write { tx in
          for key in 0..<1500 as Range<Int64> {
            try tx.set(NodePath(keys: ["c", .integer(key)]), to: ["x": .integer(number)])
          }
        }
      }
      router.replace([LiveGuard(collection: "b", test: .any)], of: mailbox)
      #expect(mailbox.taken(upTo: 9) == nil)
      router.remove(mailbox)
    }
  }

  @Test("leaves large commits to a queue, and those behind them, in order")
  func backlog() throws {
    let work = ManualWork()
    let place = try Place()
    let database = try place.open { $0.background = work }
    let router = LiveRouter.of(database)
    let mailbox = try router.add([LiveGuard(collection: "a", test: .any)])
    func write(_ keys: ClosedRange<Int64>) throws {
      try database.write { tx in
        for key in keys { try tx.set(NodePath(keys: ["a", .integer(key)]), to: ["y": 1]) }
      }
    }
    try write(1...Int64(RoutingBacklog.smallCount))
    #expect(mailbox.count == RoutingBacklog.smallCount)
    try write(101...300)
    try write(300...301)
    #expect(mailbox.count == RoutingBacklog.smallCount)
    work.runAll()
    #expect(mailbox.count == RoutingBacklog.smallCount + 202)
    try write(401...600)
    try router.advance(to: database.head)
    #expect(mailbox.count == RoutingBacklog.smallCount + 402)
    router.remove(mailbox)
    try database.close()
  }

  @Test("lets a mailbox run again that has more than it holds, and folds what comes often")
  func overflow() throws {
    try withDatabase { database in
      let router = LiveRouter.of(database)
      let mailbox = try router.add([LiveGuard(collection: "a", test: .any)])
      for _ in 0..<6 {
        try database.write { tx in
          for number in 0..<Int64(LiveMailbox.countMax / 2) {
            try tx.set("a/1", to: ["x": .integer(number)])
          }
        }
      }
      let head = try database.head
      try router.advance(to: head)
      #expect(mailbox.count <= LiveMailbox.countMax)
      #expect(mailbox.taken(upTo: head)?.count == 1)
      try database.write { tx in
        for key in 0...Int64(LiveMailbox.countMax) {
          try tx.set(NodePath(keys: ["a", .integer(key)]), to: ["y": 1])
        }
      }
      try router.advance(to: head.next)
      #expect(mailbox.count == 0)
      try database.write { tx in try tx.set("a/2", to: ["y": 2]) }
      #expect(mailbox.taken(upTo: head.next) == nil)
      #expect(mailbox.taken(upTo: head.next.next)?.count == 1)
      router.remove(mailbox)
    }
  }

  @Test("lets those run again whose collection came or went with too much, or was declared")
  func subtrees() throws {
    try withDatabase { database in
      try database.write { tx in
        for key in 0...Int64(LoggedChanges.recordsMax) {
          try tx.set(NodePath(keys: ["a", "big", .integer(key)]), to: ["x": 1])
        }
        try tx.set("a/small/1", to: ["x": 1])
        try tx.set("a/small/2", to: 1)
      }
      let router = LiveRouter.of(database)
      let boxes = try (["a/big", "a/small", "b/small", "c"] as [NodePath]).map {
        try router.add([LiveGuard(collection: $0, test: .any)])
      }
      func counts() throws -> [Int?] {
        let head = try database.head
        try router.advance(to: head)
        return boxes.map { $0.taken(upTo: head)?.count }
      }
      try database.write { tx in try tx.move("a/small", to: "b/small") }
      #expect(try counts() == [0, 1, 1, 0])
      try database.write { tx in try tx.remove("a") }
      #expect(try counts() == [nil, 0, 0, 0])
      try database.write { tx in try tx.restore("a", removedAt: 3) }
      #expect(try counts() == [nil, 0, 0, 0])
      try database.write { tx in try tx.declare("elsewhere", CollectionDefinition()) }
      #expect(try counts() == [nil, nil, nil, nil])
      for box in boxes { router.remove(box) }
    }
  }

  @Test("ends a wait that is cancelled, nudged, or of a closed database, and none too early")
  func waits() async throws {
    let place = try Place()
    let database = try place.open()
    let router = LiveRouter.of(database)
    let mailbox = try router.add([LiveGuard(collection: "a", test: .any)])
    let cancelled = Task { await mailbox.wait() }
    cancelled.cancel()
    await cancelled.value
    mailbox.nudge()
    await mailbox.wait()
    try database.commit { tx in try tx.set("b/1", to: ["x": 1]) }
    let waiting = Task { await mailbox.wait() }
    try await Task.sleep(for: .milliseconds(20))
    try database.commit { tx in try tx.set("a/1", to: ["x": 1]) }
    await waiting.value
    #expect(mailbox.count == 1)
    await mailbox.wait()
    #expect(mailbox.taken(upTo: 2)?.count == 1)
    let closing = Task { await mailbox.wait() }
    try await Task.sleep(for: .milliseconds(20))
    try await database.close()
    await closing.value
    #expect(mailbox.isClosed)
    await mailbox.wait()
    #expect(throws: (any Error).self) { try router.add([]) }
  }

  @Test("keeps nothing of mailboxes that were removed")
  func removal() throws {
    try withDatabase { database in
      let router = LiveRouter.of(database)
      var (kept, weak) = ([LiveMailbox](), [WeakMailbox]())
      for number in 0..<10_000 as Range<Int64> {
        let test = number % 10 == 0 ? .any : try value("x", .integer(number), .integer)
        let mailbox = try router.add([LiveGuard(collection: "a", test: test)])
        kept.append(mailbox)
        weak.append(WeakMailbox(mailbox))
      }
      try database.write { tx in try tx.set("a/1", to: ["x": 7]) }
      #expect(kept.count { $0.count > 0 } == 1001)
      for mailbox in kept { router.remove(mailbox) }
      #expect(!database.directory.feed.observers.isObserved)
      kept = []
      #expect(weak.allSatisfy { $0.mailbox == nil })
      try database.write { tx in
        try tx.set("a/1", to: ["x": 8])
        #expect(tx.running.group.stateWriter.folds.changes == nil)
      }
      // It begins again where the database is.
      let mailbox = try router.add([LiveGuard(collection: "a", test: .any)])
      #expect(mailbox.taken == 2)
      try database.write { tx in try tx.set("a/1", to: ["x": 9]) }
      #expect(mailbox.taken(upTo: 3)?.count == 1)
      router.remove(mailbox)
    }
  }

  @Test("has routed a moment once it has advanced to it, while threads write")
  func threads() async throws {
    try await withDatabase { database in
      let mirror = try RecordMirror(database, of: ["a"])
      let readers = try (0..<3).map { _ in try RecordMirror(database, of: ["a"]) }
      await onThreads(6) { thread in
        if thread < 3 {
          for number in 0..<80 as Range<Int64> {
            try database.write { tx in
              try tx.set(
                NodePath(keys: ["a", .integer(number % 11)]),
                to: ["t\(thread)": .integer(number)])
            }
          }
        } else {
          for _ in 0..<100 { try readers[thread - 3].step() }
        }
      }
      for mirror in readers + [mirror] {
        try mirror.step()
        #expect(mirror.runs == 0)
        mirror.end()
      }
    }
  }
}

private final class WeakMailbox {
  private(set) weak var mailbox: LiveMailbox?

  init(_ mailbox: LiveMailbox) { self.mailbox = mailbox }
}

extension LiveMailbox {
  /// The changes up to a moment; nil if the query must be run again.
  fileprivate func taken(upTo sequence: SequenceNumber) -> [NetChange]? {
    if case .changes(let changes) = take(upTo: sequence) { changes } else { nil }
  }
}
