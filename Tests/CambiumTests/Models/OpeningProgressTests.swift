// Goal: opening a database for models reports the progress of a new index, and stops when told to,
// with nothing lost. Method: as many records as are filled in steps, opened for a model that has an
// index and a view more.

import Synchronization
import Testing

@testable import Cambium

@Suite("Opening for models with new indexes")
struct OpeningProgressTests {
  struct Thing: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var number = 0

    static let schema = ModelSchema<Thing>("things") {
      Index(\.number)
      Count(by: \.number)
    }
  }

  @Test("tells of progress, and can be broken off")
  func progress() throws {
    let count: Int64 = 9_000
    func fill(_ path: String) throws {
      let plain = try Database(at: path)
      try plain.write { tx in
        for number in 0..<count {
          try tx.set(
            NodePath(keys: ["things", .integer(number)]), to: ["number": .integer(number % 7)])
        }
      }
      try plain.close()
    }
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/test.cambium"
    try fill(path)
    let told = Mutex<[WorkProgress]>([])
    let database = try Database(
      at: path, for: Thing.self,
      progress: { progress in
        told.withLock { $0.append(progress) }
        return true
      })
    let all = told.withLock { $0 }
    #expect(!all.isEmpty && all.allSatisfy { !$0.phase.isEmpty && $0.done <= $0.total ?? .max })
    try check(database, count)
    let other = "\(directory.path)/other.cambium"
    try fill(other)
    #expect(throws: CancellationError.self) {
      try Database(at: other, for: Thing.self, progress: { _ in false }).close()
    }
    // An interrupted index build continues by itself; declaring the same again waits for it.
    let again = try Database(at: other, for: Thing.self)
    try again.declare("things", Thing.schema.definition)
    try check(again, count)
  }

  private func check(_ database: Database, _ count: Int64) throws {
    let query = database.query(Thing.self).where { $0.number == 3 }
    #expect(try query.fetch().count == (0..<count).count { $0 % 7 == 3 })
    #expect(try query.limit(5).explain().contains("use the index (number)"))
    try expectSound(database)
    try database.close()
  }
}
