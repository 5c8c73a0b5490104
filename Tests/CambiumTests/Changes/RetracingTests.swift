// Goal: transactions that are tried out again on an overlay lead to the tree that they have led to,
// and the tree before any of their steps can still be read. Method: stretches of random histories,
// from a seed that is printed, are tried out again; each node is compared with the snapshot after
// the stretch, and with that before it.

import Simulation
import Testing

@testable import Cambium

@Suite("Transactions that are tried out again")
struct RetracingTests {
  @Test(
    "lead to the tree that they have led to, and leave the one before readable",
    arguments: SeededGenerator.seeds(61, 62, 63, 64))
  func stretches(seed: UInt64) async throws {
    print("seed \(seed)")
    try await withDatabase { database in
      let history = RandomHistory(database, seed: seed, callsMax: 12)
      history.calls.changesParts = seed % 2 == 0
      try await history.run(calls: 1_200)
      var random = SeededGenerator(seed: seed)
      let head = Int(history.model.head.rawValue)
      for _ in 0..<30 {
        let after = random.below(head)
        let upTo = min(head, after + 1 + random.below(20))
        try compare(
          database, after: SequenceNumber(UInt64(after)), upTo: SequenceNumber(UInt64(upTo)))
      }
    }
  }

  private func compare(
    _ database: Database, after: SequenceNumber, upTo: SequenceNumber
  ) throws {
    let (old, new) = (
      try database.snapshot(at: .sequence(after)), try database.snapshot(at: .sequence(upTo))
    )
    let catalog = try new.names
    let overlay = Overlay(asOf: after, catalog) { try new.reader }
    var retracing = Retracing(overlay)
    for number in after.rawValue + 1...upTo.rawValue {
      try retracing.apply(try database.directory.log.read { try $0.record(SequenceNumber(number)) })
    }
    _ = retracing.finish()
    let tops = Set(try [old, new].flatMap { try $0.root.children.fetch().map(\.path) }).sorted()
    for (snapshot, step) in [(old, 0), (new, overlay.step)] {
      var found: [Row] = []
      for top in tops {
        let key = try #require(top.last)
        let place = key.lendTreeKey(parent: StateHead.root) { $0.array() }
        try PastSubtree(overlay: overlay, place: place, step: step).visit(as: top) {
          path, content in
          let value = try content.flatMap { content in
            try content.bytes.lend { try Value($0, content.kind, catalog) }
          }
          found.append(Row(path: path, value: value, childCount: 0))
          return true
        }
      }
      let expected = try snapshot.root.rows().map {
        Row(path: $0.path, value: $0.value, childCount: 0)
      }
      try requireSame(
        found, expected,
        "step \(step) of the transactions after \(after), up to \(upTo)")
    }
  }
}
