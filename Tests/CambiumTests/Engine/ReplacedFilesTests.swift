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

  /// Renames files of one directory over those of another.
  private func restore(_ names: [String], from copy: String, to directory: String) throws {
    for name in names { try Files.replace("\(directory)/\(name)", with: "\(copy)/\(name)") }
  }

  private func content(_ names: [String], of directory: String) throws -> [Data] {
    try names.map { try Data(contentsOf: URL(filePath: "\(directory)/\($0)")) }
  }

  private func expectRefused(_ error: DatabaseError?) {
    guard case .closed? = error else {
      Issue.record("\(error.map { "\($0)" } ?? "nothing") is thrown")
      return
    }
  }

  @Test("are left as they are: the log's, and the tail's with them")
  func logWithTail() throws {
    let database = try place.open()
    try place.write(0..<6, to: database)
    #expect(try place.tail(of: database).count == 4)
    let copy = try place.crash()
    try place.write(6..<8, to: database)
    let (names, log) = (["data.mdb", "lock.mdb", "tail"], "\(place.path)/log")
    let before = try content(names, of: "\(copy)/log")
    try restore(names, from: "\(copy)/log", to: log)
    for text in [0, 30_000] {
      // To the tail, and to LMDB.
      let error = #expect(throws: DatabaseError.self) {
        try place.write(8..<9, to: database, text: text)
      }
      expectRefused(error)
    }
    try? database.close()
    #expect(try content(names, of: log) == before)
  }

  @Test("are left as they are: the log's alone, whose tail stays")
  func logWithoutTail() throws {
    let database = try place.open()
    try place.write(0..<6, to: database)
    let copy = try place.crash()
    let (names, log) = (["data.mdb", "lock.mdb"], "\(place.path)/log")
    let before = try content(names, of: "\(copy)/log")
    try restore(names, from: "\(copy)/log", to: log)
    let error = #expect(throws: DatabaseError.self) { try place.write(6..<7, to: database) }
    expectRefused(error)
    try? database.close()
    #expect(try content(names, of: log) == before)
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
    let (names, log) = (["data.mdb", "lock.mdb", "tail"], "\(place.path)/log")
    #expect(!Files.exists("\(log)/tail"))
    let before = try content(names, of: "\(copy)/log")
    try restore(names, from: "\(copy)/log", to: log)
    let error = #expect(throws: DatabaseError.self) { try place.write(1..<2, to: database) }
    expectRefused(error)
    try? database.close()
    #expect(try content(names, of: log) == before)
  }

  @Test("are left as they are while commits wait for the state's, and none of these is lost")
  func state() throws {
    let database = try place.open()
    try place.write(0..<3, to: database)
    try expectSound(database)
    let state = "state-\(try database.directory.latestState().generation)"
    let copy = try place.crash()
    try place.write(3..<5, to: database)
    #expect(try !database.directory.latestState().behind.isEmpty)
    let before = try content(["data.mdb"], of: "\(copy)/\(state)")
    try restore(["data.mdb"], from: "\(copy)/\(state)", to: "\(place.path)/\(state)")
    // It waits with the others, or finds out what they could not be told.
    let isTaken = (try? place.write(5..<6, to: database)) != nil
    #expect(throws: DatabaseError.self) { try database.read { try $0["n"].childCount } }
    #expect(try content(["data.mdb"], of: "\(place.path)/\(state)") == before)
    try? database.close()
    #expect(try content(["data.mdb"], of: "\(place.path)/\(state)") == before)
    try place.place.use { try place.expect($0, 0..<(isTaken ? 6 : 5)) }
  }
}
