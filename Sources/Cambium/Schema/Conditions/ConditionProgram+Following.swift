// Tests of values that are not stored as such in the record at hand: its key, the results of
// functions, values behind references, and related records.

/// The source of other records for conditions.
protocol RelatedRecords {
  /// Lends the record that has a key in a collection.
  ///
  /// - Returns: nil if there is none.
  func lend<R>(
    _ collection: NodePath, _ key: RawSpan, _ body: (_ record: RawSpan) throws -> R
  ) throws -> R?

  /// Lends the record at a path.
  func lend<R>(
    at path: NodePath, _ body: (_ key: RawSpan, _ record: RawSpan) throws -> R
  ) throws -> R?

  /// Visits the records of a collection that refer to a key by a property, until `body` returns
  /// false.
  func forEach(
    in collection: NodePath, _ property: NameID, refersTo key: RawSpan,
    _ body: (_ key: RawSpan, _ record: RawSpan) throws -> Bool
  ) throws

  /// Counts the records that refer to a key and pass a program, which is their condition.
  func count(
    _ referrers: CountedReferrers, _ property: NameID, refersTo key: RawSpan,
    passing program: ConditionProgram
  ) throws -> Int

  /// Lends one of the records that a query has joined to the one at hand.
  func lendJoined<R>(
    _ index: Int, _ body: (_ key: RawSpan, _ record: RawSpan) throws -> R
  ) throws -> R?
}

extension RelatedRecords {
  func lendJoined<R>(_ index: Int, _ body: (RawSpan, RawSpan) throws -> R) throws -> R? { nil }
}

/// The source for conditions that read one record only.
struct NoRelated: RelatedRecords {
  private var refusal: QueryError {
    QueryError("this condition may name only the record's own properties")
  }

  func lend<R>(_ collection: NodePath, _ key: RawSpan, _ body: (RawSpan) throws -> R) throws -> R? {
    throw refusal
  }

  func lend<R>(at path: NodePath, _ body: (RawSpan, RawSpan) throws -> R) throws -> R? {
    throw refusal
  }

  func forEach(
    in collection: NodePath, _ property: NameID, refersTo key: RawSpan,
    _ body: (RawSpan, RawSpan) throws -> Bool
  ) throws {
    throw refusal
  }

  func count(
    _ referrers: CountedReferrers, _ property: NameID, refersTo key: RawSpan,
    passing program: ConditionProgram
  ) throws -> Int {
    throw refusal
  }
}

extension ConditionProgram {
  /// Tests a value that is not simply one of the record's properties.
  @inline(never)
  func testElsewhere<Related: RelatedRecords>(
    _ step: ConditionStep, _ record: RawSpan, _ table: RecordTable, _ key: RawSpan,
    _ related: Related
  ) throws -> Bool {
    switch step.operation {
    case .properties:
      return try lend(step.operand, record, table, key, related) { a in
        try lend(operands[Int(step.number)], record, table, key, related) { b in
          try compare(a, b, step)
        }
      }
    case .related:
      return try testRelated(step, record, table, key, related)
    case .key where step.operand.place == .key, .textKey where step.operand.place == .key:
      return testKey(step, key: key)
    default:
      return try lend(step.operand, record, table, key, related) { try test(step, $0) }
    }
  }

  private func compare(_ a: RawSpan, _ b: RawSpan, _ step: ConditionStep) throws -> Bool {
    let (first, second) = (try a.isNull, try b.isNull)
    // Null equals null, and is not less or greater than anything.
    if first && second { return step.outcomes == ConditionStep.Outcome.equal }
    guard !first, !second else { return step.outcomes & ConditionStep.Outcome.other != 0 }
    if step.operand.isKey || operands[Int(step.number)].isKey {
      let areTexts = step.operand.isTextKey && operands[Int(step.number)].isTextKey
      guard let one = try StoredKey.bytes(endOf: a), let other = try StoredKey.bytes(endOf: b),
        areTexts || one.first == other.first
      else { return step.outcomes & ConditionStep.Outcome.other != 0 }
      if areTexts {
        return one.lend { one in
          other.lend { other in
            StoredKey.lendText(of: one) { one in
              StoredKey.lendText(of: other) { step.allows(one.compare($0)) }
            }
          }
        }
      }
      return step.allows(one.lend { one in other.lend { one.compare($0) } })
    }
    guard let order = try StoredOrder.compare(a, b) else {
      return step.outcomes & ConditionStep.Outcome.other != 0
    }
    return step.allows(order)
  }

