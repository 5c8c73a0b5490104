// Goal: an observer within the process is handed every change of a record that its commits make:
// once, with the record before and after, in order; and nothing of what was rolled back.
// Method: a mirror that knows nothing but the changes. Each must begin with the record that the
// mirror has, so one that is missing, comes twice or was taken back shows at the next; and the
// mirror must end as the model that random transactions are tried on.

import LMDB
import Simulation
import Synchronization
import Testing

@testable import Cambium

@Suite("Observers of changes")
struct ChangeObserverTests {
  @Test(
    "are handed each change once, over throws, savepoints and groups",
    arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func randomHistory(seed: UInt64) async throws {
    print("seed \(seed)")
    try await withDatabase { database in
      let history = RandomHistory(database, seed: seed, callsMax: 8)
      let mirror = Mirror(database)
      for _ in 0..<10 {
        try await history.run(calls: 60)
        try mirror.expect(history.model.tree, upTo: history.model.head)
      }
    }
  }

  @Test(
    "are handed no change twice where a group starts over for want of room",
    arguments: SeededGenerator.seeds(5, 6))
  func startingOver(seed: UInt64) throws {
    print("seed \(seed)")
    try withDatabase({ $0.mapSize = 1 << 17 }) { database in
      let history = RandomHistory(database, seed: seed, callsMax: 20)
      history.calls.isBulky = true
      let mirror = Mirror(database)
      let mapBytes = { try database.directory.currentState().environment.usage().mapBytes }
      let before = try mapBytes()
      for _ in 0..<8 {
        try history.runInSmallMap(calls: 200)
        try mirror.expect(history.model.tree, upTo: history.model.head)
      }
      #expect(try mapBytes() > before)
    }
  }

  @Test("are handed nothing of a group whose commit fails")
  func failingCommit() throws {
    try withDatabase({ $0.stepSizes.tail = TailSizes() }) { database in
      let mirror = Mirror(database)
      try database.write { tx in try tx.set("users/ada", to: ["name": "Ada"]) }
      let log = try BrokenFile(database.directory.log.lmdb, .full)
      #expect(throws: DatabaseError.self) {
        try database.write { tx in try tx.set("users/bob", to: ["name": "Bob"]) }
      }
      try log.mend()
      #expect(mirror.sequences == [1])
      try database.write { tx in try tx.update("users/ada", [("name", "Ada L.")]) }
      #expect(mirror.sequences == [1, 2])
      #expect(mirror.records == ["users/ada": ["name": "Ada L."]])
      #expect(mirror.faults == [])
    }
  }

  @Test("are handed a commit that the state lags behind once it can be read")
  func laggingState() throws {
    try withDatabase { database in
      let mirror = Mirror(database)
      try database.write { tx in try tx.set("users/ada", to: ["name": "Ada"]) }
      let state = try BrokenFile(try database.directory.currentState().environment, .full)
      try database.write { tx in try tx.set("users/bob", to: ["name": "Bob"]) }
      #expect(mirror.sequences == [1])
      try state.mend()
      try database.write { tx in try tx.remove("users/ada") }
      #expect(mirror.sequences == [1, 2, 3])
      #expect(mirror.records == ["users/bob": ["name": "Bob"]])
      #expect(mirror.faults == [])
    }
  }

  @Test("cost nothing once they have stopped")
  func stopping() throws {
    try withDatabase { database in
      let observers = database.directory.feed.observers
      let count = Mutex(0)
      let first = observers.observe { _ in count.withLock { $0 += 1 } }
      let second = observers.observe { _ in count.withLock { $0 += 1 } }
      try database.write { tx in try tx.set("a/b", to: ["c": 1]) }
      #expect(count.withLock { $0 } == 2)
      observers.stop(first)
      try database.write { tx in try tx.set("a/b", to: ["c": 2]) }
      #expect(count.withLock { $0 } == 3)
      observers.stop(second)
      #expect(!observers.isObserved)
      try database.write { tx in
        try tx.set("a/b", to: ["c": 3])
        #expect(tx.running.group.stateWriter.folds.changes == nil)
      }
      #expect(count.withLock { $0 } == 3)
      // One that stops while a group is open leaves nothing for the next.
      let third = observers.observe { _ in count.withLock { $0 += 1 } }
      try database.write { tx in
        try tx.set("a/b", to: ["c": 4])
        observers.stop(third)
      }
      _ = observers.observe { _ in count.withLock { $0 += 1 } }
      try database.write { tx in try tx.set("a/b", to: ["c": 5]) }
      #expect(count.withLock { $0 } == 4)
    }
  }

