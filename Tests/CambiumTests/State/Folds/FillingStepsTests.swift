// Goal: an index is built from one reading of the records, however many steps it takes, and the
// numbers that are told on the way are those of the work done.
// Method: steps of the job that a test takes itself, with a new reporter for each, which tells the
// first thing that the step does; and a collection of more records than are checked in silence.

import Synchronization
import Testing

@testable import Cambium

@Suite("The steps in which an index is filled")
struct FillingStepsTests {
  private func definition(isUnique: Bool) -> CollectionDefinition {
    var definition = CollectionDefinition()
    definition.indexes = [IndexDefinition([.init("number")])]
    definition.indexes[0].isUnique = isUnique
    return definition
  }

  private func fill(_ database: Database, _ count: Int64) throws {
    try database.write { tx in
      for number in 0..<count {
        try tx.set(NodePath(keys: ["things", .integer(number)]), to: ["number": .integer(number)])
      }
    }
  }

  @Test("read the records once")
  func reading() throws {
    let work = ManualWork()
    try withDatabase {
      $0.background = work
      $0.buildsIndexesLater = true
    } _: { database in
      try database.write { tx in try tx.declare("things", definition(isUnique: false)) }
      // Writers leave more entries than one step takes over.
      try fill(database, 3000)
      let phases = try Self.phases(database)
      #expect(phases.first == "reading things")
      #expect(phases.count > 2)
      #expect(phases.dropFirst().allSatisfy { $0 == "building an index" }, "\(phases)")
      try IndexTests().expectEntries(database, "filled")
    }
  }

  /// Takes all steps, and returns the first phase that each of them tells.
  private static func phases(_ database: Database) throws -> [String] {
    let phases = Mutex<[String]>([])
    var step = JobStep.atOnce
    while step == .atOnce {
      let isFirst = Atomic(true)
      let progress = ProgressReporter { told in
        if isFirst.exchange(false, ordering: .relaxed) {
          phases.withLock { $0.append(told.phase) }
        }
        return true
      }
      step = try database.jobs[IndexBuildJob.self].step(progress)
    }
    return phases.withLock { $0 }
  }

  @Test("count the records and entries that were checked before")
  func counting() throws {
    try withDatabase { database in
      try fill(database, 66_000)
      let counts = Mutex<[String: [UInt64]]>([:])
      try database.declare("things", definition(isUnique: true)) { told in
        counts.withLock { $0[told.phase, default: []].append(told.done) }
        return true
      }
      let told = counts.withLock { $0 }
      #expect(told["checking things"] == [65_536])
      #expect(told["looking for what is there twice"] == [65_536])
    }
  }
}
