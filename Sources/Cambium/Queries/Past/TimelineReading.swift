// Makes a timeline, by one look at all versions of a collection's records: those of the present,
// which lie in the tree, and those that were replaced or removed, which lie in the history. Each
// says since when it was there, and its key in the history says until when.

import LMDB

/// Adds up by checkpoints what the versions of a collection's records contribute to their groups.
struct TimelineReading: ~Copyable {
  /// With fewer checkpoints too much lies between two of them.
  private static let checkpointsMin = 64
  /// About the memory of a group besides its values, of which there are three copies.
  private static let bytesOfGroup = 256
  /// About the memory of a sum besides itself.
  private static let bytesOfSum = 256

  /// The query that the timeline is for. It is passed along, and not stored in the reading, which
  /// changes: the compiler would copy it at each use.
  private struct Source {
    let records: QueryRecords
    let work: QueryWork
    let program: ConditionProgram?
    let paths: GroupedPaths
    let node: UInt64
  }

  /// The aggregates of a group at a checkpoint before anything was added.
  private let empty: [QueryAccumulator]
  private let bytesMax: Int
  /// The memory of a group's aggregates at one checkpoint.
  private let bytesOfCheckpoint: Int
  private var bytesOfGroups = 0
  private var checkpoints: Checkpoints
  private var groups = GroupTable()
  /// For each group the checkpoints, each with the aggregates.
  private var aggregates: [QueryAccumulator] = []
  /// The identity of a record's group.
  private var identity = ByteBuffer(capacity: 64)
  private var scratch = ByteBuffer(capacity: 64)

  private init(_ source: Source, from horizon: UInt64) throws {
    empty = source.paths.aggregates.map { QueryAccumulator($0.kind) }
    let sizes = source.records.snapshot.directory.options.stepSizes
    bytesMax = sizes.timeline.bytes
    let sumCount = source.paths.aggregates.filter { $0.kind != .count }.count
    bytesOfCheckpoint =
      empty.count * MemoryLayout<QueryAccumulator>.stride + sumCount * TimelineReading.bytesOfSum
    let head = try source.records.reader.head().applied.rawValue
    checkpoints = Checkpoints(from: min(horizon, head), to: head, most: sizes.timeline.checkpoints)
  }

  /// Makes the timeline of a run of a past moment.
  ///
  /// - Parameters:
  ///   - run: The run.
  ///   - node: The node id of its collection.
  /// - Returns: The timeline; nil where the aggregates would need too much memory.
  /// - Throws: ``DatabaseError/corrupt(reason:)``; what the run's check for cancellation throws.
  /// - Complexity: O(*n* + *h*) for *n* records and *h* entries of the whole history.
  static func timeline(of run: QueryRun, _ node: UInt64) throws -> GroupTimeline? {
    let records = run.records
    guard let horizon = records.snapshot.arrivalZones?.horizon,
      let paths = try GroupTimeline.paths(of: run)
    else { return nil }
    let source = Source(
      records: records, work: run.work, program: run.plan.access.program, paths: paths, node: node)
    var reading = try TimelineReading(source, from: horizon)
    guard try reading.readPresent(source), try reading.readHistory(source) else { return nil }
    reading.sumUp()
    return GroupTimeline(reading.aggregates, of: reading.groups, at: reading.checkpoints)
  }

  private mutating func readPresent(_ source: Source) throws -> Bool {
    let reader = source.records.reader
    let prefix = [UInt8](bigEndian: source.node)
    var isComplete = true
    try reader.access.walk(reader.tables.tree, startingWith: prefix) { key, version in
      isComplete = try add(version, key, until: nil, source)
      return isComplete
    }
    return isComplete
  }

