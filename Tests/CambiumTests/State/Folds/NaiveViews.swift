import Testing

@testable import Cambium

/// The results that views should have, computed from all records in the plainest way.
struct NaiveViews {
  /// The records by key.
  let records: [(key: Key, record: ValueMap)]

  init(_ node: Node) throws {
    var records: [(key: Key, record: ValueMap)] = []
    for key in try node.children.keys() {
      let child = node.snapshot[node.path.appending(key)]
      if case .map(let record)? = try child.value { records.append((key, record)) }
    }
    self.records = records
  }

  private init(records: [(key: Key, record: ValueMap)]) { self.records = records }

  /// Only the records that the one condition finds that the tests declare.
  func counted(_ condition: Condition?) throws -> NaiveViews {
    if condition == nil { return self }
    return NaiveViews(
      records: records.filter { item in
        if case .integer(let number) = item.record["number"] { number > 0 } else { false }
      })
  }

  /// Visits the records as they are stored.
  func forEach(
    _ snapshot: Snapshot, _ visit: (_ key: RawSpan, _ record: RawSpan) throws -> Void
  ) throws {
    for (key, record) in records {
      var (stored, builder) = ([UInt8](), RecordBuilder())
      key.append(to: &stored)
      for member in record.members {
        let name = try #require(try snapshot.nameID(member.name))
        builder[name] = try member.value.stored()
      }
      try stored.lend { key in try builder.stored().lend { try visit(key, $0) } }
    }
  }

  // MARK: Order and equality

  /// Numbers that are the same are one value; nothing is null.
  static func oneForm(_ value: Value?) -> Value {
    if case .double(let number) = value, let integer = Int64(exactly: number) {
      return .integer(integer)
    }
    return value ?? .null
  }

  static func precedes(_ a: Value?, _ b: Value?) -> Bool {
    let (a, b) = (oneForm(a), oneForm(b))
    switch (number(a), number(b)) {
    case (let a?, let b?): return a < b
    default: break
    }
    if case .string(let a) = a, case .string(let b) = b {
      return Array(a.utf8).lexicographicallyPrecedes(Array(b.utf8))
    }
    return rank(a) < rank(b)
  }

  private static func number(_ value: Value) -> Double? {
    switch value {
    case .integer(let number): Double(number)
    case .double(let number): number
    default: nil
    }
  }

  private static func rank(_ value: Value) -> Int {
    switch value {
    case .null: 0
    case .bool(let value): value ? 2 : 1
    case .integer, .double: 3
    case .decimal: 4
    default: 5
    }
  }

  // MARK: Views

  /// The groups by their values.
  func groups(_ by: [String], _ aggregates: [ViewDefinition.Aggregate]) -> [[Value]: [Value]] {
    var groups: [[Value]: [ValueMap]] = [:]
    for (_, record) in records {
      groups[by.map { NaiveViews.oneForm(record[$0]) }, default: []].append(record)
    }
    return groups.mapValues { records in aggregates.map { aggregate($0, records) } }
  }

  private func aggregate(_ aggregate: ViewDefinition.Aggregate, _ records: [ValueMap]) -> Value {
    func values(_ name: String) -> [Value] {
      records.map { NaiveViews.oneForm($0[name]) }.filter { $0 != .null }
    }
    switch aggregate {
    case .count: return .integer(Int64(records.count))
    case .sum(let name): return sum(records.compactMap { $0[name] })
    case .average(let name):
      let numbers = values(name).compactMap(NaiveViews.number)
      return numbers.isEmpty ? .null : .double(numbers.reduce(0, +) / Double(numbers.count))
    case .minimum(let name): return values(name).min(by: NaiveViews.precedes) ?? .null
    case .maximum(let name): return values(name).max(by: NaiveViews.precedes) ?? .null
    }
  }

  /// Right as long as no sum of the values has to be rounded.
  private func sum(_ values: [Value]) -> Value {
    var (integers, doubles, count) = (Int64(0), 0.0, 0)
    var isDouble = false
    for value in values {
      switch value {
      case .integer(let number): integers += number
      case .double(let number):
        doubles += number
        isDouble = true
      default: continue
      }
      count += 1
    }
    if count == 0 { return .null }
    return isDouble ? .double(doubles + Double(integers)) : .integer(integers)
  }

  /// The keys of a group's records in order.
  func top(
    _ by: [String], _ terms: [IndexDefinition.Term], in values: [Value]
  ) -> [Key] {
    let members = records.filter { item in
      by.map { NaiveViews.oneForm(item.record[$0]) } == values
    }
    return members.sorted { a, b in
      for term in terms {
        let (one, other) = (a.record[term.property], b.record[term.property])
        if NaiveViews.precedes(one, other) { return !term.isDescending }
        if NaiveViews.precedes(other, one) { return term.isDescending }
      }
      return a.key < b.key
    }
    .map(\.key)
  }

  /// The keys of the records that a query finds in words of ASCII.
  func search(_ query: TextQuery, _ names: [String]) -> [Key] {
    records.filter { matches($0.record, query, names) }.map(\.key)
  }

  private func matches(_ record: ValueMap, _ query: TextQuery, _ names: [String]) -> Bool {
    switch query {
    case .word(let text): hasWords(record, text, isPrefix: false, names)
    case .prefix(let text): hasWords(record, text, isPrefix: true, names)
    case .phrase(let text, let isPrefix): hasWords(record, text, isPrefix: isPrefix, names)
    case .all(let queries): queries.allSatisfy { matches(record, $0, names) }
    case .any(let queries): queries.contains { matches(record, $0, names) }
    case .not(let query):
      !matches(record, query, names) && texts(record, names).contains { !words($0).isEmpty }
    case .within(let name, let query): matches(record, query, [name])
    }
  }

  private func texts(_ record: ValueMap, _ names: [String]) -> [String] {
    names.flatMap { name -> [String] in
      switch record[name] {
      case .string(let text): [text]
      case .array(let elements):
        elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
      default: []
      }
    }
  }

  private func words(_ text: String) -> [String] {
    text.lowercased().split { !($0.isLetter || $0.isNumber) }.map(String.init)
  }

  private func hasWords(
    _ record: ValueMap, _ text: String, isPrefix: Bool, _ names: [String]
  ) -> Bool {
    let wanted = words(text)
    return texts(record, names).contains { text in
      let found = words(text)
      return found.indices.contains { start in
        guard start + wanted.count <= found.count else { return false }
        return wanted.enumerated().allSatisfy { index, word in
          isPrefix && index == wanted.count - 1
            ? found[start + index].hasPrefix(word) : found[start + index] == word
        }
      }
    }
  }
}
