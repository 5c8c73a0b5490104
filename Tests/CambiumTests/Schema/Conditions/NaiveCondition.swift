// The meaning of a condition, written down a second time: over records and values as they are,
// without bytes, jumps or numbers of names.

import FoundationEssentials

@testable import Cambium

/// Evaluates conditions the slow way.
struct NaiveCondition {
  /// The declarations, by collection.
  var definitions: [NodePath: CollectionDefinition] = [:]
  /// All records, by path.
  var records: [NodePath: ValueMap] = [:]
  /// The records joined to the one at hand, by the join's name; nil where a left join found none.
  var joined: [String: (key: Key, record: ValueMap, collection: NodePath)?] = [:]

  func holds(
    _ test: Condition.Test, _ record: ValueMap, key: Key, in collection: NodePath
  ) throws -> Bool {
    switch test {
    case .all(let tests):
      for test in tests where try !holds(test, record, key: key, in: collection) { return false }
      return true
    case .any(let tests):
      for test in tests where try holds(test, record, key: key, in: collection) { return true }
      return false
    case .not(let other): return try !holds(other, record, key: key, in: collection)
    case .compare(let path, let comparison, let value):
      let found = try self.value(path, record, key, collection)
      return compare(found, comparison, value)
    case .compareProperties(let one, let comparison, let other):
      return compare(
        try value(one, record, key, collection), comparison,
        try value(other, record, key, collection).value,
        isKey: try value(other, record, key, collection).isKey)
    case .oneOf(let path, let values):
      let found = try value(path, record, key, collection)
      return values.contains { compare(found, .equal, $0) }
    case .text(let path, let test, let text, let collation):
      guard case .string(let found)? = try value(path, record, key, collection).value else {
        return false
      }
      return try hasText(found, test, text, collation)
    case .contains(let path, let value):
      return has(try self.value(path, record, key, collection), value)
    case .related(let relation, let quantifier, let inner):
      return try related(relation, quantifier, inner, record, key, collection)
    }
  }

  /// A value, and whether it is a key.
  typealias Found = (value: Value?, type: PropertyType?, isKey: Bool)

  func value(
    _ path: PropertyPath, _ record: ValueMap, _ key: Key, _ collection: NodePath
  ) throws -> Found {
    var path = path
    if let name = path.hops.first, let other = joined[name] {
      let rest = PropertyPath(hops: Array(path.hops.dropFirst()), path.property, path.function)
      guard let other else { return (nil, nil, path.property == nil) }
      return try value(rest, other.record, other.key, other.collection)
    }
    if let property = path.property, !path.hops.isEmpty {
      let joined = (path.hops + [property]).joined(separator: ".")
      if definitions[collection]?[joined] != nil {
        path = PropertyPath(joined, path.function)
      }
    }
    var (record, key, collection): (ValueMap?, Key?, NodePath?) = (record, key, collection)
    for hop in path.hops {
      guard let holder = record else { break }
      let declared = collection.flatMap { definitions[$0] }?[hop]
      guard let value = holder[hop], value != .null else {
        (record, key, collection) = (nil, nil, declared?.target)
        continue
      }
      if case .reference(let target)? = declared?.type {
        key = Self.key(value)
        collection = target
        record = key.flatMap { records[target.appending($0)] }
      } else if case .reference(let target) = value {
        (record, key, collection) = (records[target], target.last, nil)
      } else if case .map(let members) = value {
        (record, key, collection) = (members, nil, nil)
      } else {
        throw QueryError("no reference")
      }
    }
    guard let name = path.property else {
      guard record != nil, let key else { return (nil, nil, true) }
      return (function(path.function, Self.plain(key)), nil, path.function == nil)
    }
    let declared = collection.flatMap { definitions[$0] }?[name]
    let value = record.flatMap { $0[name] ?? declared?.absence }
    var isKey = false
    if case .reference? = declared?.type { isKey = path.function == nil }
    return (
      path.function == nil ? value : function(path.function, value),
      path.function == nil ? declared?.type : nil, isKey
    )
  }

  private func function(_ function: PropertyPath.Function?, _ value: Value?) -> Value? {
    guard let function else { return value }
    switch (function, value) {
    case (.count, .string(let text)?): return .integer(Int64(text.count))
    case (.count, .array(let elements)?): return .integer(Int64(elements.count))
    case (.count, .map(let record)?): return .integer(Int64(record.count))
    case (.lowercased, .string(let text)?): return .string(text.lowercased())
    case (_, .date(let date)?): return part(function, date).map { .integer(Int64($0)) }
    default: return nil
    }
  }

