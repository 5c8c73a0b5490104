// Copies of the state from which a recovery starts.

import Foundation
import LMDB
import Testing

@testable import Cambium

@Suite("A checkpoint", .timeLimit(.minutes(1)))
struct CheckpointTests {
  private let place: Place
  private let heard = Heard()

  init() throws { place = try Place() }

  /// Writes transactions of three nodes each, with a checkpoint after every little growth.
  private func write(_ numbers: Range<Int64>) throws {
    try place.use({ $0.checkpointGrowth = 1 }) { database in
      for number in numbers {
        try database.write { tx in
          try tx.set(NodePath(keys: ["n", .integer(number)]), to: .integer(number))
          try tx.set(NodePath(keys: ["old", .integer(number % 5)]), to: .integer(number))
          try tx.set("last", to: ["number": .integer(number), "text": .string(text)])
        }
        database.finishCheckpoint()
      }
    }
  }

  private let text = String(repeating: "x", count: 1_000)

  /// Makes the state one that a crash of the system may have torn.
  private func distrustState() throws {
    try place.setMark {
      $0.isClean = false
      $0.boot = "another"
    }
  }

  private var named: SequenceNumber? {
    get throws {
      let log = try Log(at: "\(place.path)/log", .init(tables: [], mapSize: 1 << 30))
      defer { log.close() }
      return try log.read { try $0.checkpoint() }?.sequence
    }
  }

  private var directories: [String] {
    get throws { try place.names.filter { $0.hasPrefix("checkpoint") } }
  }

  @Test("is made as the log grows, named in the log, and takes the place of the one before")
  func making() throws {
    try write(0..<20)
    let first = try #require(try named)
    try write(20..<120)
    let second = try #require(try named)
    #expect(first < second)
    #expect(try directories == ["checkpoint-\(second)"])
    try place.use { database in
      let checkpoint = try #require(try database.information().checkpoint)
      #expect(checkpoint.sequence == second)
      #expect(checkpoint.bytes > 0)
    }
    try place.expectSound()
  }

  @Test("is not made before the log has grown by enough")
  func notDue() throws {
    try place.fill(50)
    #expect(try directories == [])
    try place.expectSound()
    let policy = CheckpointPolicy(growth: 100)
    let last = CheckpointMark(sequence: 1, logBytes: 1_000)
    #expect(!policy.isDue(logBytes: 99, stateBytes: 0, last: nil))
    #expect(policy.isDue(logBytes: 100, stateBytes: 0, last: nil))
    #expect(!policy.isDue(logBytes: 1_099, stateBytes: 0, last: last))
    #expect(policy.isDue(logBytes: 1_100, stateBytes: 0, last: last))
    #expect(!policy.isDue(logBytes: 1_100, stateBytes: 404, last: last))
  }

  @Test("is where a recovery starts")
  func recovery() throws {
    try write(0..<100)
    // Folding from the first record would now fail.
    try place.editLog { transaction, tables in
      let key = LogTables.recordKey(2, part: 0)
      let isRemoved = try key.lend { try transaction.delete(tables.records, $0) }
      #expect(isRemoved)
    }
    try distrustState()
    try place.use({ $0.diagnostics = heard.add }) { database in
      #expect(try database.head == 100)
      #expect(try database.read { try $0["n"].childCount } == 100)
      #expect(try database.read { try $0["last/number"].value } == 99)
      #expect(try database.read(at: .sequence(41)) { try $0["last/number"].value } == 40)
      try database.write { tx in try tx.set("after", to: true) }
      let findings = try database.verify().findings
      #expect(findings.map(\.part) == ["log"])
      #expect("\(findings)".contains("record 2"))
    }
    #expect(heard.rebuilds.count == 1)
  }

  @Test("gives the same state as folding everything, wherever the log ends", arguments: 0..<8)
  func equality(more: Int64) throws {
    try write(0..<60)
    try place.use({ $0.checkpointGrowth = nil }) { database in
      for number in 0..<more {
        try database.write { tx in
          try tx.update("last", ["number": .integer(number), "new\(number)": .integer(number)])
          try tx.remove(NodePath(keys: ["n", .integer(number)]))
        }
      }
    }
    for _ in 0..<2 {
      try distrustState()
      try place.use({ $0.diagnostics = heard.add }) { database in
        #expect(try database.read { try $0["n"].childCount } == Int(60 - more))
        try expectSound(database)
      }
    }
    #expect(heard.rebuilds.count == 2)
    #expect(heard.failures == [])
    #expect(try directories.count == 1)
  }

