// Nothing in a database, a backup or a restore is followed, and nothing outside is touched.
//
// Goal: whatever is under a name that the engine uses, be it a link to a file, to a directory or to
// nothing, a pipe or a directory, no file outside changes or goes, no call waits for ever and the
// database works again once the entry is gone. Method: plant each kind under each name, do all that
// touches it, and compare a directory outside, which the links lead to, with what it was.

import Foundation
import LMDB
import Testing

@testable import Cambium

@Suite("A planted entry", .timeLimit(.minutes(4)))
struct PlantedEntryTests {
  private let place: Place
  private let outside: Outside

  init() throws {
    place = try Place()
    try place.fill(3)
    outside = try Outside(place.beside("outside"))
  }

  enum Kind: CaseIterable {
    case linkToFile, linkToDirectory, linkToNothing, pipe, directory
  }

  /// Puts an entry in the place of what is there.
  private func plant(_ kind: Kind, at path: String) throws {
    if Files.exists(path) { try Files.removeDirectory(path) }
    switch kind {
    case .linkToFile: #expect(unsafe symlink(outside.file, path) == 0)
    case .linkToDirectory: #expect(unsafe symlink(outside.path, path) == 0)
    case .linkToNothing: #expect(unsafe symlink(outside.nothing, path) == 0)
    case .pipe: #expect(unsafe mkfifo(path, 0o600) == 0)
    case .directory: try Files.createDirectory(path)
    }
  }

  /// Does what touches the entries of a database, as far as it goes. Only our own errors may come.
  private func use() throws {
    try attempting {
      try place.use({ $0.busyTimeout = .milliseconds(50) }) { database in
        try attempting { try database.write { tx in try tx.set("n/9", to: 9) } }
        try attempting { _ = try database.verify() }
        try attempting { _ = try database.compact(keeping: Retention(transactions: 1)) }
        try attempting { try database.rebuild() }
      }
    }
    try attempting { _ = try Database.vacuum(at: place.path) }
    try attempting { _ = try Database.examineLog(at: place.path) }
    try attempting { _ = try Database.walkPages(of: place.path) }
  }

  private func attempting(_ body: () throws -> Void) throws {
    do { try body() } catch is DatabaseError {}
  }

  // MARK: In a database

  @Test(
    "that is a link, a pipe or a directory under a name that is swept goes, and only it",
    arguments: [
      "state-0", "state-9", "state-9.tmp", "checkpoint-7", "baseline-5", "baseline-5.1",
    ], Kind.allCases)
  func swept(name: String, kind: Kind) throws {
    try plant(kind, at: "\(place.path)/\(name)")
    let head = try place.use { try $0.head }
    #expect(head == 3)
    #expect(try !place.names.contains(name))
    try outside.expectUntouched()
    try use()
    try outside.expectUntouched()
    try place.expectSound()
  }