  private func part(_ function: PropertyPath.Function, _ date: Date) -> Int? {
    // Whole days counted year by year: slow, and unlike the code that is tested.
    var seconds = Int((Double(date.microseconds) / 1_000_000).rounded(.down))
    if date.microseconds < 0, date.microseconds % 1_000_000 != 0 {
      seconds = Int(date.microseconds / 1_000_000) - 1
    } else {
      seconds = Int(date.microseconds / 1_000_000)
    }
    var days = seconds >= 0 ? seconds / 86_400 : -((-seconds + 86_399) / 86_400)
    let hour = (seconds - days * 86_400) / 3600
    if function == .hour { return hour }
    guard [.year, .month, .day].contains(function) else { return nil }
    func isLeap(_ year: Int) -> Bool { year % 4 == 0 && year % 100 != 0 || year % 400 == 0 }
    // The calendar repeats every 400 years.
    let eras = days >= 0 ? days / 146_097 : -((-days + 146_096) / 146_097)
    days -= eras * 146_097
    var year = 1970
    while days >= (isLeap(year) ? 366 : 365) {
      days -= isLeap(year) ? 366 : 365
      year += 1
    }
    var month = 1
    let lengths = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    while days >= lengths[month - 1] {
      days -= lengths[month - 1]
      month += 1
    }
    return function == .year ? year + eras * 400 : function == .month ? month : days + 1
  }

  // MARK: Comparing

  private func compare(_ found: Found, _ comparison: Condition.Comparison, _ constant: Value)
    -> Bool
  {
    // The path of a record of another collection is no key of this one.
    if found.isKey, case .reference(let path) = constant, let target = found.type?.target,
      path.parent != target
    {
      return comparison == .notEqual
    }
    return compare(found, comparison, coerced(constant, found.type), isKey: false)
  }

  private func coerced(_ constant: Value, _ type: PropertyType?) -> Value {
    switch (type, constant) {
    case (.date, .string(let text)): DateLiteral.read(text).map { .date($0) } ?? constant
    case (.uuid, .string(let text)): UUID(uuidString: text).map { .uuid($0) } ?? constant
    case (.decimal, .string(let text)): Decimal(string: text).map { .decimal($0) } ?? constant
    case (.decimal, .double(let number)) where number.isFinite:
      Decimal(string: "\(number)").map { .decimal($0) } ?? constant
    default: constant
    }
  }

  private func compare(
    _ found: Found, _ comparison: Condition.Comparison, _ other: Value?, isKey: Bool
  ) -> Bool {
    let a = found.value == .null ? nil : found.value
    let b = other == .null ? nil : other
    guard let a, let b else {
      let areBothNull = a == nil && b == nil
      return comparison == .equal ? areBothNull : comparison == .notEqual && !areBothNull
    }
    let order = found.isKey || isKey ? keyOrder(a, b) : Self.order(a, b)
    switch comparison {
    case .equal: return order == 0
    case .notEqual: return order != 0
    case .less: return order.map { $0 < 0 } ?? false
    case .lessOrEqual: return order.map { $0 <= 0 } ?? false
    case .greater: return order.map { $0 > 0 } ?? false
    case .greaterOrEqual: return order.map { $0 >= 0 } ?? false
    }
  }

  private func keyOrder(_ a: Value, _ b: Value) -> Int? {
    func key(_ value: Value) -> Key? {
      if case .reference(let path) = value { return path.last }
      return Self.key(value)
    }
    guard let one = key(a), let other = key(b) else { return nil }
    switch (one, other) {
    case (.integer, .integer), (.uuid, .uuid), (.text, .text):
      return one < other ? -1 : one == other ? 0 : 1
    default: return nil
    }
  }

  static func key(_ value: Value) -> Key? {
    switch value {
    case .integer(let number): .integer(number)
    case .uuid(let uuid): .uuid(uuid)
    case .string(let text): try? Key(text)
    default: nil
    }
  }

  static func plain(_ key: Key) -> Value {
    switch key {
    case .integer(let number): .integer(number)
    case .uuid(let uuid): .uuid(uuid)
    case .text(let text): .string(text)
    }
  }

  /// The order of two values of one kind; zero for opaque ones that are the same.
  static func order(_ a: Value, _ b: Value) -> Int? {
    switch (a, b) {
    case (.bool(let a), .bool(let b)): a == b ? 0 : a ? 1 : -1
    case (.integer(let a), .integer(let b)): sign(a, b)
    case (.double(let a), .double(let b)):
      a.isNaN || b.isNaN ? sign(a.isNaN ? 1 : 0, b.isNaN ? 1 : 0) : sign(a, b)
    case (.integer(let a), .double(let b)): order(a, b)
    case (.double(let a), .integer(let b)): order(b, a).map { -$0 }
    case (.decimal(let a), .decimal(let b)): order(a, b)
    case (.decimal(let a), .integer(let b)): order(a, Decimal(string: "\(b)") ?? 0)
    case (.integer(let a), .decimal(let b)): order(Decimal(string: "\(a)") ?? 0, b)
    case (.date(let a), .date(let b)): sign(a.microseconds, b.microseconds)
    case (.uuid(let a), .uuid(let b)):
      sign(a.uuidString, b.uuidString)
    case (.string(let a), .string(let b)): bytes(Array(a.utf8), Array(b.utf8))
    case (.data(let a), .data(let b)): bytes(Array(a), Array(b))
    case (.array, .array), (.map, .map), (.reference, .reference), (.blob, .blob):
      a == b ? 0 : nil
    default: nil
    }
  }