  @Test("have been called once a thread has finished a delivery, whoever delivers")
  func finishing() async {
    let observers = ChangeObservers()
    let (visible, seen) = (Shared(SequenceNumber.zero), Shared([SequenceNumber]()))
    _ = observers.observe(
      ChangeObservers.Observer(
        take: { committed in seen.change { $0.append(committed.sequence) } },
        reach: { sequence in seen.change { $0.append(sequence) } }))
    await onThreads(4) { thread in
      for number in 1...3000 as ClosedRange<UInt64> {
        if thread > 0 {
          let sequence = visible.value
          observers.finish(upTo: sequence)
          guard seen.value.last ?? 0 >= sequence else { throw Divergence("\(sequence) is missing") }
        } else {
          let sequence = SequenceNumber(number)
          // Each third one is another process's.
          if number % 3 != 0 {
            observers.add(
              [CommittedChanges(sequence: sequence, changes: [], declares: false, names: 0)])
          }
          visible.change { $0 = sequence }
          observers.deliver(upTo: sequence)
        }
      }
    }
    observers.finish(upTo: 3000)
    let found = seen.value
    #expect(found == found.sorted() && Set(found).count == found.count)
    #expect(found.last == 3000)
    #expect(found.count { $0.rawValue % 3 != 0 } >= 2000)
  }
}

/// A value that several threads share.
private final class Shared<Value: Sendable>: Sendable {
  private let state: Mutex<Value>

  init(_ value: Value) { state = Mutex(value) }

  var value: Value { state.withLock { $0 } }

  func change(_ body: (inout Value) -> Void) { state.withLock { body(&$0) } }
}

/// All records of a database, kept up to date by nothing but the changes that are observed.
private final class Mirror: Sendable {
  private struct State {
    var records: [NodePath: Value] = [:]
    var sequences: [SequenceNumber] = []
    var faults: [String] = []
    /// The places to which subtrees have come in the transaction: their records are not reported.
    var arrived: [NodePath] = []

    mutating func take(_ change: RecordChange, from old: Value?, to new: Value?) {
      let path = change.path
      let isTold = !arrived.contains { path.isWithin($0) && path != $0 }
      if isTold && records[path] != old {
        faults.append("\(path) was \(records[path] as Any), not \(old as Any)")
      }
      records[path] = new
      guard change.isSubtree else { return }
      if change.content == nil {
        arrived.removeAll { $0.isWithin(path) }
        records = records.filter { !$0.key.isWithin(path) }
      } else {
        arrived.append(path)
      }
    }
  }

  private let state = Mutex(State())
  private let database: Database

  init(_ database: Database) {
    self.database = database
    _ = database.directory.feed.observers.observe { [weak self] in self?.take($0) }
  }

  var records: [NodePath: Value] { state.withLock { $0.records } }
  var sequences: [SequenceNumber] { state.withLock { $0.sequences } }
  var faults: [String] { state.withLock { $0.faults } }

  private func take(_ committed: CommittedChanges) {
    do {
      let snapshot = try database.snapshot(at: .sequence(committed.sequence))
      let names = try snapshot.names
      try state.withLock { state in
        state.sequences.append(committed.sequence)
        for change in committed.changes {
          try change.lend { _, old, new in
            state.take(change, from: try value(old, names), to: try value(new, names))
          }
        }
        for path in state.arrived {
          for (path, value) in try Mirror.records(below: path, snapshot) {
            state.records[path] = value
          }
        }
        state.arrived = []
      }
    } catch {
      state.withLock { $0.faults.append("\(committed.sequence): \(error)") }
    }
  }

  private func value(_ record: RawSpan?, _ names: Catalog) throws -> Value? {
    guard let record else { return nil }
    return .map(try ValueMap(stored: record, names))
  }

  private static func records(below path: NodePath, _ snapshot: Snapshot) throws -> [NodePath:
    Value]
  {
    var records: [NodePath: Value] = [:]
    var nodes = try snapshot[path].descendants()
    while let node = try nodes.next() {
      if let value = try node.value, case .map = value { records[node.path] = value }
    }
    return records
  }

  /// Compares with the model.
  func expect(_ model: Tree, upTo head: SequenceNumber) throws {
    let expected = model.nodes.compactMapValues { node -> Value? in
      guard let value = node.value, case .map = value else { return nil }
      return value
    }
    try requireSame(faults, [], "what is handed out, up to \(head)")
    try requireSame(
      sequences, (0..<head.rawValue).map { SequenceNumber($0 + 1) }, "the transactions")
    for path in Set(expected.keys).union(records.keys) where expected[path] != records[path] {
      throw Divergence(
        "up to \(head), \(path) is \(records[path] as Any), not \(expected[path] as Any)")
    }
  }
}
