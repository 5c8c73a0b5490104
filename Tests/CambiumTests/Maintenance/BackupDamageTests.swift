// Goal: a backup is not mixed with what is not its own, every damage to it is found, and what is
// before the damage can be restored.
// Method: wrong places, other databases and forked ones; bytes flipped and ends cut off all over.

import Foundation
import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("A backup that is wrong", .timeLimit(.minutes(2)))
struct BackupDamageTests {
  private let place: Place
  private var backup: String { place.backup }

  init() throws { place = try Place() }

  // MARK: Refusals

  @Test("since it is of a later format is refused")
  func laterFormat() throws {
    for version in 1...BackupFile.version { try BackupFile.checkVersion(version, "part-1") }
    #expect(throws: DatabaseError.self) {
      try BackupFile.checkVersion(BackupFile.version + 1, "part-1")
    }
  }

  @Test("is refused where another database, another history or something else is there")
  func refused() throws {
    let copy = place.beside("copy.cambium")
    try place.use { database in
      try database.count(10)
      try database.backUp(to: backup)
      try database.replay(to: copy, until: 5)
      #expect(throws: DatabaseError.self) { try database.backUp(toFile: backup) }
      #expect(throws: DatabaseError.self) { try database.backUp(to: place.path) }
      #expect(throws: DatabaseError.self) { try database.backUp(to: place.log) }
      #expect(throws: DatabaseError.noDatabase(path: place.beside("gone"))) {
        try database.backUp(to: place.beside("gone/b.backup"))
      }
      for taken in [place.path, backup] {
        #expect(throws: DatabaseError.self) { try Database.restore(backup, to: taken) }
      }
      #expect(throws: DatabaseError.noDatabase(path: place.beside("gone"))) {
        try Database.restore(place.beside("gone"), to: place.beside("new.cambium"))
      }
      #expect(throws: DatabaseError.self) {
        try Database.restore(place.path, to: place.beside("new.cambium"))
      }
      #expect(throws: DatabaseError.self) {
        try Database.restore(place.log, to: place.beside("new.cambium"))
      }
      try expectSound(database)
    }
    // Behind the backup, and then past it on a way of its own.
    let before = try place.listing(of: "test.backup")
    let forked = try Database(at: copy)
    for _ in 0..<2 {
      #expect(throws: DatabaseError.self) { try forked.backUp(to: backup) }
      try forked.count(10)
    }
    try expectSound(forked)
    try forked.close()
    let stranger = try Database(at: place.beside("stranger.cambium"))
    try stranger.count(20)
    #expect(throws: DatabaseError.self) { try stranger.backUp(to: backup) }
    try expectSound(stranger)
    try stranger.close()
    #expect(try place.listing(of: "test.backup") == before)
  }

  @Test("of a damaged log is refused, and stays as it was")
  func damagedLog() throws {
    try place.use { database in
      try database.count(10)
      try database.backUp(to: backup)
      try database.count(10)
    }
    try place.damageRecord(15)
    try place.use { database in
      #expect(throws: DatabaseError.self) { try database.backUp(to: backup) }
    }
    #expect(try Database.checkBackup(backup).newest == 10)
    #expect(try place.restoredHead() == 10)
  }

  // MARK: Damage

  @Test("shows every byte that is flipped and every end that is missing, and gives what is before")
  func damage() throws {
    try place.use { database in
      try database.count(30)
      _ = try database.store(Data("a blob".utf8))
      try database.backUp(to: backup)
      try database.count(30)
      try database.backUp(to: backup)
      try database.count(5)
      try database.compact(upTo: 64)
      try database.backUp(to: backup)
      try expectSound(database)
    }
    var random = SeededGenerator(seed: 7)
    var restored = 0
    for name in try Files.names(in: backup) {
      let file = URL(filePath: "\(backup)/\(name)")
      let sound = try Data(contentsOf: file)
      for round in 0..<24 {
        var bytes = sound
        if round % 8 == 7 {
          bytes = sound.prefix(random.below(sound.count))
        } else {
          bytes[random.below(sound.count)] ^= UInt8(1 << random.below(8))
        }
        try bytes.write(to: file)
        restored += try expectDamaged("\(name), \(round)") ? 1 : 0
      }
      try sound.write(to: file)
    }
    #expect(restored > 20)
    #expect(try Database.checkBackup(backup).isSound)
  }

  /// Checks that damage is found, and that what is before it can be restored.
  private func expectDamaged(_ what: String) throws -> Bool {
    let path = place.beside("new.cambium")
    #expect(throws: DatabaseError.self, "\(what)") { try Database.restore(backup, to: path) }
    #expect(!Files.exists(path))
    guard let checked = try? Database.checkBackup(backup) else { return false }
    #expect(!checked.isSound, "\(what)")
    guard !checked.moments.isEmpty else { return false }
    #expect(try place.restoredHead(.sequence(checked.newest)) == checked.newest)
    return checked.newest > .zero
  }

  @Test("lacks no file, and has none that belongs elsewhere")
  func files() throws {
    try place.use { database in
      for _ in 0..<3 {
        try database.count(10)
        try database.backUp(to: backup)
      }
    }
    let files = FileManager.default
    try files.moveItem(atPath: "\(backup)/part-2", toPath: "\(backup)/x")
    #expect(try Database.checkBackup(backup).damage == ["part-2 is missing"])
    try files.copyItem(atPath: "\(backup)/part-3", toPath: "\(backup)/part-2")
    #expect(try Database.checkBackup(backup).damage.count == 1)
    #expect(try Database.checkBackup(backup).newest == 10)
    try place.expectSound()
  }
}
