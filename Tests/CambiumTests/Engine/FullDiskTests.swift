// A disk that is full, to the page: no call ends the process, what is stored can be read, and the
// state keeps up with the log.
//
// Method: a file system in memory of a few megabytes, of which a file takes all but a certain
// number of pages. Calls that might end the process run in a child.

import Foundation
import LMDB
import Synchronization
import Testing

@testable import Cambium

@Suite(
  "A full disk", .timeLimit(.minutes(3)),
  .enabled(if: SmallDisk.isAvailable, "it takes the right to mount a file system in memory"))
struct FullDiskTests {
  private let disk: SmallDisk
  private let database: String

  init() throws {
    disk = try SmallDisk(bytes: 8 << 20)
    database = "\(disk.path)/test.cambium"
  }

  /// The calls that can be made on a full disk.
  enum Call: String, CaseIterable, Codable {
    case open, create, verify, replay, rebuild, erase, restore, repair, compact, vacuum, backUp,
      write

    func run(on disk: String) throws {
      let path = "\(disk)/test.cambium"
      switch self {
      case .create: try Database(at: "\(disk)/new.cambium").close()
      case .restore: try Database.restore("\(disk)/test.backup", to: "\(disk)/new.cambium")
      case .repair: try Database.repair(path, by: .cut, to: "\(disk)/new.cambium")
      case .erase: try Database.erase("n/3", at: path)
      case .vacuum: try Database.vacuum(at: path)
      default:
        let database = try Database(at: path)
        defer { try? database.close() }
        try run(on: database, disk)
      }
    }

    private func run(on database: Database, _ disk: String) throws {
      switch self {
      case .verify: #expect(try database.verify().isSound)
      case .replay: try database.replay(to: "\(disk)/new.cambium")
      case .rebuild: try database.rebuild()
      case .compact: _ = try database.compact(keeping: Retention(transactions: 5))
      case .backUp: try database.backUp(to: "\(disk)/new.backup")
      case .write: try database.count(1)
      default: break
      }
      #expect(try database.read { try $0["n/2"].childCount } == 0)
    }
  }

  @Test("gives a clear error for whatever is asked, and no signal", arguments: Call.allCases)
  func calls(call: Call) async throws {
    try makeDatabase()
    await #expect(processExitsWith: .success) {
      [disk = disk.path as String, call = call.rawValue as String] in
      let call = try #require(Call(rawValue: call))
      for pages in [0, 1, 2, 5, 9, 14, 17, 18, 19, 20, 25, 30, 34, 36, 40, 60, 100, 150] {
        try Ballast.fill(disk, leaving: pages * 4096)
        do { try call.run(on: disk) } catch DatabaseError.full(let reason) {
          #expect(!reason.contains("not stored"))
        } catch DatabaseError.notFound {
          // It is erased.
        }
        for name in ["new.cambium", "new.backup"] where Files.exists("\(disk)/\(name)") {
          try Files.removeDirectory("\(disk)/\(name)")
        }
      }
    }
    try Ballast.remove(disk.path)
    #expect(try !Files.names(in: disk.path).contains { $0.hasSuffix(".tmp") })
    let opened = try Database(at: database)
    try expectSound(opened)
    try await opened.close()
  }

  private func makeDatabase() throws {
    let opened = try Database(at: database)
    try opened.count(30)
    try opened.backUp(to: "\(disk.path)/test.backup")
    try opened.close()
  }

  @Test("lets as many snapshots be held as there can be readers")
  func snapshots() async throws {
    try makeDatabase()
    await #expect(processExitsWith: .success) { [disk = disk.path as String] in
      let database = try Database(at: "\(disk)/test.cambium")
      try Ballast.fill(disk, leaving: 0)
      let snapshots = try (0..<500).map { _ in try database.snapshot() }
      #expect(try snapshots.allSatisfy { try $0["n/3"]["count"] != nil })
    }
  }

  @Test("lets a later process read what a state has that is behind the log")
  func behind() throws {
    try makeDatabase()
    let heard = Mutex<[String]>([])
    var options = Database.Options()
    options.diagnostics = { diagnostic in heard.withLock { $0.append("\(diagnostic)") } }
    // More than the reserve has room for.
    try appendToLog(.string(String(repeating: "late", count: 100_000)))
    try Ballast.fill(disk.path, leaving: 0)
    let opened = try Database(at: database, options: options)
    #expect(try opened.head == 30)
    #expect(try opened.read { try $0["n/2"]["count"] } != nil)
    #expect(throws: DatabaseError.self) { try opened.count(1) }
    #expect(heard.withLock { $0 }.contains { $0.contains("30 of 31") })
    try opened.close()
    try Ballast.remove(disk.path)
    let again = try Database(at: database, options: options)
    #expect(try again.head == 31)
    #expect(try again.read { try $0["late"].value } != nil)
    try expectSound(again)
    try again.close()
  }

  @Test("lets a later process fold in with the reserve what the log has")
  func caughtUp() throws {
    try makeDatabase()
    try appendToLog("late")
    try Ballast.fill(disk.path, leaving: 0)
    let opened = try Database(at: database)
    #expect(try opened.read { try $0["late"].value } == "late")
    try opened.close()
    try Ballast.remove(disk.path)
    let again = try Database(at: database)
    try expectSound(again)
    try again.close()
  }

  /// Appends a record to the log alone, as a process does that is killed between the commits.
  private func appendToLog(_ value: Value) throws {
    let opened = try Database(at: database)
    try opened.appendToLog("late", value)
    try opened.close()
  }

  @Test("has room in reserve for the state, whatever the log has taken", arguments: 0..<24)
  func reserve(step: Int) throws {
    let opened = try Database(at: database)
    try opened.count(3)
    try Ballast.fill(disk.path, leaving: (20 + step) * 4096)
    let payload = Value.string(String(repeating: "x", count: 900 + 137 * step))
    var stored: UInt64 = 3
    do {
      while true {
        try opened.write { tx in
          try tx.set(NodePath(keys: ["large", .integer(Int64(tx.sequence.rawValue))]), to: payload)
        }
        stored += 1
      }
    } catch DatabaseError.full {}
    #expect(stored > 3)
    #expect(try opened.head.rawValue == stored)
    #expect(try opened.information().head.rawValue == stored)
    try opened.close()
    let reader = try Database(at: database)
    #expect(try reader.head.rawValue == stored)
    try Ballast.remove(disk.path)
    try reader.count(1)
    try expectSound(reader)
    try reader.close()
  }
}
