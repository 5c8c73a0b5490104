// Goal: a mailbox never takes for known what it has lost, and guards find changes by the
// declarations of the moment, also where a query has looked them up before a declaration.
//
// It finds, planted: an earlier loss that replaces a later one, and guards that are resolved by
// declarations from before those that were routed.

import Synchronization
import Testing

@testable import Cambium

@Suite("A live query's mailbox", .timeLimit(.minutes(1)))
struct LiveMailboxTests {
  /// The number of changes up to a moment; nil where they were lost.
  private static func count(_ mailbox: LiveMailbox, upTo moment: SequenceNumber) -> Int? {
    if case .changes(let changes) = mailbox.take(upTo: moment) { changes.count } else { nil }
  }

  @Test("keeps the latest of several losses")
  func losses() {
    let mailbox = LiveMailbox(after: 0, slot: 0)
    _ = mailbox.lose(upTo: 5)
    _ = mailbox.lose(upTo: 3)
    #expect(Self.count(mailbox, upTo: 4) == nil)
    #expect(Self.count(mailbox, upTo: 5) == nil)
    #expect(Self.count(mailbox, upTo: 6) == 0)
    mailbox.invalidate()
    #expect(Self.count(mailbox, upTo: 6) == nil)
    #expect(Self.count(mailbox, upTo: 6) == 0)
  }

  @Test("ends a wait that began after another one had taken what there was")
  func takes() async {
    let mailbox = LiveMailbox(after: 0, slot: 0)
    let known = mailbox.takes
    // Another one is nudged, and takes.
    mailbox.nudge()
    _ = mailbox.take(upTo: 1)
    await mailbox.wait(after: mailbox.takes)
    await mailbox.wait(after: known)
  }

  /// People whose age, where they have none, is another one.
  private static func declare(_ age: Value, _ database: Database) throws {
    var definition = CollectionDefinition()
    definition.properties = [PropertyDefinition("age", .integer)]
    definition.properties[0].absence = age
    try database.write { try $0.declare("people", definition) }
  }

  private static func guarding(_ age: Value) throws -> LiveGuard {
    let range = ClosedOpenBytes(prefix: try OrderedBytes.of(age, as: .integer))
    return LiveGuard(
      collection: "people",
      test: .values(property: "age", type: .integer, collation: .binary, ranges: [range]))
  }

  @Test("gets what guards let through that were looked up before a declaration", arguments: 0...2)
  func declarations(way: Int) throws {
    try withDatabase { database in
      let directory = database.directory
      let commits = Mutex<[CommittedChanges]>([])
      let observation = directory.feed.observers.observe { commit in
        commits.withLock { $0.append(commit) }
      }
      try Self.declare(3, database)
      let former = directory.stateInUse.catalog
      var routing = Routing()
      routing.begin(after: try database.head, directory.stateInUse.generation)
      routing.observation = 0
      func route(_ routing: inout Routing) throws {
        try database.snapshot().directory.feed.observers.finish(upTo: database.head)
        for commit in commits.withLock({ $0 }) { routing.route(commit, in: directory) }
      }
      let mailbox = routing.add([], former)
      try Self.declare(4, database)
      try route(&routing)
      // The query has looked names up before the declaration, and comes only now.
      var box = mailbox
      switch way {
      case 0: routing.replace([try Self.guarding(4)], of: mailbox, former)
      case 1: routing.edit(removing: [], adding: [try Self.guarding(4)], of: mailbox, former)
      default: box = routing.add([try Self.guarding(4)], former)
      }
      _ = box.take(upTo: try database.head)
      // The same guards are not looked up again.
      if way == 0 {
        routing.replace([try Self.guarding(4)], of: box, directory.stateInUse.catalog)
      }
      try database.write { try $0.set("people/ada", to: ["name": "Ada"]) }
      try route(&routing)
      #expect(Self.count(box, upTo: try database.head) == 1)
      directory.feed.observers.stop(observation)
    }
  }
}
