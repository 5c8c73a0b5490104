// Tests of one stored value.

extension ConditionProgram {
  /// Tests a value; empty if there is none.
  @inline(__always)
  func test(_ step: ConditionStep, _ value: RawSpan) throws -> Bool {
    guard value.byteCount > 0 else { return step.holdsForNull }
    let tag = try value.load(UInt8.self, at: 0)
    if tag == ValueTag.null { return step.holdsForNull }
    switch step.operation {
    case .integer where tag >= ValueTag.integer1 && tag <= ValueTag.integer8:
      let number = try OrderedBytes.integer(value, tag)
      return step.allows(number < step.number ? -1 : number == step.number ? 0 : 1)
    case .date where tag == ValueTag.date:
      let number = try value.load(Int64.self, at: 1)
      return step.allows(number < step.number ? -1 : number == step.number ? 0 : 1)
    case .string:
      if tag != ValueTag.string { return step.outcomes & ConditionStep.Outcome.other != 0 }
      return bytes.lend { constants in
        let wanted = constants.extracting(step.constant.range).extracting(droppingFirst: 1)
        return step.allows(value.extracting(droppingFirst: 1).compare(wanted))
      }
    case .always: return true
    case .null: return false
    default: return try testRarely(step, value, tag)
    }
  }

  @inline(never)
  private func testRarely(_ step: ConditionStep, _ value: RawSpan, _ tag: UInt8) throws -> Bool {
    switch step.operation {
    case .integer, .date, .value:
      return try bytes.lend { constants in
        let wanted = constants.extracting(step.constant.range)
        guard let order = try StoredOrder.compare(value, wanted) else {
          return step.outcomes & ConditionStep.Outcome.other != 0
        }
        return step.allows(order)
      }
    case .key, .textKey: return try testKey(step, value)
    case .oneOf:
      let list = lists[Int(step.number)]
      if step.operand.isKey {
        guard let key = try StoredKey.plain(value) else { return false }
        return try key.lend { try list.contains($0) }
      }
      return try list.contains(value)
    case .has: return try testElements(step, value, tag)
    case .matches:
      guard tag == ValueTag.string else { return false }
      return try expressions[Int(step.number)].matches(value.extracting(droppingFirst: 1))
    case .equals, .prefix, .suffix, .contains:
      return tag == ValueTag.string && testText(step, value.extracting(droppingFirst: 1))
    default: return false
    }
  }

  private func testText(_ step: ConditionStep, _ text: RawSpan) -> Bool {
    bytes.lend { constants in
      let wanted = constants.extracting(step.constant.range)
      let collation = Collation(step.collation)
      if collation == .binary { return holds(step.operation, text, wanted) }
      var folded: [UInt8] = []
      Folding.append(text, collation, to: &folded)
      return folded.lend { holds(step.operation, $0, wanted) }
    }
  }

  private func holds(_ operation: ConditionStep.Operation, _ text: RawSpan, _ wanted: RawSpan)
    -> Bool
  {
    let rest = text.byteCount - wanted.byteCount
    if rest < 0 { return false }
    return switch operation {
    case .equals: text.equals(wanted)
    case .prefix: text.extracting(0..<wanted.byteCount).equals(wanted)
    case .suffix: text.extracting(rest..<text.byteCount).equals(wanted)
    default: text.holds(wanted)
    }
  }

  /// Compares keys: a reference's stored form may be text that reads as an integer.
  private func testKey(_ step: ConditionStep, _ value: RawSpan) throws -> Bool {
    guard let key = try StoredKey.bytes(naming: value) else {
      return step.outcomes & ConditionStep.Outcome.other != 0
    }
    return key.lend { testKey(step, key: $0) }
  }

  /// Compares a key in its stored form.
  func testKey(_ step: ConditionStep, key: RawSpan) -> Bool {
    bytes.lend { constants in
      let wanted = constants.extracting(step.constant.range)
      if step.operation == .textKey {
        return StoredKey.lendText(of: key) { step.allows($0.compare(wanted)) }
      }
      guard StoredKey.areOfOneKind(key, wanted) else {
        return step.outcomes & ConditionStep.Outcome.other != 0
      }
      return step.allows(key.compare(wanted))
    }
  }

  private func testElements(_ step: ConditionStep, _ value: RawSpan, _ tag: UInt8) throws -> Bool {
    try bytes.lend { constants in
      let wanted = constants.extracting(step.constant.range)
      switch tag {
      case ValueTag.array:
        var isFound = false
        try value.forEachElement { element in
          isFound = try plain(element, step).lend { try StoredOrder.compare($0, wanted) } == 0
          return !isFound
        }
        return isFound
      case ValueTag.map: return try value.member(named: wanted) != nil
      default: return false
      }
    }
  }

  private func plain(_ element: RawSpan, _ step: ConditionStep) throws -> [UInt8] {
    step.operand.isKey ? try StoredKey.plain(element) ?? element.array() : element.array()
  }
}

extension Collation {
  /// The collation's number in a step.
  var number: UInt8 {
    switch self {
    case .binary: 0
    case .ignoringCase: 1
    case .ignoringCaseAndDiacritics: 2
    }
  }

  init(_ number: UInt8) {
    self = number == 0 ? .binary : number == 1 ? .ignoringCase : .ignoringCaseAndDiacritics
  }
}