  enum Damage: String, CaseIterable, Sendable {
    case missing, empty, cut, meta, foreign, ahead
  }

  @Test("that is of no use is told of, and everything is folded", arguments: Damage.allCases)
  func damage(_ damage: Damage) throws {
    try write(0..<60)
    let sequence = try #require(try named)
    let directory = "\(place.path)/checkpoint-\(sequence)"
    let file = "\(directory)/data.mdb"
    switch damage {
    case .missing: try Files.removeDirectory(directory)
    case .empty: try Data().write(to: URL(filePath: file))
    case .cut:
      let bytes = try Data(contentsOf: URL(filePath: file))
      try bytes.prefix(bytes.count / 2).write(to: URL(filePath: file))
    case .meta:
      var bytes = try Data(contentsOf: URL(filePath: file))
      for index in 0..<8192 { bytes[index] ^= 0x55 }
      try bytes.write(to: URL(filePath: file))
    case .foreign: try Data("something else".utf8).write(to: URL(filePath: file))
    case .ahead:
      // The copy of a later moment, under this one's name.
      try write(60..<61)
      try FileManager.default.removeItem(atPath: file)
      try Files.copy(try place.state, to: file)
      try place.editState { transaction, tables in
        var head = StateHead()
        head.applied = 1_000
        head.nextNode = 1_000
        let name = StateHead.name
        try name.lend { key in
          try MetaEntry.seal(head.stored(), name: name).lend {
            try transaction.put(tables.meta, key, $0)
          }
        }
      }
      try FileManager.default.removeItem(atPath: file)
      try Files.copy(try place.state, to: file)
    }
    try distrustState()
    try place.use({ $0.diagnostics = heard.add }) { database in
      #expect(try database.read { try $0["last/number"].value } == (damage == .ahead ? 60 : 59))
      try expectSound(database)
    }
    #expect(heard.rebuilds.count == 1)
    #expect(heard.failures.count == 1)
  }

  @Test("is dropped by a rebuild that was asked for")
  func dropped() throws {
    try write(0..<60)
    try place.use { try $0.rebuild() }
    #expect(try named == nil)
    #expect(try directories == [])
    try place.expectSound()
  }

  @Test("that a crash left unnamed or unfinished is swept; one that is being made is not")
  func leftovers() throws {
    try write(0..<60)
    let kept = try directories
    for name in ["checkpoint-7", "checkpoint-99.tmp"] {
      try Files.createDirectory("\(place.path)/\(name)")
    }
    let claim = try ClaimedDirectory(creating: "\(place.path)/checkpoint-5.tmp")
    try place.expectSound()
    #expect(try Set(directories) == Set(kept + ["checkpoint-5.tmp"]))
    try withExtendedLifetime(claim) { try Files.removeDirectory(claim.path) }
    try place.expectSound()
  }

  @Test("in the making does not hold up closing, and leaves nothing")
  func closing() throws {
    for _ in 0..<10 {
      try place.use({ $0.checkpointGrowth = 1 }) { database in
        for _ in 0..<5 {
          try database.write { tx in try tx.set("a", to: .string(text)) }
        }
      }
      #expect(try !directories.contains { $0.hasSuffix(".tmp") })
    }
    try place.expectSound()
  }

  @Test("is made while others write, and holds a moment between two transactions")
  func concurrent() async throws {
    let database = try place.open { $0.checkpointGrowth = 1 }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 as Range<Int64> {
        group.addTask {
          for number in 0..<200 as Range<Int64> {
            try await database.write { tx in
              let key = Key.integer(writer * 1_000 + number)
              try tx.set(NodePath(keys: ["n", key]), to: .integer(number))
              try tx.increment("total", by: 1)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    try await database.close()
    try distrustState()
    try place.use({ $0.diagnostics = heard.add }) { database in
      #expect(try database.read { try $0["total"].value } == 800)
      #expect(try database.read { try $0["n"].childCount } == 800)
      try expectSound(database)
    }
    #expect(heard.failures == [])
    #expect(heard.rebuilds.count == 1)
  }
}
