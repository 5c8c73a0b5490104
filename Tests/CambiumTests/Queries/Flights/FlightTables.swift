import FoundationEssentials

@testable import Cambium

/// The models' collections, filled from the originals, and written into tables of SQLite.
enum FlightTables {
  struct Table {
    let path: NodePath
    /// The column that is the key; nil where lines are numbered.
    let key: String?
    /// The properties, each of which is a column of the original.
    let columns: [PropertyDefinition]

    var name: String { path.description }

    init<M: Cambium.Model>(_ model: M.Type, key: String?) {
      path = M.schema.core.path
      self.key = key
      columns = M.schema.definition.properties
    }
  }

  static let all = [
    Table(Flights.Airline.self, key: "carrier"), Table(Flights.Airport.self, key: "faa"),
    Table(Flights.Plane.self, key: "tailnum"), Table(Flights.Weather.self, key: nil),
    Table(Flights.Flight.self, key: nil),
  ]

  // MARK: Reading the originals

  /// Key and record of each line; `NA` is absent.
  static func rows(of table: Table) throws -> [(Key, ValueMap)] {
    let folder = Fixtures.tests.appending(path: "CambiumToolTests/Fixtures/nycflights13-week")
    let text = try String(
      contentsOf: folder.appending(path: "\(table.name).csv"), encoding: .utf8)
    let lines = text.split(separator: "\n").map { fields(String($0)) }
    let header = lines[0]
    return try lines.dropFirst().enumerated().map { number, fields in
      let named = Dictionary(uniqueKeysWithValues: zip(header, fields))
      let key = try table.key.map { try Key(named[$0] ?? "") } ?? .integer(Int64(number + 1))
      var record = ValueMap()
      for column in table.columns {
        record[column.name] = value(named[column.name] ?? "NA", column.type)
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

  private static func value(_ text: String, _ type: PropertyType) -> Value? {
    if text == "NA" || text.isEmpty { return nil }
    switch type {
    case .integer: return Int64(text).map { .integer($0) }
    case .double: return Double(text).map { .double($0) }
    case .date: return (try? Date(text, strategy: .iso8601)).map { .date($0) }
    default: return .string(text)
    }
  }

  // MARK: Cambium

  /// Declares the collections by the models, with indexes and views that some of the questions can
  /// use, and writes the week.
  static func load(_ database: Database) throws {
    try database.register(
      Flights.Airline.self, Flights.Airport.self, Flights.Plane.self, Flights.Weather.self,
      Flights.Flight.self)
    try declareDelays(database)
    for table in all {
      let rows = try rows(of: table)
      try database.write { tx in
        for (key, record) in rows { try tx.set(table.path.appending(key), to: .map(record)) }
      }
    }
  }

  /// Declares one view of several aggregates, for which a schema has no line.
  private static func declareDelays(_ database: Database) throws {
    var definition = Flights.Flight.schema.definition
    definition.views.append(
      ViewDefinition(
        .groups(
          by: ["carrier"],
          [.count, .average("dep_delay"), .minimum("dep_delay"), .maximum("dep_delay")])))
    try database.write { try $0.declare("flights", definition) }
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
