import Synchronization
import Testing

@testable import Cambium

@Suite("A held snapshot")
struct SnapshotTests {
  @Test("does not change while 1,000 writes happen")
  func unchanged() async throws {
    try await withDatabase { database in
      let history = RandomHistory(database, seed: 5, callsMax: 20)
      try await history.run(calls: 2_000)
      let (present, head) = (try database.snapshot(), history.model.head)
      let middle = SequenceNumber(head.rawValue / 2)
      let past = try database.snapshot(at: .sequence(middle))
      let node = present.root.children
      let keys = try node.keys()
      while history.model.head.rawValue < head.rawValue + 1_000 {
        try await history.run(calls: 500)
      }
      #expect(present.sequence == head)
      try requireSame(present.root, history.model.nodes(at: head), "the present that is held")
      try requireSame(past.root, history.model.nodes(at: middle), "the past that is held")
      #expect(try node.keys() == keys)
      try history.compareMoments(5)
    }
  }

  @Test("is reported once when it is held too long")
  func reported() throws {
    let reports = Mutex<[SequenceNumber]>([])
    let report: @Sendable (Diagnostic) -> Void = { diagnostic in
      if case .snapshotHeld(let sequence, let age) = diagnostic {
        #expect(age > .milliseconds(5))
        reports.withLock { $0.append(sequence) }
      }
    }
    try withDatabase({ options in
      options.snapshotAgeMax = .milliseconds(5)
      options.diagnostics = report
    }) { database in
      try database.write { tx in try tx.set("a", to: 1) }
      let held = try database.snapshot()
      while reports.withLock({ $0.isEmpty }) {
        try database.write { tx in try tx.increment("a", by: 1) }
      }
      for _ in 0..<50 { try database.write { tx in try tx.increment("a", by: 1) } }
      #expect(try held["a"].value == 1)
      #expect(try database.information().oldestSnapshot ?? .zero > .milliseconds(5))
      #expect(reports.withLock { $0 } == [1])
    }
  }

  @Test("of the past is refused where there is no such moment")
  func noSuchMoment() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("a", to: 1) }
      #expect(try database.snapshot(at: .sequence(0)).root.childCount == 0)
      let error = #expect(throws: DatabaseError.self) { try database.snapshot(at: .sequence(2)) }
      guard case .noSuchMoment? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }
}
