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
  /// The name number that means the record's key behind references.
  static let keyName = NameID.max - 1

  /// The kind of test that a step makes.
  enum Operation: UInt8, BitwiseCopyable {
    /// No test: the step always holds.
    case always
    /// The absence of a value.
    case null
    /// Compares a value with a constant, by the kind of the constant.
    case integer, date, string, value
    /// Compares a reference, or the record's own key, with a key, by kind or as texts.
    case key, textKey
    /// Compares a value with a list of constants.
    case oneOf
    /// Texts under a collation.
    case equals, prefix, suffix, contains, matches
    /// Compares an array's elements or a dictionary's keys with a constant.
    case has
    /// Compares a property with another.
    case properties
    /// Related records.
    case related
  }

  /// The possible outcomes of comparing two values, as bits; a comparison is the set of outcomes
  /// that satisfy it.
  enum Outcome {
    static let less: UInt8 = 1
    static let equal: UInt8 = 2
    static let greater: UInt8 = 4
    /// The values are of different kinds, or one of them is null.
    static let other: UInt8 = 8
  }

  /// The source of a value.
  struct Operand: BitwiseCopyable {
    enum Place: UInt8, BitwiseCopyable {
      case property, key
      /// Behind references.
      case followed
    }

    var place = Place.property
    var function: Function = .none
    /// True if it is a key: the record's own, or a reference.
    var isKey = false
    /// True if such keys compare as texts.
    var isTextKey = false
    var hopCount: UInt8 = 0
    var firstHop: UInt16 = 0
    /// The likely place of the property in a record's table.
    var slot: UInt16 = 0
    var name = NameID.max
    /// The stand-ins for an absent value, and for null, among the constants.
    var absence = ConstantRange()
    var null = ConstantRange()
    /// The property's name as a stored text, for undeclared dictionaries.
    var text = ConstantRange()
  }

  /// The function applied to a property; `none` for the value itself.
  enum Function: UInt8, BitwiseCopyable { case none, count, lowercased, year, month, day, hour }

  /// A part of the constants' bytes.
  struct ConstantRange: BitwiseCopyable {
    var start: Int32 = 0
    var count: Int32 = 0
    var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
  }

  /// One test.
  struct Step: BitwiseCopyable {
    var operation: Operation
    var operand = Operand()
    /// The outcomes of a comparison that satisfy it.
    var outcomes: UInt8 = 0
    var collation: UInt8 = 0
    /// True if it holds when there is no value.
    var holdsForNull = false
    var onTrue: Int32 = 0
    var onFalse: Int32 = 0
    /// The constant, or the place of the operation's data in its array.
    var number: Int64 = 0
    var constant = ConstantRange()
  }

  /// A reference to follow.
  struct Hop: BitwiseCopyable {
    var name: NameID
    var slot: UInt16
    /// The collection that it leads to; -1 if the value itself names it, less than that for a
    /// record that a query has joined.
    var collection: Int16
    /// The property's name, for values that are dictionaries.
    var text = ConstantRange()
    /// The stand-ins for an absent reference, and for null, among the constants.
    var absence = ConstantRange()
    var null = ConstantRange()
  }

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
  }

  var steps: [Step] = []
  var hops: [Hop] = []
  /// The constants, side by side.
  var bytes: [UInt8] = []
  var lists: [ConstantList] = []
  var expressions: [TextExpression] = []
  var relations: [Relation] = []
  /// The second operands of steps that compare two properties.
  var operands: [Operand] = []
  /// The collections that hops lead to.
  var collections: [NodePath] = []
  /// The first step, which may be an end.
  var start = ConditionProgram.accept

  /// True if it reads records other than the one that it is given.
  var usesRelated: Bool { !hops.isEmpty || !relations.isEmpty }

  /// The record's own properties that it reads, ascending.
  var names: [NameID] {
    var names: Set<NameID> = []
    func add(_ operand: Operand) {
      switch operand.place {
      case .property: names.insert(operand.name)
      case .key: break
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
      if step.operand.place == .property && step.operand.function == .none
        && step.operation.rawValue < Operation.properties.rawValue
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
  private func test(_ step: Step, _ record: RawSpan, _ table: RecordTable) throws -> Bool {
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
    if Int(slot) < count, try self.name(record, Int(slot)) == name {
      return try value(record, Int(slot))
    }
    return try find(record, name)
  }
}