  @Test(
    "in the place of a file that cannot be made anew is refused, by name",
    arguments: [
      "wake", "write.lock", "write.lock.wait", "log", "log/data.mdb", "log/lock.mdb",
    ], Kind.allCases)
  func refused(name: String, kind: Kind) throws {
    let (path, aside) = ("\(place.path)/\(name)", place.beside("aside"))
    try Files.rename(path, to: aside)
    try plant(kind, at: path)
    #expect {
      try place.use { _ in }
    } throws: { error in
      switch error {
      case DatabaseError.unsupported(_, let reason), DatabaseError.corrupt(let reason):
        // A directory without a data file is just no database.
        return reason.contains(Files.name(of: name)) || name.hasPrefix("log")
      default: return false
      }
    }
    try use()
    try outside.expectUntouched()
    try Files.removeDirectory(path)
    try Files.rename(aside, to: path)
    try place.expectSound()
  }

  @Test(
    "in the place of a file of the state costs a rebuild",
    arguments: ["state-1", "state-1/data.mdb", "state-1/lock.mdb"], Kind.allCases)
  func state(name: String, kind: Kind) throws {
    try plant(kind, at: "\(place.path)/\(name)")
    let heard = Heard()
    let value = try place.use({ $0.diagnostics = heard.add }) { database in
      try database.read { try $0["n/3"].value }
    }
    #expect(value == 3)
    #expect(heard.rebuilds.count == 1)
    try use()
    try outside.expectUntouched()
    try place.expectSound()
  }

  @Test(
    "in the place of what is needed now and then is refused then",
    arguments: ["compact.lock", "state-1/reserve", "verify-1.tmp", "part-1.tmp", "erase-1.tmp"],
    Kind.allCases)
  func rest(name: String, kind: Kind) throws {
    try plant(kind, at: "\(place.path)/\(name)")
    try use()
    try outside.expectUntouched()
    if Files.exists("\(place.path)/\(name)") {
      try Files.removeDirectory("\(place.path)/\(name)")
    }
    try place.expectSound()
  }

  @Test(
    "in the place of the checkpoint or the baseline in use is not read",
    arguments: ["checkpoint-", "baseline-"], Kind.allCases)
  func inUse(prefix: String, kind: Kind) throws {
    try place.use({ $0.checkpointGrowth = 1 }) { database in
      try database.count(20)
      _ = try database.compact(keeping: Retention(transactions: 2))
      // One that is begun before compaction ends may fail, and is made with a later write.
      for _ in 0..<10 {
        try database.count(20)
        database.finishCheckpoint()
        if try place.names.contains(where: { $0.hasPrefix("checkpoint-") }) { break }
      }
    }
    let name = try #require(try place.names.first { $0.hasPrefix(prefix) })
    let (path, aside) = ("\(place.path)/\(name)", place.beside("aside"))
    try Files.rename(path, to: aside)
    try plant(kind, at: path)
    try place.distrust()
    try use()
    try outside.expectUntouched()
    // A checkpoint can be done without.
    if prefix == "baseline-" {
      try Files.removeDirectory(path)
      try Files.rename(aside, to: path)
      try place.distrust()
    }
    try place.expectSound()
  }

  // MARK: As a path

  @Test("as the path is refused at once", arguments: Kind.allCases)
  func path(kind: Kind) throws {
    let path = place.beside("planted")
    try plant(kind, at: path)
    #expect(throws: DatabaseError.self) { try Database(at: path) }
    #expect(throws: DatabaseError.self) { try Database.checkBackup(path) }
    #expect(throws: DatabaseError.self) { try Database.restore(path, to: place.beside("new")) }
    #expect(throws: DatabaseError.self) { try Database.restore(path, to: path) }
    #expect(throws: DatabaseError.self) { try Database.vacuum(at: path) }
    #expect(throws: DatabaseError.self) { try Database.examineLog(at: path) }
    try attempting { _ = try Database.walkPages(of: path) }
    // One that the user names is followed, and there is a manifest.
    #expect(Database.isBackup(path) == (kind == .linkToDirectory))
    try place.use { database in
      #expect(throws: DatabaseError.self) { try database.replay(to: path) }
      #expect(throws: DatabaseError.self) { try database.backUp(toFile: path) }
      if ![.directory, .linkToDirectory].contains(kind) {
        #expect(throws: DatabaseError.self) { try database.backUp(to: path) }
      }
    }
    try outside.expectUntouched()
  }

  @Test("that is a link to a database is followed as a path, once")
  func linkedDatabase() throws {
    let link = place.beside("link.cambium")
    #expect(unsafe symlink(place.path, link) == 0)
    let database = try Database(at: "\(link)/")
    #expect(database.path == place.path)
    try database.write { tx in try tx.set("n/4", to: 4) }
    #expect(throws: DatabaseError.self) { try place.open() }
    try expectSound(database)
    try database.close()
    #expect(Files.isLink(link))
  }

  // MARK: In a backup

  @Test(
    "in a backup is neither read nor written through",
    arguments: ["manifest", "manifest.tmp", "part-1", "part-2", "part-2.tmp"], Kind.allCases)
  func backup(name: String, kind: Kind) throws {
    let path = "\(place.backup)/\(name)"
    try place.use { try $0.backUp(to: place.backup) }
    let kept = try Data(contentsOf: URL(filePath: "\(place.backup)/part-1"))
    try plant(kind, at: path)
    let isNeeded = name == "manifest" || name == "part-1"
    try attempting { _ = try Database.checkBackup(place.backup) }
    if isNeeded {
      #expect(throws: DatabaseError.self) {
        try Database.restore(place.backup, to: place.beside("new"))
      }
    }
    try place.use { database in
      try database.count(3)
      try attempting { try database.backUp(to: place.backup) }
    }
    try outside.expectUntouched()
    if name != "part-1" {
      #expect(try Data(contentsOf: URL(filePath: "\(place.backup)/part-1")) == kept)
    }
    if !isNeeded, kind != .directory { #expect(try place.restoredHead() == 6) }
  }

  // MARK: Permissions

  @Test("has the permissions of the directory that it is created in", arguments: [0o700, 0o770])
  func permissions(mode: Int) throws {
    #expect(unsafe chmod(place.path, mode_t(mode)) == 0)
    try place.use { try $0.rebuild() }
    for name in ["state-2", "state-2/data.mdb", "state-2/lock.mdb"] {
      let isDirectory = Files.isDirectory("\(place.path)/\(name)")
      #expect(try permissions(of: name) == (isDirectory ? mode : mode & 0o666), "\(name)")
    }
  }

  @Test("is its owner's alone in a private database, and in a backup of it")
  func isPrivate() throws {
    let path = place.beside("private.cambium")
    var options = Database.Options()
    options.isPrivate = true
    let database = try Database(at: path, options: options)
    try database.count(3)
    try database.backUp(to: place.backup)
    try database.backUp(toFile: place.beside("file.backup"))
    try expectSound(database)
    try database.close()
    let files = FileManager.default
    for root in [path, place.backup, place.beside("file.backup")] {
      for name in [""] + ((try? files.subpathsOfDirectory(atPath: root)) ?? []) {
        let entry = name.isEmpty ? root : "\(root)/\(name)"
        let mode = try files.attributesOfItem(atPath: entry)[.posixPermissions] as? Int
        #expect(mode == (Files.isDirectory(entry) ? 0o700 : 0o600), "\(entry)")
      }
    }
  }

  private func permissions(of name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: "\(place.path)/\(name)")[.posixPermissions]
      as? Int
  }
}

