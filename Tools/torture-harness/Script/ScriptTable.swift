import Cambium

/// The records of a collection, as the script has written them, to work out answers from.
struct ScriptTable {
  private let collection: NodePath
  private(set) var rows: [(key: Value, values: ValueMap)]

  init(_ collection: NodePath, _ world: World) {
    self.collection = collection
    rows = world.records(of: collection).map { key, values in
      if case .integer(let number) = key { return (.integer(number), values) }
      return (.string("\(key)"), values)
    }
  }

  private func with(_ rows: [(key: Value, values: ValueMap)]) -> ScriptTable {
    var table = self
    table.rows = rows
    return table
  }

  func filter(_ isIn: (ValueMap) -> Bool) -> ScriptTable { with(rows.filter { isIn($0.values) }) }

  func prefix(_ count: Int) -> ScriptTable { with(Array(rows.prefix(count))) }

  /// Sorts by properties, then by key; a name with a minus in front sorts downwards.
  func sorted(by names: [String]) -> ScriptTable {
    with(
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

  /// A question for the groups, as a view may answer it and as all records must be read for it.
  func groups(by name: String, _ aggregates: (Aggregate, of: String)...) -> JudgedQuery {
    let columns = [name, "count"] + aggregates.map { "\($0)(\($1))" }
    let text = "group by \(name) select \(columns.dropFirst().joined(separator: ", "))"
    var groups: [Value: [ValueMap]] = [:]
    for row in rows { groups[row.values[name] ?? .null, default: []].append(row.values) }
    let answer = groups.map { value, records in
      [value, .integer(Int64(records.count))]
        + aggregates.map { aggregate, name in aggregate.value(of: records.compactMap { $0[name] }) }
    }
    return JudgedQuery(
      ["\(collection) | \(text)", "\(collection) where \(ScriptTable.always) | \(text)"], columns,
      answer, isOrdered: false)
  }

  /// A question for the number of records, which are those that pass a condition.
  func count(where condition: String) -> JudgedQuery {
    JudgedQuery(
      [condition, "not (not \(condition))"].map { "\(collection) where \($0) | count" },
      [JudgedQuery.count], [[.integer(Int64(rows.count))]])
  }

  enum Aggregate {
    case sum, max, min

    fileprivate func value(of values: [Value]) -> Value {
      let present = values.filter { $0 != .null }
      switch self {
      case .sum:
        let numbers = values.compactMap(\.number)
        return numbers.isEmpty ? .null : .integer(numbers.reduce(0, +))
      case .max: return present.max { $0.order($1) < 0 } ?? .null
      case .min: return present.min { $0.order($1) < 0 } ?? .null
      }
    }
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