  /// Lends the value of an operand; empty if there is none.
  func lend<R, Related: RelatedRecords>(
    _ operand: ConditionStep.Operand, _ record: RawSpan, _ table: RecordTable, _ key: RawSpan,
    _ related: Related, _ body: (RawSpan) throws -> R
  ) throws -> R {
    switch operand.place {
    case .key:
      return try StoredKey.value(of: key, asText: operand.isTextKey).lend {
        try operand.function.apply(to: $0, body)
      }
    case .property:
      return try lendProperty(operand, record, table) { try operand.function.apply(to: $0, body) }
    case .followed:
      let found = try follow(operand, 0, record, key, related) {
        try operand.function.apply(to: $0, body)
      }
      if let found { return found }
      // Nothing refers to a record that is not there.
      if operand.counted >= 0 { return try Value.integer(0).stored().lend(body) }
      return try body(record.extracting(0..<0))
    }
  }

  private func lendCount<R, Related: RelatedRecords>(
    _ operand: ConditionStep.Operand, of key: RawSpan, _ related: Related,
    _ body: (RawSpan) throws -> R
  ) throws -> R {
    let relation = relations[Int(operand.counted)]
    var count = 0
    if let referrers = relation.counted, let property = relation.property {
      count = try related.count(referrers, property, refersTo: key, passing: relation.program)
    }
    return try Value.integer(Int64(count)).stored().lend(body)
  }

  private func lendProperty<R>(
    _ operand: ConditionStep.Operand, _ record: RawSpan, _ table: RecordTable,
    _ body: (RawSpan) throws -> R
  ) throws -> R {
    let range = try table.find(record, operand.name, near: operand.slot)
    return try lend(range, record, operand.absence, operand.null, body)
  }

  /// Lends the value in a part of a record, or its stand-in.
  private func lend<R>(
    _ range: Range<Int>?, _ record: RawSpan, _ absence: ConditionStep.ConstantRange,
    _ null: ConditionStep.ConstantRange,
    _ body: (RawSpan) throws -> R
  ) throws -> R {
    guard let range else { return try bytes.lend { try body($0.extracting(absence.range)) } }
    if null.count > 0, try record.load(UInt8.self, at: range.lowerBound) == ValueTag.null {
      return try bytes.lend { try body($0.extracting(null.range)) }
    }
    return try body(record.extracting(range))
  }

  // MARK: References

  /// Follows the hops of an operand from one on; nil if one leads nowhere.
  private func follow<R, Related: RelatedRecords>(
    _ operand: ConditionStep.Operand, _ index: Int, _ record: RawSpan, _ key: RawSpan,
    _ related: Related,
    _ body: (RawSpan) throws -> R
  ) throws -> R? {
    if index == Int(operand.hopCount) {
      if operand.counted >= 0 { return try lendCount(operand, of: key, related, body) }
      if operand.name == ConditionProgram.keyName {
        return try StoredKey.value(of: key, asText: operand.isTextKey).lend { try body($0) }
      }
      return try lendProperty(operand, record, RecordTable(record), body)
    }
    let hop = hops[Int(operand.firstHop) + index]
    if hop.collection <= -2 {
      return try related.lendJoined(Int(-2 - hop.collection)) { key, record in
        try follow(operand, index + 1, record, key, related, body)
      } ?? nil
    }
    let range = try RecordTable(record).find(record, hop.name, near: hop.slot)
    return try lend(range, record, hop.absence, hop.null) { value in
      if try value.isNull { return nil }
      guard hop.collection >= 0 else {
        return try followValue(operand, index, value, related, body)
      }
      guard let target = try StoredKey.bytes(naming: value) else { return nil }
      return try target.lend { target in
        try related.lend(collections[Int(hop.collection)], target) { record in
          try follow(operand, index + 1, record, target, related, body)
        }
      } ?? nil
    }
  }

