// Goal: a database whose files are replaced while it is open writes nothing to the files of the
// other, acknowledges nothing from then on that would be lost, and loses nothing that it has
// acknowledged (H10). Method: files of a copy are renamed over those of an open database, as by
// somebody who restores a backup without closing it, before each kind of commit.

import FoundationEssentials
import LMDB
import Testing

@testable import Cambium

@Suite("Files that are replaced under an open database", .timeLimit(.minutes(2)))
struct ReplacedFilesTests {
  private let place: TailedPlace

  init() throws { place = try TailedPlace() }

  /// Renames files of a copy over those of a directory of the open database.
  private func restore(_ names: [String], of copy: String, _ directory: String) throws {
    for name in names {
      try Files.replace("\(place.path)/\(directory)/\(name)", with: "\(copy)/\(directory)/\(name)")
    }
  }

  private func content(_ names: [String], of path: String, _ directory: String) throws -> [Data] {
    try names.map { try Data(contentsOf: URL(filePath: "\(path)/\(directory)/\($0)")) }
  }

  /// Restores files of a copy, and expects that a commit is refused and leaves them as they are.
  private func expectRefused(
    _ number: Int64, text: Int = 0, by database: Database, with names: [String], of copy: String,
    _ directory: String = "log"
  ) throws {
    let before = try content(names, of: copy, directory)
    try restore(names, of: copy, directory)
    let error = #expect(throws: DatabaseError.self) {
      try place.write(number..<(number + 1), to: database, text: text)
    }
    guard case .closed? = error else {
      Issue.record("\(error.map { "\($0)" } ?? "nothing") is thrown")
      return
    }
    try? database.close()
    #expect(try content(names, of: place.path, directory) == before)
  }

  /// The files of a log.
  private static let files = ["data.mdb", "lock.mdb", "tail"]

  @Test(
    "are left as they are: the log's, by a commit to the tail, and to LMDB", arguments: [0, 30_000])
  func logWithTail(text: Int) throws {
    let database = try place.open()
    try place.write(0..<6, to: database)
    #expect(try place.tail(of: database).count == 4)
    let copy = try place.crash()
    try place.write(6..<8, to: database)
    try expectRefused(8, text: text, by: database, with: Self.files, of: copy)
  }

  @Test("are left as they are: the log's alone, whose tail stays")
  func logWithoutTail() throws {
    let database = try place.open()
    try place.write(0..<6, to: database)
    let copy = try place.crash()
    try expectRefused(6, by: database, with: ["data.mdb", "lock.mdb"], of: copy)
    #expect(try TailFile(place.path).frames(place.path).count == 4)
  }

  @Test("are left as they are by a commit that would have made a tail")
  func makingTail() throws {
    let other = try place.open(at: place.beside("other"))
    try place.write(0..<6, to: other)
    let copy = try place.crash(of: place.beside("other"))
    try other.close()
    let database = try place.open()
    try place.write(0..<1, to: database)
    // The next commit does not look at LMDB's newest any more, which this has done.
    try database.write { _ in }
    #expect(!Files.exists(Tail.path(in: "\(place.path)/log")))
    try expectRefused(1, by: database, with: Self.files, of: copy)
  }

  @Test("are left as they are: the state's, by the first commit that would wait for it")
  func stateWithoutCommits() throws {
    let database = try place.open()
    try place.write(0..<3, to: database)
    let state = try database.directory.latestState()
    // By nobody who reads, after whom a commit does not wait.
    try state.behind.write()
    let copy = try place.crash()
    let directory = State.directory(state.generation)
    try expectRefused(3, by: database, with: ["data.mdb"], of: copy, directory)
    try place.place.use { try place.expect($0, 0..<3) }
  }

  @Test("are left as they are while commits wait for the state's, and none of these is lost")
  func state() throws {
    let database = try place.open()
    try place.write(0..<3, to: database)
    try expectSound(database)
    let state = State.directory(try database.directory.latestState().generation)
    let copy = try place.crash()
    try place.write(3..<5, to: database)
    #expect(try !database.directory.latestState().behind.isEmpty)
    let before = try content(["data.mdb"], of: copy, state)
    try restore(["data.mdb"], of: copy, state)
    // It waits with the others, or finds out what they could not be told.
    let isTaken = (try? place.write(5..<6, to: database)) != nil
    #expect(throws: DatabaseError.self) { try database.read { try $0["n"].childCount } }
    #expect(try content(["data.mdb"], of: place.path, state) == before)
    try? database.close()
    #expect(try content(["data.mdb"], of: place.path, state) == before)
    try place.place.use { try place.expect($0, 0..<(isTaken ? 6 : 5)) }
  }
}
