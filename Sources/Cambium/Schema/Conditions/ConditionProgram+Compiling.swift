// From a condition to a program. Steps are generated from the last one to the first, so that the
// targets of each are known; then they are reversed.

extension ConditionProgram {
  /// Compiles a condition.
  ///
  /// - Parameters:
  ///   - condition: The condition.
  ///   - scope: The meaning of its names.
  /// - Throws: ``QueryError`` if the condition has no meaning in the scope.
  init(_ condition: Condition, in scope: ConditionScope) throws {
    try self.init(condition.test, in: scope)
  }

  /// Compiles the condition of an index or a view, which names only the records' own properties.
  init(_ condition: Condition, _ resolver: Resolver) throws {
    try self.init(
      condition.test, in: ConditionScope(resolver.catalog, resolver.definition), isDeclared: true)
    if usesRelated {
      throw QueryError("“\(condition)” must name only the record's own properties")
    }
  }

  /// Makes a program that tests nothing, and whose operands are the values at some paths.
  init(reading paths: [PropertyPath], in scope: ConditionScope) throws {
    var compiler = ConditionCompiler(scope)
    try compiler.add(paths)
    self = compiler.finished(ConditionProgram.accept)
  }

  init(_ test: Condition.Test, in scope: ConditionScope, isDeclared: Bool = false) throws {
    var compiler = ConditionCompiler(scope, isDeclared: isDeclared)
    let start = try compiler.emit(
      test, yes: ConditionProgram.accept, no: ConditionProgram.reject)
    self = compiler.finished(start)
  }
}

/// Makes a program.
struct ConditionCompiler {
  private let scope: ConditionScope
  /// True if the fold runs the program, so that its patterns must take linear time.
  private let isDeclared: Bool
  private var program = ConditionProgram()

  init(_ scope: ConditionScope, isDeclared: Bool = false) {
    (self.scope, self.isDeclared) = (scope, isDeclared)
  }

  /// The program, whose steps were generated backwards.
  fileprivate func finished(_ start: Int32) -> ConditionProgram {
    let last = Int32(program.steps.count) - 1
    func turned(_ place: Int32) -> Int32 { place < 0 ? place : last - place }
    var result = program
    result.steps = program.steps.reversed().map { step in
      var step = step
      (step.onTrue, step.onFalse) = (turned(step.onTrue), turned(step.onFalse))
      return step
    }
    result.start = turned(start)
    return result
  }

  /// Adds the steps of a test.
  ///
  /// - Returns: The step at which the test starts.
  fileprivate mutating func emit(
    _ test: Condition.Test, yes: Int32, no: Int32
  ) throws -> Int32 {
    switch test {
    case .all(let tests):
      return try tests.reversed().reduce(yes) { try emit($1, yes: $0, no: no) }
    case .any(let tests):
      return try tests.reversed().reduce(no) { try emit($1, yes: yes, no: $0) }
    case .not(let other): return try emit(other, yes: no, no: yes)
    case .compare(let path, let comparison, let value):
      return try emit(path, comparison, value, yes, no)
    case .compareProperties(let path, let comparison, let other):
      var step = ConditionStep(operation: .properties, operand: try operand(path).operand)
      step.outcomes = comparison.outcomes
      step.number = Int64(program.operands.count)
      program.operands.append(try operand(other).operand)
      return add(step, yes, no)
    case .oneOf(let path, let values): return try emit(path, oneOf: values, yes, no)
    case .text(let path, let test, let text, let collation):
      return try emit(path, test, text, collation, yes, no)
    case .contains(let path, let value): return try emit(path, has: value, yes, no)
    case .related(let relation, let quantifier, let inner):
      return try emit(relation, quantifier, inner, yes, no)
    }
  }

  private mutating func add(_ step: ConditionStep, _ yes: Int32, _ no: Int32) -> Int32 {
    var step = step
    (step.onTrue, step.onFalse) = (yes, no)
    program.steps.append(step)
    return Int32(program.steps.count - 1)
  }

  // MARK: Comparisons

