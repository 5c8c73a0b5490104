// Tests when a state is used as it is, and when it is rebuilt.
//
// A state is written without waiting for the disk. It is sound if it was synced after its last
// write (clean), or if neither the system was started nor the file system mounted since: the unique
// id of the mount shows that, or a process that has the state open. Whatever else can be seen of it
// at opening must be right, too: that it is there, readable, and not ahead of the log.

import Foundation
import LMDB
import Synchronization
import Testing

@testable import Cambium

@Suite("A state", .timeLimit(.minutes(1)))
struct TrustTests {
  private let place: Place
  private let heard = Heard()

  init() throws {
    place = try Place()
    try place.use { database in
      for number in 0..<20 {
        try database.write { tx in
          try tx.set(
            NodePath(keys: ["n", .integer(Int64(number % 7))]), to: ["x": .integer(Int64(number))])
        }
      }
    }
  }

  /// Opens, and checks that everything is as it was.
  ///
  /// - Returns: The reason why the state was rebuilt; nil if it was not.
  private func reopen(
    mount: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [String] {
    let generation = try place.use({
      $0.diagnostics = heard.add
      $0.mountIdentity = mount
    }) { database in
      #expect(try database.head == 20, sourceLocation: sourceLocation)
      #expect(
        try database.read { try $0["n/5"]["x"] } == 19, sourceLocation: sourceLocation)
      try expectSound(database, sourceLocation: sourceLocation)
      return try database.information().generation
    }
    #expect(
      generation == 1 + UInt64(heard.rebuilds.count), sourceLocation: sourceLocation)
    #expect(
      try place.names == ["log", "state-\(generation)", "wake", "write.lock", "write.lock.wait"],
      sourceLocation: sourceLocation)
    return heard.rebuilds
  }

  // MARK: The mark

  struct Mark: Sendable, CustomStringConvertible {
    var isClean: Bool
    var isSameBoot: Bool
    var isSameMount: Bool

    var isTrusted: Bool { isClean || (isSameBoot && isSameMount) }

    var description: String { "clean \(isClean), boot \(isSameBoot), mount \(isSameMount)" }

    static let all = [true, false].flatMap { clean in
      [true, false].flatMap { boot in
        [true, false].map { Mark(isClean: clean, isSameBoot: boot, isSameMount: $0) }
      }
    }
  }

  @Test(
    "is rebuilt exactly when it is not clean and the system or the mount is another",
    arguments: Mark.all)
  func mark(mark: Mark) throws {
    try place.setMark {
      $0.isClean = mark.isClean
      if !mark.isSameBoot { $0.boot = "another" }
      $0.mount = mark.isSameMount ? "unique 1" : "unique 2"
    }
    #expect(try reopen(mount: "unique 1").count == (mark.isTrusted ? 0 : 1))
    #expect(try reopen(mount: "unique 1").count == (mark.isTrusted ? 0 : 1))
  }

  @Test("that is not clean is rebuilt where the system gives the ids of mounts again")
  func reusedMount() throws {
    try place.setMark {
      $0.isClean = false
      $0.mount = "43"
    }
    #expect(try reopen(mount: "43").count == 1)
  }

  @Test(
    "that is not clean is used while another process has it open", arguments: ["43", "unique 2"])
  func inUse(mount: String) async throws {
    let (ready, done) = (place.beside("ready"), place.beside("done"))
    async let other = #expect(processExitsWith: .signal(SIGKILL)) {
      [path = place.path as String, ready = ready as String, done = done as String] in
      var options = Database.Options()
      options.mountIdentity = "unique 1"
      let database = try Database(at: path, options: options)
      try database.commit { tx in try tx.set("n/5", to: ["x": 19]) }
      try Signal.send(ready)
      try Signal.wait(for: done)
      kill(getpid(), SIGKILL)
    }
    try await Signal.arrival(of: ready)
    try place.use({
      $0.diagnostics = heard.add
      $0.mountIdentity = mount
    }) { database in
      try database.commit { tx in try tx.set("n/5", to: ["x": 20]) }
      #expect(try database.read { try $0["n/5"]["x"] } == 20)
      try Signal.send(done)
    }
    _ = await other
    #expect(heard.rebuilds == [])
    try place.expectSound()
  }

  @Test("is marked clean when it is closed, and not clean before the first write after that")
  func cleanMark() throws {
    var marks = [try place.mark?.isClean]
    try place.use { database in
      func note() throws {
        marks.append(try database.directory.log.read { try $0.stateMark()?.isClean })
      }
      _ = try database.read { try $0["n"].childCount }
      try note()
      try database.write { tx in
        try note()
        try tx.set("a", to: 1)
      }
      try note()
    }
    marks.append(try place.mark?.isClean)
    #expect(marks == [true, true, false, false, true])
    try place.expectSound()
  }

  @Test("of another system start is marked as this one's before it is written")
  func adoption() throws {
    try place.setMark {
      $0.isClean = true
      $0.boot = "another"
    }
    let database = try place.open()
    try database.write { tx in
      let mark = try database.directory.log.read { try $0.stateMark() }
      #expect(
        mark?.isTrusted(boot: database.directory.trust.boot, mount: database.directory.trust.mount)
          == true)
      #expect(mark?.isClean == false)
    }
    try database.close()
    try place.expectSound()
  }

  @Test(
    "that is not clean stays in use after a process was killed",
    .enabled(
      if: Platform.mountIdentity(of: "/").hasPrefix(Platform.uniqueMount),
      "the system gives the ids of mounts again"))
  func killed() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = place.path as String] in
      let database = try Database(at: path)
      try await database.write { tx in try tx.set("n/5", to: ["x": 19]) }
      kill(getpid(), SIGKILL)
    }
    #expect(try place.mark?.isClean == false)
    try place.use({ $0.diagnostics = heard.add }) { database in
      try expectSound(database)
      #expect(try database.head == 21)
    }
    #expect(heard.rebuilds == [])
  }

  @Test("without a mark is rebuilt")
  func noMark() throws {
    try place.editLog { transaction, tables in
      _ = try Array("state".utf8).lend { try transaction.delete(tables.meta, $0) }
    }
    // Without a mark nobody knows that there was a generation 1.
    try place.use({ $0.diagnostics = heard.add }) { try expectSound($0) }
    #expect(heard.rebuilds == ["there is none"])
  }

  // MARK: The files

  /// The kinds of damage to a state between two openings.
  enum Damage: CaseIterable {
    case directoryRemoved, fileRemoved, emptied, halved, foreign, noTables, badHead, ahead
    case nameMissing, rolledBack

    func apply(_ place: Place) throws {
      let file = try place.state
      switch self {
      case .directoryRemoved: try Files.removeDirectory(Files.parent(of: file))
      case .fileRemoved: #expect(unsafe unlink(file) == 0)
      case .emptied: #expect(unsafe truncate(file, 0) == 0)
      case .halved: #expect(unsafe truncate(file, off_t(Files.size(of: file) / 2)) == 0)
      case .foreign: try Data(repeating: 7, count: 65_536).write(to: URL(filePath: file))
      case .noTables:
        #expect(unsafe unlink(file) == 0)
        _ = try Environment(at: Files.parent(of: file), .init(tables: ["x"]))
      case .badHead:
        try place.editState { try $0.put($1.meta, "head", [1, 2, 3]) }
      case .nameMissing:
        try place.editState { transaction, tables in
          _ = try StateReader.nameKey(0).lend { try transaction.delete(tables.meta, $0) }
        }
      case .ahead, .rolledBack:
        // Behind alone is no damage; here history holds already what would be folded in.
        try place.editState { transaction, tables in
          var head = StateHead()
          head.nextNode = 100
          head.names = 1
          head.applied = self == .ahead ? 21 : 10
          try transaction.put(tables.meta, "head", MetaEntry.seal(head.stored(), name: "head"))
        }
      }
    }
  }

  @Test("that is missing, damaged or ahead of the log is rebuilt", arguments: Damage.allCases)
  func damaged(damage: Damage) throws {
    try damage.apply(place)
    #expect(try reopen().count == 1)
  }

  @Test("that is behind the log and has a damaged page is rebuilt, not written to")
  func damagedBehind() throws {
    try place.appendToLog("n/1", 100)
    let file = URL(filePath: try place.state)
    var bytes = try Data(contentsOf: file)
    for page in 2..<bytes.count / 4096 { bytes[page * 4096 + 1] ^= 0xFF }
    try bytes.write(to: file)
    try place.use({ $0.diagnostics = heard.add }) { database in
      #expect(try database.read { try $0["n/1"].value } == 100)
      try expectSound(database)
    }
    #expect(heard.rebuilds.count == 1)
  }

  @Test("that is behind the log is brought up to it, without a rebuild")
  func behind() throws {
    try place.appendToLog("n/1", 100)
    try place.appendToLog("n/2", 200)
    try place.use({ $0.diagnostics = heard.add }) { database in
      #expect(try database.head == 22)
      #expect(try database.read { try $0["n/2"].value } == 200)
      try expectSound(database)
    }
    #expect(heard.rebuilds == [])
  }
}
