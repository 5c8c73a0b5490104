// A store over a network that loses, repeats and delays, in front of a server that is restarted now
// and then. The oracle is a store in memory, a sum, or the log: each write is made once, and an
// observer sees each change once, in order. Mistakes are made on purpose, to see that the tests see
// them.

import Cambium
import CambiumConformance
import Foundation
import Testing

@testable import CambiumClient
@testable import CambiumServer

struct Counter: Model, Equatable {
  typealias Key = Int
  var id = ID()
  var count = 0
  var note = ""

  static let schema = ModelSchema<Counter>("counters")
}

@Suite("A store over a bad network") struct FlakyStoreTests {
  private static var options: RemoteStore.Options {
    var options = RemoteStore.Options()
    options.pauseFirst = .milliseconds(1)
    options.pauseMax = .milliseconds(4)
    options.patience = .seconds(20)
    return options
  }

  @Test("answers as one in memory, whatever the network does", arguments: [1] as [UInt64])
  func isExact(seed: UInt64) async throws {
    print("seed \(seed)")
    let server = try LocalServer.conforming()
    defer { server.remove() }
    let network = FlakyTransport(LocalTransport(server: server), seed: seed)
    let store = try RemoteStore(network, FlakyStoreTests.options)
    defer { store.stop() }
    let restarts = Restarts(server)
    try await StoreCheck.random(seed: seed).run(on: store, within: .seconds(60))
    await restarts.stop()
    // Copies that were held up change nothing.
    let (head, notes) = try server.withDatabase { (try $0.head, try $0.read { try $0.dump() }) }
    await network.repeatAllWrites()
    try server.withDatabase { database in
      #expect(try database.head == head)
      let now = try database.read { try $0.dump() }
      #expect(now == notes)
    }
  }

  @Test("makes each of many writers' writes once", arguments: [1, 2] as [UInt64])
  func countsOnce(seed: UInt64) async throws {
    print("seed \(seed)")
    let outcome = try await FlakyStoreTests.count(seed: seed, mistake: nil)
    #expect(outcome.problems == [])
  }

  @Test(
    "is seen to be wrong with a mistake",
    arguments: [
      .noKey, .freshKeys, .resumesTooEarly, .resumesTooLate,
    ] as [FlakyTransport.Mistake])
  func mistakes(mistake: FlakyTransport.Mistake) async throws {
    let outcome = try await FlakyStoreTests.count(seed: 7, mistake: mistake)
    #expect(outcome.problems != [])
  }

  struct Outcome {
    var problems: [String] = []

    mutating func expect<T: Equatable>(_ found: T, _ right: T, _ subject: String) {
      if found != right { problems.append("\(subject) is \(found), not \(right)") }
    }
  }

  private static let writers = 4
  private static let rounds = 24

  /// Several stores count, create and delete, and one observes.
  private static func count(seed: UInt64, mistake: FlakyTransport.Mistake?) async throws -> Outcome
  {
    let server = try LocalServer(for: Counter.self)
    defer { server.remove() }
    let local = LocalTransport(server: server)
    let observer = try RemoteStore(
      FlakyTransport(local, seed: seed &* 31, mistake: mistake), options)
    defer { observer.stop() }
    let changes = try observer.observe(Counter.self)
    try await observer.create(Counter(id: 1))
    let restarts = Restarts(server)
    var outcome = Outcome()
    let networks = (0..<writers).map {
      FlakyTransport(local, seed: seed &* 100 &+ UInt64($0), mistake: mistake)
    }
    var made = 0
    try await withThrowingTaskGroup(of: Int.self) { group in
      for network in networks { group.addTask { try await work(network) } }
      for try await count in group { made += count }
    }
    await restarts.stop()
    for network in networks { await network.repeatAllWrites() }
    let (counters, events) = try server.withDatabase { database in
      (try database.read { try $0.records("counters where id != 1").count() }, try database.head)
    }
    let sum = try server.withDatabase { try $0.read { try $0["counters/1/count"].value } }
    outcome.expect(sum, .integer(Int64(writers * rounds)), "the sum")
    outcome.expect(counters, made, "the number of new counters")
    let seen = await observed(changes, of: observer, within: mistake == nil ? 20 : 2)
    let right = try server.withDatabase { try truth($0, events) }
    outcome.expect(seen.count, right.count, "the number of changes seen")
    outcome.expect(seen == right, true, "each of them")
    return outcome
  }

  /// Counts up, and creates.
  ///
  /// - Returns: The number of models that were created.
  private static func work(_ network: FlakyTransport) async throws -> Int {
    let store = try RemoteStore(network, options)
    defer { store.stop() }
    for round in 0..<rounds {
      try await retrying { try await store.update(Counter.ID(1)) { $0.count += 1 } }
      if round % 6 == 0 { try await store.create(Counter(note: "\(round)")) }
    }
    return (rounds + 5) / 6
  }

  /// A conflict too many is no mistake: nothing was written.
  private static func retrying(_ body: () async throws -> Void) async throws {
    while true {
      do { return try await body() } catch DatabaseError.conflict {}
    }
  }

  /// The changes that are seen up to the last, which ends the walk.
  private static func observed(
    _ changes: ModelChanges<Counter>, of store: RemoteStore, within seconds: Int
  ) async -> [ModelChange<Counter>] {
    let walk = Task {
      var seen: [ModelChange<Counter>] = []
      for try await change in changes {
        if change.model.note == "last" { break }
        seen.append(change)
        if seen.count > 10_000 { break }
      }
      return seen
    }
    let limit = Task {
      _ = try? await store.create(Counter(note: "last"))
      try await Task.sleep(for: .seconds(seconds))
      walk.cancel()
    }
    defer { limit.cancel() }
    return (try? await walk.value) ?? []
  }

  /// The changes by the log.
  private static func truth(
    _ database: Database, _ upTo: SequenceNumber
  ) throws -> [ModelChange<Counter>] {
    var all: [ModelChange<Counter>] = []
    var number = SequenceNumber.zero.next
    while number <= upTo {
      all += try database.commit(number).changes(of: Counter.self)
      number = number.next
    }
    return all
  }
}

/// Restarts a server after every 60 answers, twenty times at most.
private struct Restarts {
  private let task: Task<Void, Never>

  init(_ server: LocalServer) {
    task = Task {
      for number in 1...20 {
        while server.answerCount < number * 60 {
          do { try await Task.sleep(for: .milliseconds(1)) } catch { return }
        }
        try? server.stop()
        try? await Task.sleep(for: .milliseconds(3))
        try? server.start()
      }
    }
  }

  func stop() async {
    task.cancel()
    await task.value
  }
}

extension Snapshot {
  /// All values of the tree.
  fileprivate func dump() throws -> [String] {
    var lines: [String] = []
    try self[.root].descendants().forEach { node in
      lines.append("\(node.path): \(try node.value.map { "\($0)" } ?? "-")")
    }
    return lines
  }
}
