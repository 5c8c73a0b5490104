import FoundationEssentials
import LMDB
import Testing

@testable import Cambium

/// The bytes of a database by criterion, counted in the simplest way: all of it in memory.
struct NaiveCount {
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
    let state = try database.directory.currentState()
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
      let record = try database.directory.log.read { try $0.record(SequenceNumber(sequence)) }
      times[sequence] = record.time
      add(.age, age(record.time), \.log, try logBytes(of: record, database))
      var reader = OperationReader(record.operations)
      var writer = OperationWriter()
      while let operation = try reader.next() {
        let before = writer.bytes.count
        writer.write(operation)
        let count = writer.bytes.count - before
        if let path = operation.paths.first {
          add(.collection, NodePath(keys: [path.keys[0]]).description, \.log, count)
        }
        try addProperties(of: operation, count)
      }
      #expect(writer.bytes == record.operations)
    }
  }

  /// The bytes of a record: with its key in LMDB, or with header and padding in the tail.
  private func logBytes(of record: TransactionRecord, _ database: Database) throws -> Int {
    let count = record.stored().count
    let first = try database.directory.log.read { $0.tail?.first }
    guard let first, record.sequence >= first else { return count + 12 }
    return (count + 32 + 7) / 8 * 8
  }

  private mutating func addProperties(of operation: Operation, _ count: Int) throws {
    switch operation {
    case .set(_, let content) where content.kind == .record: try addRecord(content.bytes, \.log)
    case .update(_, let updates):
      for update in updates {
        add(.property, names[Int(update.name)], \.log, update.value?.count ?? 0)
      }
    case .change(_, let target?, let change):
      add(.property, names[Int(target)], \.log, change.payload?.count ?? 0)
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

  /// The checksum behind each entry of a table whose values have none of their own.
  private static let sealBytes = 4

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
      let besides = key.count + 2 + length + Self.sealBytes
      try addVersion(treeKey, Array(entry[(2 + length)...]), besides, \.history)
    }
    for (key, value) in removals {
      guard let collection = try collection(Array(key.dropLast(13))) else { continue }
      let bytes = key.count + value.count + Self.sealBytes
      add(.collection, collection, \.history, bytes)
      let link = try key.lend { try HistoryEntry.link(endOf: $0) }
      add(.age, age(times[link.sequence] ?? 0), \.history, bytes)
    }
    for (key, value) in try reader.entries(state.tables.counts) {
      let node = key.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      guard node != StateHead.root, let owner = owners[node],
        let collection = try collection(owner)
      else { continue }
      let bytes = key.count + value.count + Self.sealBytes
      add(.collection, collection, \.tree, bytes)
      add(.age, age(times[modified[node] ?? 0] ?? 0), \.tree, bytes)
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
    for (key, value) in removals where value == [0] || value == [3] {
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
    return NodePath(keys: [key]).description
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
