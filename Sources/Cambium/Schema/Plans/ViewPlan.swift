/// A view as writers and readers use it: its declaration, with all names resolved. It is a class,
/// as an index is, so that passing it on retains nothing inside it.
final class ViewPlan: Sendable {
  /// The number that its entries' keys begin with.
  let number: UInt32
  let definition: ViewDefinition
  let content: Content
  /// The condition that a record must pass to count; nil if all do.
  let condition: ConditionProgram?

  enum Content: Sendable {
    case groups(GroupsPlan)
    case top(TopPlan)
    case text(TextPlan)
  }

  /// Resolves the names in a declaration.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` for a declaration that makes no sense.
  init(_ number: UInt32, _ definition: ViewDefinition, _ resolver: Resolver) throws {
    self.number = number
    self.definition = definition
    condition = try definition.condition.map { try ConditionProgram($0, resolver) }
    switch definition.content {
    case .groups(let by, let aggregates):
      content = .groups(try GroupsPlan(by, aggregates, resolver))
    case .top(let by, let terms):
      if terms.isEmpty { throw DatabaseError.misuse(reason: "a view of the first needs an order") }
      content = .top(
        TopPlan(
          by: try by.map { try ViewProperty(.init($0), resolver) },
          terms: try terms.map { try ViewProperty($0, resolver) }))
    case .text(let names, let language):
      if names.isEmpty { throw DatabaseError.misuse(reason: "a view of texts needs a property") }
      content = .text(try TextPlan(names, language, resolver))
    }
  }

  /// True if another view keeps the same content.
  func hasSameContent(as other: ViewPlan) -> Bool {
    definition == other.definition && properties == other.properties
  }

  private var properties: [ViewProperty] {
    switch content {
    case .groups(let plan): plan.by + plan.sums + plan.extremes
    case .top(let plan): plan.by + plan.terms
    case .text(let plan): plan.properties
    }
  }

  /// The record, if there is one and it passes the condition.
  @inline(__always)
  func has(_ record: RawSpan?, key: RawSpan) throws -> Bool {
    guard let record else { return false }
    return try condition?.accepts(record: record, key: key) ?? true
  }
}

/// A property as a view sees it.
struct ViewProperty: Hashable, Sendable {
  let name: NameID
  let type: PropertyType
  let collation: Collation
  let isDescending: Bool
  /// The stand-in for a value that a record does not have.
  private let standIn: StandIn

  init(_ term: IndexDefinition.Term, _ resolver: Resolver) throws {
    name = try resolver.name(term.property)
    type = resolver.type(term.property)
    collation = term.collation
    isDescending = term.isDescending
    standIn = try resolver.standIn(term.property)
  }

  /// Lends the stored value of a record; empty if there is none.
  @inline(__always)
  func value<R>(
    of record: RawSpan, _ table: RecordTable, _ body: (RawSpan) throws -> R
  ) throws -> R {
    try table.lend(record, name, or: standIn, body)
  }

  /// Adds a value's ordered bytes.
  @inline(__always)
  func appendOrder(of value: RawSpan, to bytes: inout ByteBuffer) throws {
    try OrderedBytes.append(
      stored: value, as: type, collation, isDescending: isDescending, to: &bytes)
  }
}

extension [ViewProperty] {
  /// True if two records have the same values.
  func areSame(in old: RawSpan, _ new: RawSpan) throws -> Bool {
    if isEmpty { return true }
    let (before, after) = (try RecordTable(old), try RecordTable(new))
    return try allSatisfy { property in
      try property.value(of: old, before) { value in
        try property.value(of: new, after) { $0.equals(value) }
      }
    }
  }
}

/// Aggregates by group.
struct GroupsPlan: Sendable, Refinable {
  /// The properties whose values make a group.
  let by: [ViewProperty]
  /// The properties whose values are summed, each once.
  let sums: [ViewProperty]
  /// The properties whose values are kept in order, each once.
  let extremes: [ViewProperty]
  /// The source of each aggregate.
  private(set) var aggregates: [Aggregate]

  enum Aggregate: Sendable {
    case count
    case sum(Int)
    case average(Int)
    case minimum(Int)
    case maximum(Int)
  }

  init(
    _ by: [String], _ aggregates: [ViewDefinition.Aggregate], _ resolver: Resolver
  ) throws {
    var (sums, extremes) = ([String](), [String]())
    func place(_ name: String, in names: inout [String]) -> Int {
      if let index = names.firstIndex(where: { ByteOrder.areEqual($0, name) }) { return index }
      names.append(name)
      return names.count - 1
    }
    self.aggregates = aggregates.map { aggregate in
      switch aggregate {
      case .count: .count
      case .sum(let name): .sum(place(name, in: &sums))
      case .average(let name): .average(place(name, in: &sums))
      case .minimum(let name): .minimum(place(name, in: &extremes))
      case .maximum(let name): .maximum(place(name, in: &extremes))
      }
    }
    guard extremes.count <= 255 else {
      throw DatabaseError.misuse(reason: "a view has at most 255 properties with extremes")
    }
    self.by = try by.map { try ViewProperty(.init($0), resolver) }
    self.sums = try sums.map { try ViewProperty(.init($0), resolver) }
    self.extremes = try extremes.map { try ViewProperty(.init($0), resolver) }
  }
}

extension GroupsPlan {
  /// The same plan, with other aggregates of the values that it keeps.
  func measuring(_ aggregates: [Aggregate]) -> GroupsPlan {
    changed { $0.aggregates = aggregates }
  }
}

/// Records in order, by group.
struct TopPlan: Sendable {
  /// The properties whose values make a group.
  let by: [ViewProperty]
  /// The properties that order the records of a group.
  let terms: [ViewProperty]
}

/// Words of texts.
struct TextPlan: Sendable {
  let properties: [ViewProperty]
  let names: [String]
  let analyzer: TextAnalyzer

  init(_ names: [String], _ language: String?, _ resolver: Resolver) throws {
    self.names = names
    properties = try names.map { try ViewProperty(.init($0), resolver) }
    analyzer = try TextAnalyzer(language: language)
  }
}
