import FoundationEssentials
import LMDB
import Testing

@testable import Cambium

/// A handle that may not write: what it shows, and that it leaves everything as it was.
@Suite("A database that is open for reading only", .timeLimit(.minutes(1)))
struct ReadOnlyTests {
  private let place: Place

  init() throws {
    place = try Place()
    try place.fill(3)
  }

  private func isReadOnlyError(_ body: () throws -> Void) throws -> Bool {
    do {
      try body()
      return false
    } catch DatabaseError.readOnly {
      return true
    }
  }

  @Test("shows present and past, and can be verified")
  func reading() throws {
    try place.use({ $0.readOnly = true }) { database in
      #expect(try database.head == 3)
      #expect(try database.read { try $0["n/3"].value } == 3)
      #expect(try database.read(at: .sequence(2)) { try !$0["n/3"].exists })
      #expect(try database.commit(2).changes.fetch() == [Change(path: "n/2", old: nil, new: 2)])
      #expect(try database.consumer("c").position() == 0)
      #expect(try database.information().nodes == 4)
      try expectSound(database)
    }
  }

  @Test("refuses everything that writes")
  func refusals() async throws {
    let database = try place.open { $0.readOnly = true }
    let calls: [() throws -> Void] = [
      { try database.write { tx in try tx.set("a", to: 1) } }, { try database.write { _ in } },
      { try database.rebuild() }, { _ = try database.store(Data([1, 2, 3])) },
      { try database.consumer("c").advance(to: 1) },
    ]
    for (index, call) in calls.enumerated() {
      #expect(try isReadOnlyError(call), "call \(index)")
    }
    await #expect(throws: DatabaseError.self) {
      try await database.write { tx in try tx.set("a", to: 1) }
    }
    #expect(try database.head == 3)
    try await database.close()
  }

  @Test("leaves every file as it was")
  func nothingChanges() throws {
    let before = try place.listing().filter { !$0.contains("lock.mdb") }
    try place.use({ $0.readOnly = true }) { database in
      _ = try database.read { try $0["n/3"].value }
      _ = try? database.write { tx in try tx.set("a", to: 1) }
      _ = try database.verify()
    }
    #expect(try place.listing().filter { !$0.contains("lock.mdb") } == before)
  }

  @Test("refuses a state that cannot be trusted, and says why")
  func untrusted() throws {
    try place.distrust()
    #expect(try isReadOnlyError { try place.use({ $0.readOnly = true }) { _ in } })
    #expect(try place.use { try $0.head } == 3)
    #expect(try place.use({ $0.readOnly = true }) { try $0.head } == 3)
    try place.expectSound()
  }

  @Test("can be copied from")
  func replay() throws {
    try place.use({ $0.readOnly = true }) { database in
      try database.replay(to: place.beside("copy"), until: 2)
    }
    let copy = try Database(at: place.beside("copy"))
    #expect(try copy.head == 2)
    try expectSound(copy)
  }

  @Test("sees what another process commits")
  func otherProcess() async throws {
    let database = try place.open { $0.readOnly = true }
    let held = try database.snapshot()
    try await commitElsewhere()
    #expect(try database.head == 4)
    #expect(try database.read { try $0["n/4"].value } == 4)
    #expect(held.sequence == 3)
    #expect(try !held["n/4"].exists)
    try await database.close()
  }

  @Test("tells observers what another process commits")
  func observing() async throws {
    let database = try place.open { $0.readOnly = true }
    let observer = Task { try await sequences(4, of: database.changes(after: 0)) }
    try await commitElsewhere()
    let found = try await observer.value
    #expect(found == numbers(1, 4))
    try await database.close()
  }

  @Test("tells them also where no process has made a wake file yet")
  func observingWithoutWakeFile() async throws {
    #expect(unsafe unlink("\(place.path)/wake") == 0)
    try await observing()
  }

  private func commitElsewhere() async throws {
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let database = try Database(at: path)
      try await database.write { tx in try tx.set("n/4", to: 4) }
      try await database.close()
    }
  }
}
