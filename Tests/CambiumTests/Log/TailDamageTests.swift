// Goal: a crash takes nothing from the log's tail that was acknowledged, and damage there is told.
// Method: crashes are copies of the directory, taken while the database is open; then the file is
// changed, removed or exchanged.

import FoundationEssentials
import LMDB
import Testing

@testable import Cambium

@Suite("The log's tail after a crash", .timeLimit(.minutes(2)))
struct TailDamageTests {
  private let place: TailedPlace

  init() throws { place = try TailedPlace() }

  @Test("is read by the next process after a crash, which goes on in it")
  func crashing() throws {
    let database = try place.open()
    try place.write(0..<12, to: database)
    let copy = try place.crash()
    try place.write(12..<14, to: database)
    try database.close()
    let next = try place.open(at: copy)
    #expect(try place.tail(of: next) == Array(3...12))
    try place.expect(next, 0..<12)
    let commit = try next.directory.log.newestCommit
    try place.write(12..<15, to: next)
    #expect(try next.directory.log.newestCommit == commit)
    #expect(try place.tail(of: next) == Array(3...15))
    try place.expect(next, 0..<15)
    try next.close()
  }

  @Test("is read without being written", arguments: [true, false])
  func readOnly(_ hasState: Bool) throws {
    let database = try place.open()
    try place.write(0..<12, to: database)
    if hasState { try place.expect(database, 0..<12) }
    let copy = try place.crash()
    try database.close()
    var options = Database.Options()
    options.readOnly = true
    let reader = try Database(at: copy, options: options)
    #expect(try reader.directory.log.read { try $0.head().sequence } == 12)
    if hasState { try place.expect(reader, 0..<12) }
    try reader.close()
  }

  @Test("ends before what a crash has cut short, and goes on from there", arguments: 0..<6)
  func torn(_ kind: Int) throws {
    let database = try place.open()
    try place.write(0..<12, to: database)
    let copy = try place.crash()
    try database.close()
    // As after a loss of power.
    try Files.removeDirectory("\(copy)/state-1")
    let file = TailFile(copy)
    let last = try #require(try file.frames(copy).last)
    try file.edit { bytes in
      switch kind {
      case 0: bytes[last.lowerBound] ^= 1
      case 1: bytes[last.upperBound - 20] ^= 1
      case 2: bytes.replaceSubrange(last, with: [UInt8](repeating: 0, count: last.count))
      case 3: bytes.replaceSubrange(last.dropFirst(40), with: last.dropFirst(40).map { _ in 7 })
      case 4: bytes[last.lowerBound + 26] = 0xff
      default: bytes[(last.lowerBound + 8)..<(last.lowerBound + 16)] = bytes[0..<8]
      }
    }
    let next = try place.open(at: copy)
    try next.rebuild()
    try place.expect(next, 0..<11)
    try place.write(11..<14, to: next)
    try place.expect(next, 0..<14)
    try next.close()
  }

