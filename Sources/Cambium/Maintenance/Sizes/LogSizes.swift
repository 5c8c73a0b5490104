// Telling the log's bytes apart: its records operation by operation, those in segments and in the
// tail as well; blobs and entries as a whole.

/// Measures the log.
struct LogSizes {
  /// The columns of its tables.
  static let parts: KeyValuePairs<String, SizePlace.Part> = [
    "records": .log, "segments": .archive, "blobs": .other, "meta": .other, "tail": .log,
  ]

  let log: LogReader
  let ages: AgeScale
  let places: SizePlaces
  let depth: Int
  let progress: ProgressReporter
  private(set) var tally: SizeTally

  /// Measures all.
  mutating func run() throws {
    try addSegments()
    try addRecords()
    let bytes = try log.contentBytes()
    tally.add(bytes.blobs, SizeLabel(.blobs), at: places["blobs"])
    tally.add(bytes.entries, SizeLabel(.entries), at: places["meta"])
  }

  private mutating func addRecords() throws {
    let head = try log.head().sequence
    var next = try log.oldestRecord()
    while next <= head {
      let record = try log.record(next)
      let isInTail = log.tail.map { next >= $0.first } ?? false
      let bytes = try isInTail ? TailFrame.count(of: record) : log.entryBytes(of: next)
      let place = places[isInTail ? "tail" : "records"]
      if bytes < record.storedCount {
        try share(bytes, asOf: record, at: place)
      } else {
        try add(record, bytes: bytes, to: &tally, place)
      }
      try report(next, head)
      next = next.next
    }
  }

  /// The bytes of a compressed record are shared out as those of the record itself.
  private mutating func share(_ bytes: Int, asOf record: TransactionRecord, at place: Int) throws {
    var own = SizeTally(by: tally.criteria, groupsMax: .max / 8)
    let ownPlace = own.place("log", "log/records", .log)
    try add(record, bytes: record.storedCount, to: &own, ownPlace)
    tally.share(bytes, as: own, at: place)
  }

  /// Each segment's bytes are shared out as its records have theirs.
  private mutating func addSegments() throws {
    try log.forEachSegment { segment, bytes in
      var records = SizeTally(by: tally.criteria, groupsMax: .max / 8)
      let place = records.place("log", "log/segments", .archive)
      try segment.forEach { try add($0, bytes: $0.storedCount, to: &records, place) }
      tally.share(bytes, as: records, at: places["segments"])
      try report(segment.last, nil)
    }
  }

  private func add(
    _ record: TransactionRecord, bytes: Int, to tally: inout SizeTally, _ place: Int
  ) throws {
    let age = ages.step(ofMicroseconds: record.time)
    var reader = OperationReader(record.operations)
    while true {
      let start = reader.offset
      guard let operation = try reader.next() else { break }
      try add(operation, bytes: reader.offset - start, age, to: &tally, place)
    }
    tally.add(
      bytes - record.operations.count, SizeLabel(.transactions, age: age), at: place)
  }

  private func add(
    _ operation: Operation, bytes: Int, _ age: Int, to tally: inout SizeTally, _ place: Int
  ) throws {
    switch operation {
    case .set(let path, let content):
      let label = label(path, age)
      let left = try content.bytes.lend {
        try tally.addContent($0, content.kind, label, at: place)
      }
      tally.add(bytes - content.bytes.count + left, label, at: place)
    case .update(let path, let updates):
      let label = label(path, age)
      for update in updates {
        tally.add(update.value?.count ?? 0, label.of(update.name), at: place)
      }
      let values = updates.reduce(0) { $0 + ($1.value?.count ?? 0) }
      tally.add(bytes - values, label, at: place)
    case .change(let path, let target, let change):
      let (label, value) = (label(path, age), change.payload?.count ?? 0)
      tally.add(value, target.map { label.of($0) } ?? label.with(.values), at: place)
      tally.add(bytes - value, label, at: place)
    case .remove(let path), .restore(let path, _), .move(let path, _):
      tally.add(bytes, label(path, age), at: place)
    case .define(let name, _):
      tally.add(bytes, SizeLabel(.names, age: age).of(name), at: place)
    case .event:
      tally.add(bytes, SizeLabel(.events, age: age), at: place)
    case .declare:
      tally.add(bytes, SizeLabel(.names, age: age), at: place)
    }
  }

  private func label(_ path: NodePath, _ age: Int) -> SizeLabel {
    SizeLabel(.nodes, path.prefix(depth), age: age)
  }

  private func report(_ sequence: SequenceNumber, _ head: SequenceNumber?) throws {
    guard head == nil || sequence.rawValue % 256 == 0 else { return }
    try progress.tell("sizes of records", sequence.rawValue, head?.rawValue)
  }
}

extension NodePath {
  /// The first keys.
  func prefix(_ count: Int) -> NodePath {
    var end = 0
    for _ in 0..<count where end < bytes.count { end = Key.end(terminatedIn: bytes, at: end) }
    return end == bytes.count ? self : NodePath(bytes: Array(bytes[..<end]))
  }
}
