import FoundationEssentials

@testable import Cambium

/// A week of nycflights13 as five collections, and how they are written into tables of SQLite.
enum FlightTables {
  /// A column of the original, which is a property here.
  struct Column {
    enum Kind { case integer, double, text, date }

    let name: String
    let kind: Kind
    /// The collection that it refers to.
    var target: Path?
  }

  struct Table {
    let name: String
    /// The column that is the key; nil where lines are numbered.
    let key: String?
    let columns: [Column]

    var path: Path { Path(keys: [.text(name)]) }
  }

  static let all = [
    table("airlines", key: "carrier", "name:t"),
    table("airports", key: "faa", "name:t lat:d lon:d alt:i tz:i dst:t tzone:t"),
    table(
      "planes", key: "tailnum",
      "year:i type:t manufacturer:t model:t engines:i seats:i speed:i engine:t"),
    table(
      "weather", key: nil,
      "origin:t>airports year:i month:i day:i hour:i temp:d dewp:d humid:d wind_dir:i wind_speed:d "
        + "wind_gust:d precip:d pressure:d visib:d time_hour:D"),
    table(
      "flights", key: nil,
      "year:i month:i day:i dep_time:i sched_dep_time:i dep_delay:i arr_time:i sched_arr_time:i "
        + "arr_delay:i carrier:t>airlines flight:i tailnum:t>planes origin:t>airports "
        + "dest:t>airports air_time:i distance:i hour:i minute:i time_hour:D"),
  ]

  private static func table(_ name: String, key: String?, _ columns: String) -> Table {
    Table(
      name: name, key: key,
      columns: columns.split(separator: " ").map { word in
        let parts = word.split { $0 == ":" || $0 == ">" }
        let kinds: [Substring: Column.Kind] = [
          "i": .integer, "d": .double, "t": .text, "D": .date,
        ]
        return Column(
          name: String(parts[0]), kind: kinds[parts[1]] ?? .text,
          target: parts.count > 2 ? try? Path(parts[2]) : nil)
      })
  }

  // MARK: Reading the originals

  /// Key and record of each line; `NA` is absent.
  static func rows(of table: Table) throws -> [(Key, Record)] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "CambiumToolTests/Fixtures/nycflights13-week")
    let text = try String(
      contentsOf: folder.appending(path: "\(table.name).csv"), encoding: .utf8)
    let lines = text.split(separator: "\n").map { fields(String($0)) }
    let header = lines[0]
    return try lines.dropFirst().enumerated().map { number, fields in
      let named = Dictionary(uniqueKeysWithValues: zip(header, fields))
      let key = try table.key.map { try Key(named[$0] ?? "") } ?? .integer(Int64(number + 1))
      var record = Record()
      for column in table.columns {
        record[column.name] = value(named[column.name] ?? "NA", column.kind)
      }
      return (key, record)
    }
  }

  private static func fields(_ line: String) -> [String] {
    var fields = [""]
    var isQuoted = false
    for character in line {
      if character == "\"" {
        isQuoted.toggle()
      } else if character == ",", !isQuoted {
        fields.append("")
      } else {
        fields[fields.count - 1].append(character)
      }
    }
    return fields
  }

  private static func value(_ text: String, _ kind: Column.Kind) -> Value? {
    if text == "NA" || text.isEmpty { return nil }
    switch kind {
    case .integer: return Int64(text).map { .integer($0) }
    case .double: return Double(text).map { .double($0) }
    case .text: return .string(text)
    case .date: return (try? Date(text, strategy: .iso8601)).map { .date($0) }
    }
  }

  // MARK: Cambium

  /// Declares the collections, with indexes and views that some of the questions can use, and
  /// writes the week.
  static func load(_ database: Database) throws {
    for table in all {
      let rows = try rows(of: table)
      try database.write { tx in
        try tx.declare(table.path, definition(of: table))
        for (key, record) in rows { try tx.set(table.path.appending(key), to: .map(record)) }
      }
    }
  }

  private static func definition(of table: Table) -> CollectionDefinition {
    var definition = CollectionDefinition()
    definition.properties = table.columns.map { column in
      let types: [PropertyType] = [.integer, .double, .string, .date]
      let kinds: [Column.Kind] = [.integer, .double, .text, .date]
      let plain = types[kinds.firstIndex(of: column.kind) ?? 0]
      return PropertyDefinition(column.name, column.target.map { .reference($0) } ?? plain)
    }
    switch table.name {
    case "flights":
      var covering = IndexDefinition([.init("dep_delay")])
      covering.covered = ["carrier"]
      var late = IndexDefinition([.init("arr_delay", isDescending: true)])
      late.condition = Condition(.compare(PropertyPath("arr_delay"), .greater, 60))
      definition.indexes = [
        .init([.init("origin"), .init("time_hour", isDescending: true)]), covering, late,
        .init([.init("distance")]),
      ]
      definition.views = [
        ViewDefinition(
          .groups(
            by: ["carrier"],
            [.count, .average("dep_delay"), .minimum("dep_delay"), .maximum("dep_delay")]))
      ]
    case "planes": definition.indexes = [.init([.init("manufacturer"), .init("model")])]
    case "airports":
      definition.indexes = [.init([.init("name", collation: .ignoringCase)])]
    default: break
    }
    return definition
  }

  // MARK: SQLite

  /// Writes what a snapshot holds into tables, node by node.
  static func export(_ snapshot: Snapshot) throws -> SQLite {
    let sqlite = try SQLite()
    for table in all {
      let names = ["id"] + table.columns.map(\.name)
      try sqlite.run("CREATE TABLE \(table.name) (\(names.joined(separator: ", ")))")
      var rows: [[Value?]] = []
      try snapshot[table.path].children.forEach { child in
        guard case .map(let record)? = try child.value, let key = child.key else { return }
        rows.append([StoredKey.value(of: key)] + table.columns.map { record[$0.name] })
      }
      let places = names.map { _ in "?" }.joined(separator: ", ")
      try sqlite.run("INSERT INTO \(table.name) VALUES (\(places))", rows)
      try sqlite.run("CREATE UNIQUE INDEX \(table.name)_id ON \(table.name)(id)")
    }
    return sqlite
  }
}
