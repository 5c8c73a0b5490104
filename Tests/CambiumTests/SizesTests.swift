// Goal: every byte of a database is explained, once and rightly.
// Method: random histories, with blobs, checkpoints, baselines and segments. The groups together
// must have the bytes of the files; what is free and what each table has, as a walk over all pages
// counts it; and what is told of collections, properties and ages is compared with a naive count,
// which decodes every entry of every table and looks up who owns each node.

import FoundationEssentials
import LMDB
import Testing

@testable import Cambium

@Suite("The sizes of a database", .timeLimit(.minutes(2)))
struct SizesTests {
  private static let choices: [[Sizes.Criterion]] =
    Sizes.Criterion.allCases.map { [$0] } + [
      [], [.collection, .property], [.table, .age], [.environment, .collection, .age],
      [.collection, .property, .age, .table, .environment],
    ]

  @Test("explain each byte of each file, compacted too", arguments: SeededGenerator.seeds(1, 2))
  func all(seed: UInt64) async throws {
    print("seed \(seed)")
    let blob = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    try await withDatabase({ $0.checkpointGrowth = 1 << 16 }) { database in
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
    try await withDatabase({ $0.clock = { clock.next() } }) { database in
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
    try withDatabase { database in
      try database.write { tx in
        for number in 0..<20_000 as Range<Int64> {
          try tx.set(Path(keys: [.integer(number)]), to: .integer(number))
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
          try tx.set(Path(keys: ["a", .integer(number % 3), .integer(number)]), to: ["n": 1])
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
          try tx.set(Path(keys: ["n", .integer(number)]), to: 1)
        }
      }
      #expect(throws: CancellationError.self) {
        _ = try database.sizes(by: [.collection]) { _ in false }
      }
    }
  }

  /// Compares what is told of collections, properties and ages with a naive count.
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
      let own = parts.groups.filter { $0.names[2] == environment }
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

/// What a database's bytes are, counted in the simplest way: all of it in memory.
private struct NaiveCount {
  struct Bytes: Equatable {
    var log: UInt64 = 0
    var tree: UInt64 = 0
    var history: UInt64 = 0
  }

  typealias Part = WritableKeyPath<Bytes, UInt64>

  private(set) var groups: [Sizes.Criterion: [String: Bytes]] = [:]
  private let now: Int64
  private var times: [UInt64: Int64] = [:]
  /// Where the node with an id hangs, by its tree key.
  private var owners: [UInt64: [UInt8]] = [:]
  private var names: [String] = []

  init(_ database: Database, now: Date) throws {
    self.now = now.microseconds
    let state = try database.store.currentState()
    names = try state.catalog().names
    try addLog(database)
    try addState(state)
  }

  private mutating func add(
    _ criterion: Sizes.Criterion, _ name: String, _ part: Part, _ count: Int
  ) {
    if count <= 0 { return }
    groups[criterion, default: [:]][name, default: Bytes()][keyPath: part] += UInt64(count)
  }

  private func age(_ time: Int64) -> String {
    let seconds = (now - time) / 1_000_000
    switch seconds {
    case ...60: return "minute"
    case ...3600: return "hour"
    case ...(24 * 3600): return "day"
    case ...(7 * 24 * 3600): return "week"
    case ...(30 * 24 * 3600): return "month"
    case ...(365 * 24 * 3600): return "year"
    default: return "older"
    }
  }

  // MARK: The log

  private mutating func addLog(_ database: Database) throws {
    for sequence in 1...(try database.head.rawValue) {
      let record = try database.store.log.read { try $0.record(SequenceNumber(sequence)) }
      times[sequence] = record.time
      add(.age, age(record.time), \.log, record.stored().count + 12)
      var reader = OperationReader(record.operations)
      var writer = OperationWriter()
      while let operation = try reader.next() {
        let before = writer.bytes.count
        writer.write(operation)
        let count = writer.bytes.count - before
        if let path = Self.path(of: operation) {
          add(.collection, Path(keys: [path.keys[0]]).description, \.log, count)
        }
        try addProperties(of: operation, count)
      }
      #expect(writer.bytes == record.operations)
    }
  }

  private static func path(of operation: Operation) -> Path? {
    switch operation {
    case .set(let path, _), .update(let path, _), .increment(let path, _, _),
      .append(let path, _, _), .insert(let path, _, _, _), .removeElement(let path, _, _),
      .remove(let path), .restore(let path, _), .move(let path, _):
      path
    case .define, .event: nil
    }
  }

  private mutating func addProperties(of operation: Operation, _ count: Int) throws {
    switch operation {
    case .set(_, let content) where content.kind == .record: try addRecord(content.bytes, \.log)
    case .update(_, let updates):
      for update in updates {
        add(.property, names[Int(update.name)], \.log, update.value?.count ?? 0)
      }
    case .increment(_, let target?, let value), .append(_, let target?, let value),
      .insert(_, let target?, _, let value):
      add(.property, names[Int(target)], \.log, value.count)
    case .define(_, let name): add(.property, name, \.log, count)
    default: break
    }
  }

  private mutating func addRecord(_ stored: [UInt8], _ part: Part) throws {
    let builder = try stored.lend { try RecordBuilder($0) }
    for name in builder.names {
      let entry = stored[0] == 0 ? 4 : 8
      add(.property, names[Int(name)], part, entry + (builder[name]?.count ?? 0))
    }
  }

  // MARK: The state

  private mutating func addState(_ state: State) throws {
    let transaction = try ReadTransaction(state.environment, tables: [])
    let reader = StateReader(access: transaction.access, tables: state.tables)
    let tree = try reader.entries(state.tables.tree)
    let history = try reader.entries(state.tables.history)
    let removals = try reader.entries(state.tables.removals)
    try findOwners(tree, history, removals)
    for (key, version) in tree { try addVersion(key, version, key.count, \.tree) }
    for (key, entry) in history {
      let length = Int(entry[0]) | Int(entry[1]) << 8
      let treeKey = Array(entry[2..<(2 + length)])
      try addVersion(treeKey, Array(entry[(2 + length)...]), key.count + 2 + length, \.history)
    }
    for (key, value) in removals {
      guard let collection = try collection(Array(key.dropLast(13))) else { continue }
      add(.collection, collection, \.history, key.count + value.count)
      let link = try key.lend { try HistoryEntry.link(endOf: $0) }
      add(.age, age(times[link.sequence] ?? 0), \.history, key.count + value.count)
    }
    for (key, value) in try reader.entries(state.tables.counts) {
      let node = key.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      guard node != StateHead.root, let owner = owners[node],
        let collection = try collection(owner)
      else { continue }
      add(.collection, collection, \.tree, key.count + value.count)
      add(.age, age(times[modified[node] ?? 0] ?? 0), \.tree, key.count + value.count)
    }
  }

  /// When the owner of each node was last changed: what its count of children is as old as.
  private var modified: [UInt64: UInt64] = [:]

  private mutating func findOwners(
    _ tree: [(key: [UInt8], value: [UInt8])], _ history: [(key: [UInt8], value: [UInt8])],
    _ removals: [(key: [UInt8], value: [UInt8])]
  ) throws {
    for (key, version) in tree {
      let header = try key.lend { key in try version.lend { try NodeHeader($0, key: key) } }
      if header.node != 0 { (owners[header.node], modified[header.node]) = (key, header.modified) }
    }
    let versions = Dictionary(uniqueKeysWithValues: history.map { ($0.key, $0.value) })
    for (key, value) in removals where value == [0] {
      let treeKey = Array(key.dropLast(13))
      let entry = try #require(versions[Array(key.suffix(12))])
      let version = Array(entry[(2 + treeKey.count)...])
      let header = try treeKey.lend { key in try version.lend { try NodeHeader($0, key: key) } }
      if header.node != 0 {
        let link = try key.lend { try HistoryEntry.link(endOf: $0) }
        (owners[header.node], modified[header.node]) = (treeKey, link.sequence)
      }
    }
  }

  /// The key at the top of the path that leads to a tree key,
  /// or nil where nothing leads there.
  private func collection(_ treeKey: [UInt8]) throws -> String? {
    var treeKey = treeKey
    while true {
      let parent = treeKey.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      if parent == StateHead.root { break }
      guard let owner = owners[parent] else { return nil }
      treeKey = owner
    }
    let key = try treeKey.lend { try Key($0.extracting(droppingFirst: 8)) }
    return Path(keys: [key]).description
  }

  private mutating func addVersion(
    _ treeKey: [UInt8], _ version: [UInt8], _ besides: Int, _ part: Part
  ) throws {
    guard let collection = try collection(treeKey) else { return }
    let header = try treeKey.lend { key in try version.lend { try NodeHeader($0, key: key) } }
    add(.collection, collection, part, besides + version.count)
    add(.age, age(times[header.modified] ?? 0), part, besides + version.count)
    if header.kind == .record { try addRecord(Array(version[header.contentOffset...]), part) }
  }
}

extension StateReader {
  fileprivate func entries(_ table: Table) throws -> [(key: [UInt8], value: [UInt8])] {
    var entries: [(key: [UInt8], value: [UInt8])] = []
    var cursor = try Cursor(access, table)
    var isThere = try cursor.first()
    while isThere {
      cursor.withEntry { entries.append(($0.array(), $1.array())) }
      isThere = try cursor.next()
    }
    return entries
  }
}
