/// Reads the values that some paths lead to, from a record's bytes.
struct QueryPaths: Sendable {
  /// The operands of the paths, in order, and what they need.
  private let program: ConditionProgram
  /// The record's own properties that they read, ascending; nil where they read its key alone.
  let names: [NameID]

  var count: Int { program.operands.count }

  /// True if they lead to records other than the one that they are read from.
  var usesRelated: Bool { program.usesRelated }

  init(_ paths: [PropertyPath], in scope: ConditionScope) throws {
    program = try ConditionProgram(reading: paths, in: scope)
    names = program.names
  }

  /// Lends the value that a path leads to; empty where there is none.
  @inline(__always)
  func lend<R>(
    _ index: Int, _ record: RawSpan, key: RawSpan, _ records: QueryRecords,
    _ body: (RawSpan) throws -> R
  ) throws -> R {
    if let range = try range(index, record) { return try body(record.extracting(range)) }
    return try program.lend(
      program.operands[index], record, RecordTable(record), key, records, body)
  }

  /// The range of a value that the record has as it is; nil for one that is to be looked for.
  @inline(__always)
  func range(_ index: Int, _ record: RawSpan) throws -> Range<Int>? {
    let operand = program.operands[index]
    guard operand.isPlain,
      let range = try RecordTable(record).find(record, operand.name, near: operand.slot)
    else { return nil }
    // Something may stand for null.
    let isNull = try record.load(UInt8.self, at: range.lowerBound) == ValueTag.null
    return isNull ? nil : range
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
