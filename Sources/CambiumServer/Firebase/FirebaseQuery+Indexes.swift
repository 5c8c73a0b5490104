// Queries along a declared index, which the planner walks.
//
// Firebase's order begins with what has no value. Null answers no comparison of the query language,
// so the records without a value and those with one are asked for one after the other.

import Cambium
import FoundationEssentials

/// A query's range over the values of a declared property that has an index.
struct IndexedRange {
  let property: PropertyDefinition
  let includesNull: Bool
  /// Conditions on the values, with what they compare with; nil if none is in the range.
  private(set) var conditions: [(comparison: String, value: Value)]? = []

  /// Nil where no index gives the order.
  init?(_ query: FirebaseQuery, _ node: Node, _ view: FirebaseView) throws {
    guard case .child(let path) = query.order, path.count == 1, let key = path.first,
      let definition = try view.schema.definition(of: node.path), definition.migration == nil,
      let property = definition[key.description], IndexedRange.rank(property.type) != nil,
      definition.indexes.contains(where: { index in
        index.terms[0].property == property.name && index.terms[0].collation == .binary
          && index.condition == nil
      })
    else { return nil }
    self.property = property
    includesNull = query.contains(.null)
    for (bound, isLower) in [(query.lower, true), (query.upper, false)] {
      guard let bound else { continue }
      if try !add(bound, isLower: isLower) { return nil }
    }
  }

  /// The place of a type's values in Firebase's order; nil where an index has another order.
  private static func rank(_ type: PropertyType) -> Int? {
    switch type {
    case .bool: 1
    case .integer, .double, .decimal: 2
    case .string, .uuid: 3
    case .date: 4
    default: nil
    }
  }

  /// Adds a bound; false if the index cannot find its place.
  private mutating func add(_ bound: FirebaseQuery.Bound, isLower: Bool) throws -> Bool {
    let own = IndexedRange.rank(property.type) ?? 0
    var rank: Int
    var value: Value?
    switch bound.value {
    case .null: rank = 0
    case .bool(let truth): (rank, value) = (1, .bool(truth))
    case .integer(let number): (rank, value) = (2, .integer(number))
    case .double(let number): (rank, value) = (2, .double(number))
    case .string(let text): (rank, value) = (3, .string(text))
    case .moment, .key, .object: rank = 5
    }
    switch (property.type, bound.value) {
    case (.date, .string(let text)):
      if let date = DateText.parse(Array(text.utf8).span) {
        (rank, value) = (4, .date(Date(microseconds: date.microseconds)))
      }
    case (.uuid, .string(let text)):
      guard let uuid = UUID(uuidString: text), uuid.uuidString.lowercased() == text else {
        return false
      }
      value = .uuid(uuid)
    case (.decimal, .double(let number)):
      value = DecimalText.parse(Array(number.description.utf8).span).map { .decimal($0) }
    case (.decimal, .integer(let number)): value = .decimal(Decimal(number))
    default: break
    }
    if rank != own {
      // All values of the type lie on one side of the bound.
      if isLower == (rank > own) { conditions = nil }
      return true
    }
    guard let value else { return false }
    conditions?.append(((isLower ? ">" : "<") + (bound.isExclusive ? "" : "="), value))
    return true
  }
}

extension FirebaseQuery {
  func runAlongIndex(
    _ range: IndexedRange, _ node: Node, _ view: FirebaseView, _ check: () throws -> Void,
    _ body: (FirebaseResult, FirebaseView.Child) throws -> Bool
  ) throws {
    if limit != nil && isFromEnd {
      // The last ones, which the index gives from the end, in their order.
      var names: [FirebaseName] = []
      try walk(range, node, view, isReversed: true) { key in
        try check()
        names.append(FirebaseName(key))
        return true
      }
      for name in names.reversed() {
        let child = FirebaseView.Child.node(try node.childNode(name))
        let value = try sortValue(name, child, view)
        if try !body(FirebaseResult(value: value, name: name), child) { return }
      }
      return
    }
    try walk(range, node, view, isReversed: false) { key in
      try check()
      let child = FirebaseView.Child.node(node.child(key))
      let name = FirebaseName(key)
      let value = try sortValue(name, child, view)
      return try body(FirebaseResult(value: value, name: name), child)
    }
  }

  /// Visits the keys in the order of the index, at most ``limit``.
  private func walk(
    _ range: IndexedRange, _ node: Node, _ view: FirebaseView, isReversed: Bool,
    _ body: (Key) throws -> Bool
  ) throws {
    if isReversed, let limit, limit > FirebaseQuery.limitMax {
      throw FirebaseError.bad("limitToLast must be at most \(FirebaseQuery.limitMax)")
    }
    var left = limit ?? .max
    for isNull in isReversed ? [false, true] : [true, false] where left > 0 {
      guard let query = try part(range, node, view, isNull: isNull, isReversed: isReversed) else {
        continue
      }
      var isEnded = false
      try (limit == nil ? query : query.limit(left)).walk { record in
        guard let key = record.path.last else { return true }
        left -= 1
        isEnded = try !body(key)
        return !isEnded
      }
      if isEnded { return }
    }
  }

  /// The records without a value, or those with one; nil where none is in the range.
  private func part(
    _ range: IndexedRange, _ node: Node, _ view: FirebaseView, isNull: Bool, isReversed: Bool
  ) throws -> DynamicQuery? {
    let name = FirebaseQuery.quoted(range.property.name)
    let collection = FirebaseQuery.quoted(node.path.description)
    let sign = isReversed ? "-" : ""
    if isNull {
      guard range.includesNull else { return nil }
      return try view.schema.records("\(collection) where \(name) is null sort \(sign)id")
    }
    guard let conditions = range.conditions else { return nil }
    var tests = conditions.indices.map { "\(name) \(conditions[$0].comparison) $\($0 + 1)" }
    if tests.isEmpty { tests = ["\(name) is not null"] }
    let text =
      "\(collection) where \(tests.joined(separator: " and ")) sort \(sign)\(name), \(sign)id"
    switch conditions.count {
    case 0: return try view.schema.records(text)
    case 1: return try view.schema.records(text, conditions[0].value)
    default: return try view.schema.records(text, conditions[0].value, conditions[1].value)
    }
  }

  /// A name in the query language.
  private static func quoted(_ name: String) -> String {
    var text = "`"
    for character in name.unicodeScalars {
      if character == "`" || character == "\\" { text += "\\" }
      text.unicodeScalars.append(character)
    }
    return text + "`"
  }
}

extension Node {
  fileprivate func childNode(_ name: FirebaseName) throws -> Node {
    guard let key = name.key else { throw FirebaseError.bad("\(name.text) is no key") }
    return child(key)
  }
}
