/// Reads the values that some paths lead to, from a record's bytes.
struct QueryPaths: Sendable {
  /// The operands of the paths, in order, and what they need.
  private let program: ConditionProgram
  /// The properties that the paths lead to, by path; nil where one leads elsewhere.
  let own: [OwnProperty?]
  /// The record's own properties that they read, ascending; nil where they read its key alone.
  let names: [NameID]

  var count: Int { program.operands.count }

  /// True if they lead to records other than the one that they are read from.
  var usesRelated: Bool { program.usesRelated }

  init(_ paths: [PropertyPath], in scope: ConditionScope) throws {
    program = try ConditionProgram(reading: paths, in: scope)
    own = program.operands.map { $0.isPlain ? OwnProperty(name: $0.name, slot: $0.slot) : nil }
    names = program.names
  }

  /// Lends the value that a path leads to; empty where there is none.
  @inline(__always)
  func lend<R>(
    _ index: Int, _ record: RawSpan, key: RawSpan, _ records: QueryRecords,
    _ body: (RawSpan) throws -> R
  ) throws -> R {
    if let range = try range(index, record) { return try body(record.extracting(range)) }
    return try lendElsewhere(index, record, key: key, records, body)
  }

  /// Lends a value that the record does not have as it is: see ``range(_:_:)``.
  @inline(__always)
  func lendElsewhere<R>(
    _ index: Int, _ record: RawSpan, key: RawSpan, _ records: QueryRecords,
    _ body: (RawSpan) throws -> R
  ) throws -> R {
    try program.lend(program.operands[index], record, RecordTable(record), key, records, body)
  }

  /// The range of a value that the record has as it is; nil for one that is to be looked for.
  @inline(__always)
  func range(_ index: Int, _ record: RawSpan) throws -> Range<Int>? {
    try own[index]?.range(record)
  }

  /// The values that all paths lead to.
  func values(_ record: RawSpan, key: RawSpan, _ records: QueryRecords) throws -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(count)
    for index in 0..<count {
      values.append(
        try lend(index, record, key: key, records) { $0.byteCount == 0 ? .null : try Value($0) })
    }
    return values
  }
}

/// A property of the record itself.
struct OwnProperty: BitwiseCopyable, Sendable {
  let name: NameID
  /// Its likely place in a record's table.
  let slot: UInt16

  /// The range of its value; nil for one that is to be looked for, since something may stand for
  /// its absence, or for null.
  @inline(__always)
  func range(_ record: RawSpan) throws -> Range<Int>? {
    guard
      let range = try RecordTable.likelyRange(record, of: name, at: Int(slot))
        ?? RecordTable(record).find(record, name)
    else { return nil }
    return try record.load(UInt8.self, at: range.lowerBound) == ValueTag.null ? nil : range
  }
}
