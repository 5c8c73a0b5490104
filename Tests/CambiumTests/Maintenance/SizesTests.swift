// Goal: every byte of a database is explained, once and rightly.
// Method: random histories, with blobs, checkpoints, baselines and segments. The groups together
// must have the bytes of the files; what is free and what each table has, as a walk over all pages
// counts it; and the report on collections, properties and ages is compared with a naive count,
// which decodes every entry of every table and looks up who owns each node.

import FoundationEssentials
import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("The sizes of a database", .timeLimit(.minutes(2)))
struct SizesTests {
  private static let choices: [[Sizes.Criterion]] =
    Sizes.Criterion.allCases.map { [$0] } + [
      [], [.collection, .property], [.table, .age], [.environment, .collection, .age],
      [.collection, .property, .age, .table, .environment],
    ]

  @Test("by age go up to a minute, hour, day, week, 30 days and 365 days, to the microsecond")
  func ages() throws {
    try withDatabase { database in
      let now = Date(timeIntervalSince1970: 2_000_000_000)
      let scale = try database.directory.log.read { try AgeScale($0, now: now) }
      let ages: [Int64] = [60, 3600, 86_400, 604_800, 2_592_000, 31_536_000]
      for (step, seconds) in ages.enumerated() {
        let time = (2_000_000_000 - seconds) * 1_000_000
        #expect(scale.step(ofMicroseconds: time) == step)
        #expect(scale.step(ofMicroseconds: time - 1) == step + 1)
      }
    }
  }

  @Test("explain each byte of each file, compacted too", arguments: SeededGenerator.seeds(1, 2))
  func all(seed: UInt64) async throws {
    print("seed \(seed)")
    let blob = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    // The scrub keeps its place in a file, which would come between measuring and counting.
    func configure(_ options: inout Database.Options) {
      (options.checkpointGrowth, options.scrubPause) = (1 << 16, nil)
      options.stepSizes.records.compressedBytes = 256
    }
    try await withDatabase(configure) { database in
      let history = RandomHistory(database, seed: seed, callsMax: 30)
      for _ in 0..<3 {
        try await history.run(calls: 800)
        database.finishCheckpoint()
        try expectExplained(database)
        try history.compact(archives: seed == 1)
        try expectExplained(database)
      }
      try await database.write { tx in
        try tx.set("blobs/one", to: .blob(try tx.store(blob)))
      }
      try expectExplained(database)
    }
  }

  @Test(
    "of collections, properties and ages are those of a naive count",
    arguments: SeededGenerator.seeds(3, 4))
  func naive(seed: UInt64) async throws {
    print("seed \(seed)")
    let clock = SteppedClock(start: 1_700_000_000_000_000)
    func configure(_ options: inout Database.Options) {
      options.clock = { Date(microseconds: clock.next()) }
      // The bytes of a compressed record are none of its values.
      options.stepSizes.records.compressedBytes = .max
    }
    try await withDatabase(configure) { database in
      let history = RandomHistory(database, seed: seed, callsMax: 30)
      try await history.run(calls: 3_000)
      try await database.write { tx in
        try tx.event("counted", ["n": 1])
        try tx.set("single", to: "value")
      }
      let count = try expectCounted(database, now: Date(microseconds: clock.next()))
      #expect(count.groups[.collection]?.count ?? 0 > 3)
      #expect(count.groups[.age]?.count ?? 0 > 2)
      #expect(count.groups[.collection]?.values.contains { $0.history > 0 } == true)
    }
  }

  @Test("explain what an erasure has left")
  func erased() throws {
    let place = try Place()
    try place.use { try $0.writeCounts(1...60) }
    try Database.erase("n/3", at: place.path)
    try place.use { database in
      try expectExplained(database)
      try expectCounted(database, now: Date())
      try database.compact(upTo: 40, archives: true)
      try expectExplained(database)
    }
    try Database.erase("n/4", at: place.path)
    try place.use { try expectExplained($0) }
    try place.expectSound()
  }

  @Test("put small groups together, so that there are no more than asked for")
  func many() throws {
    // The scrub would begin on a slow machine, and write its place down while files are counted.
    try withDatabase({ $0.scrubPause = nil }) { database in
      try database.write { tx in
        for number in 0..<20_000 as Range<Int64> {
          try tx.set(NodePath(keys: [.integer(number)]), to: .integer(number))
        }
        try tx.set("large", to: .string(String(repeating: "x", count: 100_000)))
      }
      let sizes = try database.sizes(by: [.collection], groupsMax: 10)
      #expect(sizes.groups.filter { $0.use == .content }.count == 10)
      #expect(sizes.groups[0].names == ["large"])
      #expect(sizes.groups.contains { $0.use == .others })
      try expectExplained(database)
    }
  }