/// A directory that planted links lead to.
private struct Outside {
  let path: String
  private let before: [String]

  var file: String { "\(path)/file" }
  var nothing: String { "\(path)/nothing" }

  init(_ path: String) throws {
    self.path = path
    try Files.createDirectory(path)
    try Files.createDirectory("\(path)/log")
    for name in ["file", "data.mdb", "lock.mdb", "manifest", "part-1", "log/data.mdb"] {
      try Data("precious \(name)".utf8).write(to: URL(filePath: "\(path)/\(name)"))
    }
    before = try Outside.listing(path)
  }

  func expectUntouched(sourceLocation: SourceLocation = #_sourceLocation) throws {
    #expect(try Outside.listing(path) == before, sourceLocation: sourceLocation)
  }

  private static func listing(_ path: String) throws -> [String] {
    let files = FileManager.default
    return try files.subpathsOfDirectory(atPath: path).sorted().map { name in
      let attributes = try files.attributesOfItem(atPath: "\(path)/\(name)")
      let content = (try? Data(contentsOf: URL(filePath: "\(path)/\(name)"))) ?? Data()
      return "\(name) \(attributes[.posixPermissions] ?? 0) "
        + "\(attributes[.modificationDate] ?? 0) \(String(decoding: content, as: UTF8.self))"
    }
  }
}