  private mutating func emit(
    _ path: PropertyPath, _ comparison: Condition.Comparison, _ value: Value, _ yes: Int32,
    _ no: Int32
  ) throws -> Int32 {
    let (operand, resolved) = try operand(path)
    var step = ConditionStep(operation: .null, operand: operand)
    if value == .null {
      step.holdsForNull = true
      switch comparison {
      case .equal: return add(step, yes, no)
      case .notEqual: return add(step, no, yes)
      default: return no
      }
    }
    step.outcomes = comparison.outcomes
    step.holdsForNull = comparison == .notEqual
    if operand.isTextKey, operand.isKey, let text = resolved.keyText(value) {
      step.operation = .textKey
      step.constant = constant(Array(text.utf8))
      return add(step, yes, no)
    }
    if operand.isKey {
      step.operation = .key
      step.constant = constant(
        resolved.key(value).map { key in
          var bytes: [UInt8] = []
          key.append(to: &bytes)
          return bytes
        } ?? [])
      return add(step, yes, no)
    }
    let value = operand.function == nil ? value.coerced(to: resolved.definition?.type) : value
    step.constant = constant(try value.storedConstant())
    switch value {
    case .integer(let number): (step.operation, step.number) = (.integer, number)
    case .date(let date): (step.operation, step.number) = (.date, date.microseconds)
    case .string: step.operation = .string
    default: step.operation = .value
    }
    return add(step, yes, no)
  }

  private mutating func emit(
    _ path: PropertyPath, oneOf values: [Value], _ yes: Int32, _ no: Int32
  ) throws -> Int32 {
    let (operand, resolved) = try operand(path)
    var step = ConditionStep(operation: .oneOf, operand: operand)
    step.holdsForNull = values.contains(.null)
    step.number = Int64(program.lists.count)
    let type = operand.function == nil ? resolved.definition?.type : nil
    let constants =
      operand.isKey
      ? values.compactMap { resolved.key($0).map(StoredKey.value) }
      : values.map { $0.coerced(to: type) }
    program.lists.append(try ConstantList(constants))
    return add(step, yes, no)
  }

  private mutating func emit(
    _ path: PropertyPath, _ test: Condition.TextTest, _ text: String, _ collation: Collation,
    _ yes: Int32, _ no: Int32
  ) throws -> Int32 {
    var step = ConditionStep(operation: .matches, operand: try operand(path).operand)
    step.collation = collation.number
    switch test {
    case .equals: step.operation = .equals
    case .prefix: step.operation = .prefix
    case .suffix: step.operation = .suffix
    case .contains: step.operation = .contains
    case .matches, .like, .likeEscaped, .matchesFormerly:
      step.number = Int64(program.expressions.count)
      program.expressions.append(
        try TextExpression(test, text, collation, isLinear: isDeclared))
    }
    step.constant = constant(Array(Folding.folded(text, collation).utf8))
    return add(step, yes, no)
  }

  private mutating func emit(
    _ path: PropertyPath, has value: Value, _ yes: Int32, _ no: Int32
  ) throws -> Int32 {
    var (operand, resolved) = try operand(path)
    let type = resolved.definition?.type
    var value = value
    switch type {
    case .keyed, .map:
      value = StoredKey.key(naming: value).map { .string($0.description) } ?? value
    case .array(.reference):
      operand.isKey = true
      value = resolved.key(value).map(StoredKey.value) ?? value
    case .array(let element): value = value.coerced(to: element)
    default: break
    }
    var step = ConditionStep(operation: .has, operand: operand)
    step.constant = constant(try value.storedConstant())
    return add(step, yes, no)
  }

  // MARK: Relations

  private mutating func emit(
    _ relation: Condition.ToMany, _ quantifier: Condition.Quantifier, _ inner: Condition.Test,
    _ yes: Int32, _ no: Int32
  ) throws -> Int32 {
    var step = ConditionStep(operation: .related)
    step.number = Int64(program.relations.count)
    var (property, collection): (NameID?, NodePath?)
    switch relation {
    case .inverse(let path, property: let name):
      property = scope.catalog.id(of: name) ?? .max
      collection = path
    case .elements(let path):
      let (operand, resolved) = try operand(path)
      step.operand = operand
      collection = resolved.definition?.target
    }
    let inner = try ConditionProgram(
      inner, in: scope.entering(collection), isDeclared: isDeclared)
    program.relations.append(
      .init(property: property, collection: collection, quantifier: quantifier, program: inner))
    return add(step, yes, no)
  }

  // MARK: Operands

  fileprivate mutating func add(_ paths: [PropertyPath]) throws {
    for path in paths { program.operands.append(try operand(path).operand) }
  }

