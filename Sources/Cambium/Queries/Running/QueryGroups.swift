import LMDB

/// Aggregates by group.
///
/// Seeing a known group again allocates nothing. Where groups need too much memory, what is known
/// so far goes into a sorted file, and is put together in the end.
///
/// A structure, and apart from the paths that it reads by: accesses to the variables of an object
/// are checked for exclusiveness at run time, which took a third of a sum.
struct QueryGroups: ~Copyable {
  private let aggregates: [QueryAggregate]
  private let shownTypes: [PropertyType?]
  /// True if all records are one group.
  private let isOne: Bool

  private let bytesMax: Int
  /// The groups and their aggregates when memory was full; nil while it never was.
  private var parts: ExternalSort?

  private var table = GroupTable()
  private var accumulators: [QueryAccumulator] = []
  private var key = ByteBuffer()
  private var scratch = ByteBuffer(capacity: 64)

  /// The number of groups.
  var count: Int { table.count }

  init(_ paths: GroupedPaths, bytesMax: Int = 64 << 20) {
    self.bytesMax = bytesMax
    (aggregates, shownTypes) = (paths.aggregates, paths.shownTypes)
    isOne = paths.types.isEmpty
  }

  /// Groups with what they have added up to so far: for each, the aggregates of `paths`.
  init(_ paths: GroupedPaths, _ table: GroupTable, _ accumulators: [QueryAccumulator]) {
    self.init(paths)
    (self.table, self.accumulators) = (table, accumulators)
  }

  /// Takes a record into account.
  mutating func add(
    _ record: RawSpan, key own: RawSpan, _ records: QueryRecords, by paths: GroupedPaths
  ) throws {
    let start = try group(of: record, key: own, records, by: paths) * aggregates.count
    try paths.add(record, key: own, records, to: &accumulators, at: start, &scratch)
  }

  /// Takes some records into account.
  mutating func add(
    _ batch: borrowing EntryBatch, _ records: QueryRecords, by paths: GroupedPaths
  ) throws {
    var index = 0
    while index < batch.count && !(isOne && count == 1) {
      try batch.lend(index) { try add($1, key: $0, records, by: paths) }
      index += 1
    }
    if index == batch.count { return }
    // There is one group, so that each aggregate can go over all of them.
    try paths.add(batch, from: index, records, to: &accumulators, &scratch)
  }

  /// Removes a record that was added. Its group stays, also without records.
  mutating func remove(
    _ record: RawSpan, key own: RawSpan, _ records: QueryRecords, by paths: GroupedPaths
  ) throws {
    let start = try group(of: record, key: own, records, by: paths) * aggregates.count
    try paths.remove(record, key: own, records, from: &accumulators, at: start)
  }

  /// The number of a record's group, which is made if it is the first.
  private mutating func group(
    of record: RawSpan, key own: RawSpan, _ records: QueryRecords, by paths: GroupedPaths
  ) throws -> Int {
    if isOne && count == 1 { return 0 }
    key.clear()
    try paths.appendGroup(of: record, key: own, records, to: &key)
    let hash = key.lend { Checksum.of($0) }
    if let known = key.lend({ table.find($0, hash) }) { return known }
    return try insert(hash, paths.paths.values(record, key: own, records))
  }

  /// About how much memory a group takes besides the bytes of its values.
  private var groupBytes: Int { 160 + aggregates.count * MemoryLayout<QueryAccumulator>.stride }

  private mutating func insert(_ hash: UInt64, _ first: [Value]) throws -> Int {
    if table.bytesCount * 2 + count * groupBytes > bytesMax { try spill() }
    accumulators += aggregates.map { QueryAccumulator($0.kind) }
    return table.insert(key.array(), hash, first)
  }

  /// Visits the groups in the order of their values: each with its values, then its aggregates.
  mutating func forEach(_ body: ([Value]) throws -> Bool) throws {
    if isOne && count == 0 && parts == nil {
      _ = try body(try aggregates.map { try QueryAccumulator($0.kind).result() })
      return
    }
    if parts != nil { return try forEachMerged(body) }
    for (group, _) in table.sorted {
      let start = group * aggregates.count
      let aggregates = try aggregates.indices.map { try accumulators[start + $0].result() }
      if try !body((table.firsts[group] + aggregates).inShownForms(shownTypes)) { return }
    }
  }
}

// MARK: Groups that memory does not hold

extension QueryGroups {
  /// Puts what is known of the groups aside.
  private mutating func spill() throws {
    if parts == nil { parts = ExternalSort() }
    for (group, key) in table.sorted {
      let values = try Value.array(table.firsts[group]).stored()
      var bytes = [UInt8](littleEndian: UInt32(values.count))
      bytes += values
      for accumulator in accumulators[(group * aggregates.count)...].prefix(aggregates.count) {
        accumulator.append(to: &bytes)
      }
      try parts?.add(key, bytes)
    }
    table.removeAll()
    accumulators.removeAll(keepingCapacity: true)
  }

  private typealias Part = (values: [Value], accumulators: [QueryAccumulator])

  private func part(_ bytes: RawSpan) throws -> Part {
    let count = Int(try bytes.load(UInt32.self, at: 0))
    try bytes.check(4, count)
    guard case .array(let values) = try Value(bytes.extracting(4..<(4 + count))) else {
      throw DatabaseError.ioFailure(reason: "a temporary file is damaged")
    }
    var offset = 4 + count
    return (values, try aggregates.map { try QueryAccumulator($0.kind, bytes, at: &offset) })
  }

  private mutating func forEachMerged(_ body: ([Value]) throws -> Bool) throws {
    try spill()
    guard let sort = parts.take() else { return }
    var entries = try sort.sorted()
    var current: (key: [UInt8], part: Part)?
    let shownTypes = shownTypes
    func hand(_ part: Part) throws -> Bool {
      let values = try part.values + part.accumulators.map { try $0.result() }
      return try body(values.inShownForms(shownTypes))
    }
    while let entry = try entries.next() {
      let part = try entry.value.lend { try self.part($0) }
      if let known = current, known.key == entry.key {
        for index in aggregates.indices {
          current?.part.accumulators[index].add(part.accumulators[index])
        }
        continue
      }
      if let known = current, try !hand(known.part) { return }
      current = (entry.key, part)
    }
    if let known = current { _ = try hand(known.part) }
  }
}