  @Test("of deeper collections add up to those above")
  func depth() throws {
    try withDatabase { database in
      try database.write { tx in
        for number in 0..<50 as Range<Int64> {
          try tx.set(NodePath(keys: ["a", .integer(number % 3), .integer(number)]), to: ["n": 1])
        }
        try tx.set("b", to: 1)
      }
      try database.write { tx in try tx.remove("a/1") }
      let shallow = try database.sizes(by: [.collection])
      let deep = try database.sizes(by: [.collection], depth: 2)
      #expect(Set(deep.groups.compactMap { $0.names[0] }) == ["a", "a/0", "a/1", "a/2", "b"])
      func sum(_ sizes: Sizes, _ name: String) -> UInt64 {
        sizes.groups.filter { $0.names[0]?.hasPrefix(name) == true }.reduce(0) { $0 + $1.bytes }
      }
      #expect(sum(deep, "a") == sum(shallow, "a"))
      #expect(deep.bytes == shallow.bytes)
    }
  }

  @Test("can be broken off")
  func cancelled() throws {
    try withDatabase { database in
      try database.write { tx in
        for number in 0..<5_000 as Range<Int64> {
          try tx.set(NodePath(keys: ["n", .integer(number)]), to: 1)
        }
      }
      #expect(throws: CancellationError.self) {
        _ = try database.sizes(by: [.collection]) { _ in false }
      }
    }
  }

  /// Compares the report on collections, properties and ages with a naive count.
  @discardableResult
  private func expectCounted(_ database: Database, now: Date) throws -> NaiveCount {
    let count = try NaiveCount(database, now: now)
    for criterion in [Sizes.Criterion.collection, .property, .age] {
      let sizes = try database.sizes(by: [criterion], groupsMax: 100_000, now: now)
      let named = sizes.groups.filter { $0.use == .content }
      let expected = count.groups[criterion] ?? [:]
      #expect(Set(named.compactMap { $0.names[0] }) == Set(expected.keys))
      for group in named {
        let found = NaiveCount.Bytes(log: group.log, tree: group.tree, history: group.history)
        #expect(found == expected[group.names[0] ?? ""], "\(criterion) \(group.names)")
      }
    }
    return count
  }

  // MARK: Explained to the last byte

  private func expectExplained(
    _ database: Database, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    database.finishCheckpoint()
    database.finishCompaction()
    let total = try FileManager.default.subpathsOfDirectory(atPath: database.path)
      .reduce(0 as UInt64) { $0 + size("\(database.path)/\($1)") }
    for criteria in Self.choices {
      let sizes = try database.sizes(by: criteria)
      #expect(sizes.bytes == total, "\(criteria)", sourceLocation: sourceLocation)
    }
    let parts = try database.sizes(by: [.collection, .table, .environment], groupsMax: .max / 8)
    for environment in Set(parts.groups.compactMap { $0.names[2] }) {
      let tail = "\(environment)/tail"
      let own = parts.groups.filter { $0.names[2] == environment && $0.names[1] != tail }
      try expectWalked(own, "\(database.path)/\(environment)/data.mdb", environment, sourceLocation)
    }
  }

  private func size(_ path: String) -> UInt64 {
    Files.isDirectory(path) ? 0 : Files.size(of: path)
  }

  /// Compares the groups of an environment with what walks over its pages and entries count.
  private func expectWalked(
    _ groups: [Sizes.Group], _ file: String, _ name: String, _ sourceLocation: SourceLocation
  ) throws {
    func bytes(where isWanted: (Sizes.Group) -> Bool) -> UInt64 {
      groups.filter(isWanted).reduce(0) { $0 + $1.bytes }
    }
    let report = try PageWalker.walk(file)
    #expect(report.isSound, sourceLocation: sourceLocation)
    #expect(bytes { _ in true } == Files.size(of: file), "\(name)", sourceLocation: sourceLocation)
    let free = min(report.free * 4096, Files.size(of: file) - report.used * 4096)
    #expect(bytes { $0.use == .free } == free, "\(name)", sourceLocation: sourceLocation)
    for table in report.tables {
      let pages = table.branchPages + table.leafPages + table.overflowPages
      let own = { (group: Sizes.Group) in group.names[1] == "\(name)/\(table.name)" }
      #expect(bytes(where: own) == pages * 4096, "\(name)/\(table.name)")
      if !groups.contains(where: { $0.use == .copies }) {
        let content = bytes { own($0) && $0.use != .space }
        #expect(try content == entryBytes(of: table.name, in: file), "\(name)/\(table.name)")
      }
    }
  }

  /// The bytes of all keys and values of a table.
  private func entryBytes(of table: String, in file: String) throws -> UInt64 {
    var scan = try TableScan(file, table: table)
    var bytes: UInt64 = 0
    while let step = scan.next() {
      guard case .entry(let key, let value) = step else { throw Divergence("\(table) is damaged") }
      bytes += UInt64(key.count + value.count)
    }
    return bytes
  }
}

/// A clock whose steps grow, so that there are transactions of many ages.
private final class SteppedClock: Sendable {
  private let start: Int64
  private let counter = Counter()

  init(start: Int64) { self.start = start }

  /// The next time, in microseconds.
  func next() -> Int64 {
    let count = Int64(counter.next())
    return start + count * count * 1_000_000_000
  }
}
