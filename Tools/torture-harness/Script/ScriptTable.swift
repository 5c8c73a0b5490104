import Cambium

/// The records of a collection, as the script has written them, to work out answers from.
struct ScriptTable {
  private(set) var rows: [(key: Value, values: ValueMap)]

  init(_ collection: NodePath, _ world: World) {
    rows = world.records(of: collection).map { key, values in
      if case .integer(let number) = key { return (.integer(number), values) }
      return (.string("\(key)"), values)
    }
  }

  private init(_ rows: [(key: Value, values: ValueMap)]) { self.rows = rows }

  func filter(_ isIn: (ValueMap) -> Bool) -> ScriptTable {
    ScriptTable(rows.filter { isIn($0.values) })
  }

  func prefix(_ count: Int) -> ScriptTable { ScriptTable(Array(rows.prefix(count))) }

  /// Sorts by properties, then by key; a name with a minus in front sorts downwards.
  func sorted(by names: [String]) -> ScriptTable {
    ScriptTable(
      rows.sorted { a, b in
        for name in names {
          let isDown = name.hasPrefix("-")
          let name = isDown ? String(name.dropFirst()) : name
          let order = (a.values[name] ?? .null).order(b.values[name] ?? .null)
          if order != 0 { return isDown ? order > 0 : order < 0 }
        }
        return a.key.order(b.key) < 0
      })
  }

  func column(_ names: [String]) -> [[Value]] {
    rows.map { row in names.map { $0 == JudgedQuery.key ? row.key : row.values[$0] ?? .null } }
  }

  /// The values of each group: the one that makes it, the number of records, then the aggregates.
  func groups(by name: String, _ aggregates: [([Value]) -> Value], of names: [String]) -> [[Value]]
  {
    var groups: [Value: [ValueMap]] = [:]
    for row in rows { groups[row.values[name] ?? .null, default: []].append(row.values) }
    return groups.map { value, records in
      [value, .integer(Int64(records.count))]
        + zip(aggregates, names).map { aggregate, name in
          aggregate(records.compactMap { $0[name] })
        }
    }
  }

  static func sum(_ values: [Value]) -> Value {
    let numbers = values.compactMap(\.number)
    return numbers.isEmpty ? .null : .integer(numbers.reduce(0, +))
  }

  static func greatest(_ values: [Value]) -> Value {
    values.filter { $0 != .null }.max { $0.order($1) < 0 } ?? .null
  }

  static func least(_ values: [Value]) -> Value {
    values.filter { $0 != .null }.min { $0.order($1) < 0 } ?? .null
  }

  /// A condition that always holds, and keeps views from answering.
  static let always = "not (not id != 99999999)"
}

extension Value {
  /// The value in the query language.
  var literal: String {
    switch self {
    case .integer(let number): "\(number)"
    case .string(let text): "\"\(text)\""
    default: "null"
    }
  }

  var list: [Value] { if case .array(let elements) = self { elements } else { [] } }
}