  @Test(
    "says which record is damaged if it was durable, and can be repaired", arguments: [3, 7, 11])
  func damaged(_ number: UInt64) throws {
    let database = try place.open()
    try place.write(0..<12, to: database)
    let copy = try place.crash()
    try database.close()
    let file = TailFile(copy)
    let frame = try file.frames(copy)[Int(number) - 3]
    try file.edit { bytes in bytes[frame.lowerBound + 50] ^= 0x10 }
    let examination = try Database.examineLog(at: copy)
    #expect(examination.lost.map(\.sequence.rawValue) == [number])
    #expect(examination.head == 12)
    let next = try place.open(at: copy)
    #expect(throws: DatabaseError.self) { try next.rebuild() }
    #expect(throws: DatabaseError.self) { try place.write(20..<21, to: next) }
    #expect(throws: DatabaseError.self) {
      try next.directory.log.read { try $0.record(SequenceNumber(number)) }
    }
    try? next.close()
    let new = place.beside("repaired")
    try Database.repair(copy, by: .salvage, to: new)
    let repaired = try place.open(at: new)
    #expect(try repaired.head == 12)
    #expect(try repaired.read { try $0["n"].childCount } == 11)
    try expectSound(repaired)
    try repaired.close()
  }

  @Test("is known to have lost what a state has")
  func lost() throws {
    let database = try place.open()
    try place.write(0..<12, to: database)
    try place.expect(database, 0..<12)
    let copy = try place.crash()
    try database.close()
    let file = TailFile(copy)
    let last = try #require(try file.frames(copy).last)
    try file.edit { bytes in bytes[last.lowerBound + 40] ^= 1 }
    let next = try place.open(at: copy)
    #expect(throws: DatabaseError.self) { try place.write(20..<21, to: next) }
    #expect(try next.read { try $0["n/11"].exists })
    try? next.close()
    try file.edit { bytes in bytes.removeLast(8) }
    #expect(throws: DatabaseError.self) { try place.open(at: copy) }
  }

  @Test("is missed where it may have held records, and repair goes on without it")
  func missing() throws {
    let database = try place.open()
    try place.write(0..<12, to: database)
    let copy = try place.crash()
    try database.close()
    try Files.remove(Tail.path(in: "\(copy)/log"))
    let error = #expect(throws: DatabaseError.self) { try place.open(at: copy) }
    #expect("\(error as Any)".contains("repair"))
    let new = place.beside("repaired")
    try Database.repair(copy, by: .salvage, to: new)
    let repaired = try place.open(at: new)
    try place.expect(repaired, 0..<2)
    try repaired.close()
  }

  @Test("is given up where its file has gone, and made anew", arguments: [true, false])
  func gone(_ isOpen: Bool) throws {
    var database = try place.open()
    try place.write(0..<12, to: database)
    if !isOpen { try database.close() }
    try Files.remove(Tail.path(in: "\(place.path)/log"))
    if !isOpen { database = try place.open() }
    try place.write(12..<13, to: database)
    let copy = try place.crash()
    try place.write(13..<20, to: database)
    #expect(try !place.tail(of: database).isEmpty)
    try place.expect(database, 0..<20)
    try database.close()
    let next = try place.open(at: copy)
    try place.expect(next, 0..<13)
    try next.close()
  }

  @Test("does not outlive an erasure or a branch in the log's entries")
  func named() throws {
    let database = try place.open()
    try place.write(0..<12, to: database)
    let branch = place.beside("branch")
    _ = try database.branch(to: branch)
    try database.close()
    try Database.erase("n/3", at: place.path)
    for (path, count) in [(branch, 12), (place.path, 11)] {
      let changed = try place.open(at: path)
      try place.write(30..<31, to: changed)
      let copy = try place.crash(path == branch ? "branch crashed" : "crashed", of: path)
      try changed.close()
      let next = try place.open(at: copy)
      #expect(try next.read { try $0["n"].childCount } == count + 1)
      try expectSound(next)
      try next.close()
    }
  }

  @Test("is made in a log of an earlier format only after that has become one of this")
  func format() throws {
    try place.place.use { try place.write(0..<3, to: $0) }
    let log = try Log(at: "\(place.path)/log", Database.Options().environment(readOnly: false))
    try log.amend { writer in
      var format = try writer.reader.format()
      format.version = 2
      try writer.setFormat(format)
    }
    try log.amend { try $0.setTail(TailMark(seed: 1, bytes: 4096)) }
    #expect(try log.read { try $0.format().version } == 3)
    log.close()
  }

  @Test("of another log counts for nothing, and neither does an earlier round")
  func others() throws {
    let database = try place.open(bytes: 8 << 10)
    try place.write(0..<40, to: database)
    let copy = try place.crash()
    let live = try place.tail(of: database)
    try database.close()
    let other = try place.open(bytes: 8 << 10, at: place.beside("other"))
    try place.write(0..<12, to: other)
    let otherCopy = place.beside("other copy")
    try FileManager.default.copyItem(atPath: place.beside("other"), toPath: otherCopy)
    try other.close()
    // Behind its last frame are those of the rounds before.
    #expect(try TailFile(copy).frames(copy).count == live.count)
    try Files.remove(Tail.path(in: "\(otherCopy)/log"))
    try Files.copy(Tail.path(in: "\(copy)/log"), to: Tail.path(in: "\(otherCopy)/log"))
    #expect(try TailFile(otherCopy).frames(otherCopy).isEmpty)
  }
}