  /// Follows an undeclared value: a path, or a dictionary.
  private func followValue<R, Related: RelatedRecords>(
    _ operand: ConditionStep.Operand, _ index: Int, _ value: RawSpan, _ related: Related,
    _ body: (RawSpan) throws -> R
  ) throws -> R? {
    switch try value.load(UInt8.self, at: 0) {
    case ValueTag.reference:
      guard case .reference(let path) = try Value(value) else { return nil }
      return try related.lend(at: path) { key, record in
        try follow(operand, index + 1, record, key, related, body)
      } ?? nil
    case ValueTag.map: return try followMembers(operand, index + 1, value, body)
    default:
      let name = hops[Int(operand.firstHop) + index].text
      let text = try bytes.lend { try Value($0.extracting(name.range)).text }
      throw QueryError("\(text) is no reference, so that nothing lies behind it")
    }
  }

  private func followMembers<R>(
    _ operand: ConditionStep.Operand, _ index: Int, _ value: RawSpan, _ body: (RawSpan) throws -> R
  ) throws -> R? {
    let name =
      index == Int(operand.hopCount)
      ? operand.text : hops[Int(operand.firstHop) + index].text
    guard try value.load(UInt8.self, at: 0) == ValueTag.map,
      let range = try bytes.lend({ try value.member(named: $0.extracting(name.range)) })
    else { return nil }
    let member = value.extracting(range)
    if index == Int(operand.hopCount) { return try body(member) }
    return try followMembers(operand, index + 1, member, body)
  }

  // MARK: Related records

  private func testRelated<Related: RelatedRecords>(
    _ step: ConditionStep, _ record: RawSpan, _ table: RecordTable, _ key: RawSpan,
    _ related: Related
  ) throws -> Bool {
    let relation = relations[Int(step.number)]
    // `all` searches for one that fails, the others for one that passes.
    let wanted = relation.quantifier != .all
    var isFound = false
    func visit(_ key: RawSpan, _ record: RawSpan) throws -> Bool {
      isFound = try relation.program.accepts(record, key: key, related) == wanted
      return !isFound
    }
    if let property = relation.property, let collection = relation.collection {
      try related.forEach(in: collection, property, refersTo: key) { try visit($0, $1) }
    } else {
      try lend(step.operand, record, table, key, related) { value in
        try forEachTarget(value, relation.collection, related) { try visit($0, $1) }
      }
    }
    return relation.quantifier == .any ? isFound : !isFound
  }

  /// Visits the records that a value refers to: itself, through its elements, or through its names.
  private func forEachTarget<Related: RelatedRecords>(
    _ value: RawSpan, _ collection: NodePath?, _ related: Related,
    _ body: (RawSpan, RawSpan) throws -> Bool
  ) throws {
    func visit(_ element: RawSpan) throws -> Bool {
      if let collection {
        guard let key = try StoredKey.bytes(naming: element) else { return true }
        return try key.lend { key in try related.lend(collection, key) { try body(key, $0) } }
          ?? true
      }
      guard case .reference(let path) = try Value(element) else { return true }
      return try related.lend(at: path, body) ?? true
    }
    guard value.byteCount > 0 else { return }
    switch try value.load(UInt8.self, at: 0) {
    case ValueTag.null: return
    case ValueTag.array: try value.forEachElement(visit)
    case ValueTag.map:
      for (name, _) in try ValueMap(members: value).pairs {
        if try !Value.string(name).stored().lend(visit) { return }
      }
    default: _ = try visit(value)
    }
  }
}

extension ValueMap {
  /// Reads a stored dictionary.
  fileprivate init(members value: RawSpan) throws {
    guard case .map(let record) = try Value(value) else {
      throw DatabaseError.corrupt(reason: "a stored dictionary is none")
    }
    self = record
  }
}