  private mutating func constant(_ bytes: [UInt8]) -> ConditionStep.ConstantRange {
    let start = program.bytes.count
    program.bytes += bytes
    return .init(start: Int32(start), count: Int32(bytes.count))
  }

  private mutating func operand(
    _ path: PropertyPath
  ) throws -> (operand: ConditionStep.Operand, resolved: ConditionScope.ResolvedPath) {
    let resolved = try scope.resolve(path)
    var operand = ConditionStep.Operand()
    operand.function = path.referrers == nil ? path.function : nil
    operand.isKey = resolved.isKey && path.function == nil
    operand.isTextKey = resolved.isTextKey
    operand.place =
      resolved.hops.isEmpty && !resolved.isCount
      ? resolved.property == nil ? .key : .property : .followed
    guard resolved.hops.count < 255, program.hops.count < Int(UInt16.max) - 255 else {
      throw QueryError("a condition may not follow so many references")
    }
    operand.hopCount = UInt8(resolved.hops.count)
    operand.firstHop = UInt16(program.hops.count)
    var inner = scope
    for hop in resolved.hops {
      try addHop(hop, inner)
      inner = inner.entering(hop.collection)
    }
    if let referrers = path.referrers {
      operand.counted = try relation(counting: referrers, scope)
    } else if let property = resolved.property {
      operand.name = scope.catalog.id(of: property) ?? .max
      operand.slot = inner.slot(of: property)
      operand.text = constant(try Value.string(property).stored())
      let standIn =
        try resolved.isCopy ? StandIn(ofCopy: resolved.definition) : StandIn(resolved.definition)
      operand.absence = constant(standIn.ofAbsence)
      operand.null = constant(standIn.ofNull)
    } else {
      operand.name = ConditionProgram.keyName
    }
    return (operand, resolved)
  }

  /// Adds the records of a count.
  private mutating func relation(
    counting referrers: CountedReferrers, _ scope: ConditionScope
  ) throws -> Int16 {
    guard program.relations.count < Int16.max else {
      throw QueryError("a condition may not count so many kinds of records")
    }
    let inner = try ConditionProgram(
      referrers.condition?.test ?? .all([]), in: scope.entering(referrers.collection),
      isDeclared: isDeclared)
    program.relations.append(
      .init(
        property: scope.catalog.id(of: referrers.property) ?? .max,
        collection: referrers.collection, quantifier: .any, program: inner,
        counted: referrers))
    return Int16(program.relations.count - 1)
  }

  private mutating func addHop(_ hop: ConditionScope.Hop, _ scope: ConditionScope) throws {
    var number: Int16 = -1
    if let place = hop.joined {
      number = Int16(-2 - place)
    } else if let collection = hop.collection {
      if let index = program.collections.firstIndex(of: collection) {
        number = Int16(index)
      } else {
        number = Int16(program.collections.count)
        program.collections.append(collection)
      }
    }
    let text = constant((try? Value.string(hop.name).stored()) ?? [])
    let standIn = try hop.joined == nil ? StandIn(scope.definition?[hop.name]) : .null
    program.hops.append(
      .init(
        name: scope.catalog.id(of: hop.name) ?? .max, slot: scope.slot(of: hop.name),
        collection: number, text: text, absence: constant(standIn.ofAbsence),
        null: constant(standIn.ofNull)))
  }
}

extension ConditionScope {
  /// The property's place in a record's table that has all declared properties.
  fileprivate func slot(of name: String) -> UInt16 {
    guard let definition, let id = catalog.id(of: name) else { return 0 }
    let before = definition.properties.count { (catalog.id(of: $0.name) ?? .max) < id }
    return UInt16(clamping: before)
  }
}

extension ConditionScope.ResolvedPath {
  /// A constant as the text of a key, if keys compare as texts.
  func keyText(_ value: Value) -> String? {
    if case .string(let text) = value { return Key.composed(text) }
    return key(value)?.description
  }

  /// The key that a constant names.
  func key(_ value: Value) -> Key? { Self.key(value, target: definition?.target) }

  /// The key that a constant names, if references lead to a collection.
  static func key(_ value: Value, target: NodePath?) -> Key? {
    if case .reference(let path) = value {
      return target.map { $0 == path.parent } ?? true ? path.last : nil
    }
    if case .string(let text) = value { return try? Key(text) }
    return StoredKey.key(naming: value)
  }
}