  private mutating func readHistory(_ source: Source) throws -> Bool {
    let reader = source.records.reader
    var cursor = try Cursor(reader.access, reader.tables.history)
    // No moment before the first checkpoint is asked for.
    let start = HistoryEntry.key(HistoryLink(sequence: checkpoints.first + 1, index: 0))
    guard try start.lend({ try cursor.seek($0) }) else { return true }
    var isComplete = true
    try cursor.walk(isReversed: false) { key, entry in
      let (place, version) = try HistoryEntry.parts(entry)
      let treeKey = entry.extracting(place)
      guard treeKey.byteCount > 8, try treeKey.bigEndian(at: 0) == source.node else {
        try source.work.count(entries: 1)
        return true
      }
      let end = try HistoryEntry.link(endOf: key).sequence
      isComplete = try add(entry.extracting(version), treeKey, until: end, source)
      return isComplete
    }
    return isComplete
  }

  /// Adds a version up to the transaction that replaced it; nil for one that is there.
  ///
  /// - Returns: False where no timeline can be made.
  private mutating func add(
    _ version: RawSpan, _ treeKey: RawSpan, until end: UInt64?, _ source: Source
  ) throws -> Bool {
    try source.work.count(records: 1)
    let header = try NodeHeader(version, key: treeKey)
    guard header.kind == .record else { return true }
    let record = version.extracting(droppingFirst: header.contentOffset)
    let key = treeKey.extracting(droppingFirst: 8)
    if let program = source.program {
      guard try program.accepts(record, key: key, source.records) else { return true }
    }
    // Also of a version that no checkpoint sees: a moment between two of them may.
    guard let group = try group(of: record, key, source) else { return false }
    let first = checkpoints.index(from: header.modified)
    if end.map(checkpoints.index) == first { return true }
    try source.paths.add(
      record, key: key, source.records, to: &aggregates, at: place(group, first), &scratch)
    guard let end else { return true }
    try source.paths.remove(
      record, key: key, source.records, from: &aggregates,
      at: place(group, checkpoints.index(from: end)))
    return true
  }

  /// The index of a group's aggregates at a checkpoint.
  private func place(_ group: Int, _ checkpoint: Int) -> Int {
    (group * checkpoints.count + checkpoint) * empty.count
  }

  /// The number of a record's group; nil where no timeline can be made.
  private mutating func group(
    of record: RawSpan, _ key: RawSpan, _ source: Source
  ) throws -> Int? {
    identity.clear()
    try source.paths.appendGroup(of: record, key: key, source.records, to: &identity)
    let hash = identity.lend { Checksum.of($0) }
    if let known = identity.lend({ groups.find($0, hash) }) { return known }
    bytesOfGroups += TimelineReading.bytesOfGroup + 4 * identity.count
    while bytesOfGroups + (groups.count + 1) * checkpoints.count * bytesOfCheckpoint > bytesMax {
      if checkpoints.count / 2 < TimelineReading.checkpointsMin { return nil }
      halve()
    }
    for _ in 0..<checkpoints.count { aggregates += empty }
    let values = try source.paths.paths.values(record, key: key, source.records)
    return groups.insert(identity.array(), hash, values)
  }

  /// Leaves out every second checkpoint.
  private mutating func halve() {
    let old = (count: checkpoints.count, aggregates: aggregates)
    checkpoints.halve()
    aggregates.removeAll(keepingCapacity: true)
    for group in 0..<groups.count {
      let start = aggregates.count
      for _ in 0..<checkpoints.count { aggregates += empty }
      for index in 0..<old.count {
        for aggregate in empty.indices {
          aggregates[start + (index + 1) / 2 * empty.count + aggregate].add(
            old.aggregates[(group * old.count + index) * empty.count + aggregate])
        }
      }
    }
  }

  /// Adds to each checkpoint what was added up to the one before.
  private mutating func sumUp() {
    for group in 0..<groups.count {
      let start = group * checkpoints.count * empty.count
      for index in (start + empty.count)..<(start + checkpoints.count * empty.count) {
        aggregates[index].add(aggregates[index - empty.count])
      }
    }
  }
}
