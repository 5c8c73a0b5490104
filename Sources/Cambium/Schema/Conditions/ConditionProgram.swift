// A condition as a flat list of tests of a record's bytes, each with the step to continue at if it
// holds, and the step to continue at if it does not:
//
//     a and (b or not c)          0: a    holds → 1       else → reject
//                                 1: b    holds → accept  else → 2
//                                 2: c    holds → reject  else → accept
//
// So `and`, `or` and `not` cost nothing, and no test runs unnecessarily. Jumps only lead forward,
// so the program ends. Steps are plain bytes: running them allocates nothing, counts no references
// and follows no existential; rare tests (regular expressions, related records) are in arrays
// beside them.

/// Tests records by their stored bytes.
struct ConditionProgram: Sendable {
  /// The target of a step that ends the program.
  static let accept: Int32 = -1
  static let reject: Int32 = -2
  /// Accepts every record.
  static let everything = ConditionProgram()
  /// The name number that means the record's key behind references.
  static let keyName = NameID.max - 1

  /// A test of related records.
  struct Relation: Sendable {
    /// The property by which records of a collection refer to this one; nil for the records that
    /// the step's operand refers to.
    var property: NameID?
    /// The collection; nil if the references themselves name it.
    var collection: NodePath?
    var quantifier: Condition.Quantifier
    /// The program that tests them.
    var program: ConditionProgram
    /// The description of the records, where they are counted.
    var counted: CountedReferrers?
  }

  var steps: [ConditionStep] = []
  var hops: [ConditionStep.Hop] = []
  /// The constants, side by side.
  var bytes: [UInt8] = []
  var lists: [ConstantList] = []
  var expressions: [TextExpression] = []
  var relations: [Relation] = []
  /// The second operands of steps that compare two properties.
  var operands: [ConditionStep.Operand] = []
  /// The collections that hops lead to.
  var collections: [NodePath] = []
  /// The first step, which may be an end.
  var start = ConditionProgram.accept

  /// True if it reads records other than the one that it is given.
  var usesRelated: Bool { !hops.isEmpty || !relations.isEmpty }

  /// True if testing a record takes little more than to look at it.
  var isQuick: Bool { !usesRelated && expressions.isEmpty }

  /// The record's own properties that it reads, ascending.
  var names: [NameID] {
    var names: Set<NameID> = []
    func add(_ operand: ConditionStep.Operand) {
      switch operand.place {
      case .property: names.insert(operand.name)
      case .key: break
      case .followed where operand.hopCount == 0: break
      case .followed:
        let hop = hops[Int(operand.firstHop)]
        if hop.collection >= -1 { names.insert(hop.name) }
      }
    }
    for step in steps where step.operation != .always {
      if step.operation == .related, relations[Int(step.number)].property != nil { continue }
      add(step.operand)
    }
    for operand in operands { add(operand) }
    return names.subtracting([.max]).sorted()
  }
}

// MARK: Running

extension ConditionProgram {
  /// Tests a record by its own bytes alone.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)``; ``QueryError`` if it ``usesRelated``.
  @inline(__always)
  func accepts(record: RawSpan, key: RawSpan) throws -> Bool {
    try accepts(record, key: key, NoRelated())
  }

  /// Tests a record.
  ///
  /// - Parameters:
  ///   - record: The stored record.
  ///   - key: Its key's stored form.
  ///   - related: The source of other records.
  /// - Returns: True if the record passes.
  /// - Throws: ``DatabaseError/corrupt(reason:)``; ``QueryError`` if a value that must be followed
  ///   is not a reference.
  @inline(__always)
  func accepts<Related: RelatedRecords>(
    _ record: RawSpan, key: RawSpan, _ related: Related
  ) throws -> Bool {
    if start < 0 { return start == ConditionProgram.accept }
    return try run(record, RecordTable(record), key, related)
  }

  private func run<Related: RelatedRecords>(
    _ record: RawSpan, _ table: RecordTable, _ key: RawSpan, _ related: Related
  ) throws -> Bool {
    var next = start
    while next >= 0 {
      let step = steps[Int(next)]
      let holds: Bool
      if step.operand.place == .property && step.operand.function == nil
        && step.operation.rawValue < ConditionStep.Operation.properties.rawValue
      {
        holds = try test(step, record, table)
      } else {
        holds = try testElsewhere(step, record, table, key, related)
      }
      next = holds ? step.onTrue : step.onFalse
    }
    return next == ConditionProgram.accept
  }

  /// Tests one of the record's own properties.
  @inline(__always)
  private func test(_ step: ConditionStep, _ record: RawSpan, _ table: RecordTable) throws -> Bool {
    guard let range = try table.find(record, step.operand.name, near: step.operand.slot) else {
      if step.operand.absence.count == 0 { return step.holdsForNull }
      return try bytes.lend { try test(step, $0.extracting(step.operand.absence.range)) }
    }
    if step.operand.null.count > 0,
      try record.load(UInt8.self, at: range.lowerBound) == ValueTag.null
    {
      return try bytes.lend { try test(step, $0.extracting(step.operand.null.range)) }
    }
    return try test(step, record.extracting(range))
  }
}

extension RecordTable {
  /// The range of a name's value, or nil; the likely place is tried first.
  @inline(__always)
  func find(
    _ record: RawSpan, _ name: NameID, near slot: UInt16
  ) throws -> Range<Int>? {
    try RecordTable.likelyRange(record, of: name, at: Int(slot)) ?? find(record, name)
  }
}