  private static func sign<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }

  private static func order(_ a: Int64, _ b: Double) -> Int? {
    if b.isNaN || b == .infinity { return -1 }
    if b == -.infinity { return 1 }
    // A double of less than 2⁷⁰ has a part that is whole and one that is not, both exact.
    if b.magnitude > 0x1p70 { return b > 0 ? -1 : 1 }
    let whole = Int128(b.rounded(.down))
    return Int128(a) == whole ? (b > b.rounded(.down) ? -1 : 0) : sign(Int128(a), whole)
  }

  private static func order(_ a: Decimal, _ b: Decimal) -> Int? {
    if a.isNaN || b.isNaN { return sign(a.isNaN ? 1 : 0, b.isNaN ? 1 : 0) }
    return sign(a, b)
  }

  private static func bytes(_ a: [UInt8], _ b: [UInt8]) -> Int {
    a.lexicographicallyPrecedes(b) ? -1 : a == b ? 0 : 1
  }

  // MARK: Texts, lists, relations

  private func hasText(
    _ found: String, _ test: Condition.TextTest, _ text: String, _ collation: Collation
  ) throws -> Bool {
    if test == .matches {
      let expression = try Regex(text).matchingSemantics(.unicodeScalar)
      return collation == .binary
        ? found.firstMatch(of: expression) != nil
        : found.firstMatch(of: expression.ignoresCase()) != nil
    }
    let a = Array(Folding.folded(found, collation).utf8)
    let b = Array(Folding.folded(text, collation).utf8)
    switch test {
    case .equals: return a == b
    case .prefix: return a.starts(with: b)
    case .suffix: return a.reversed().starts(with: b.reversed())
    default: return b.isEmpty || a.indices.contains { a[$0...].starts(with: b) }
    }
  }

  private func has(_ found: Found, _ wanted: Value) -> Bool {
    switch found.value {
    case .array(let elements)?:
      if case .array(.reference)? = found.type {
        return elements.contains { keyOrder($0, wanted) == 0 }
      }
      var wanted = wanted
      if case .array(let type)? = found.type { wanted = coerced(wanted, type) }
      return elements.contains { Self.order($0, wanted) == 0 }
    case .map(let record)?:
      switch found.type {
      case .keyed, .map:
        return Self.key(wanted).map { record[$0.description] != nil } ?? false
      default:
        guard case .string(let name) = wanted else { return false }
        return record[name] != nil
      }
    default: return false
    }
  }

  private func related(
    _ relation: Condition.ToMany, _ quantifier: Condition.Quantifier, _ inner: Condition.Test,
    _ record: ValueMap, _ key: Key, _ collection: NodePath
  ) throws -> Bool {
    var answers: [Bool] = []
    switch relation {
    case .inverse(let other, let property):
      for (path, candidate) in records where path.parent == other {
        guard let value = candidate[property], Self.key(value) == key, let own = path.last else {
          continue
        }
        answers.append(try holds(inner, candidate, key: own, in: other))
      }
    case .elements(let path):
      let found = try value(path, record, key, collection)
      for place in places(found) {
        guard let candidate = records[place], let own = place.last, let parent = place.parent
        else { continue }
        answers.append(
          try holds(
            inner, candidate, key: own, in: found.type?.target ?? NodePath("nowhere/\(parent)"))
        )
      }
    }
    switch quantifier {
    case .any: return answers.contains(true)
    case .all: return !answers.contains(false)
    case .none: return !answers.contains(true)
    }
  }

  /// Where a value leads, by itself or by its elements.
  private func places(_ found: Found) -> [NodePath] {
    func place(_ value: Value) -> NodePath? {
      if let target = found.type?.target { return Self.key(value).map { target.appending($0) } }
      if case .reference(let path) = value { return path }
      return nil
    }
    switch found.value {
    case .array(let elements)?: return elements.compactMap(place)
    case .map(let record)?: return record.members.compactMap { place(.string($0.name)) }
    case let value?: return [place(value)].compactMap { $0 }
    case nil: return []
    }
  }
}
