import Cambium
import FoundationEssentials

/// Trips in SQLite as its users keep them: prepared statements, the same index, the same structs.
final class SQLiteTrips {
  static let name = "SQLite"

  let database: SQLiteDatabase
  private let insert: Statement
  private let selectOne: Statement
  private let selectRange: Statement
  private let selectGroups: Statement

  static let columns = "id, carrier, origin, tail, number, delay, departure, distance, late"

  init(directory: String, isSoon: Bool = false) throws {
    database = try SQLiteDatabase(path: directory + "/trips.sqlite", isSoon: isSoon)
    for sql in [
      """
      CREATE TABLE trips (id INTEGER PRIMARY KEY, carrier TEXT, origin TEXT, tail TEXT,
      number INTEGER, delay INTEGER, departure INTEGER, distance REAL, late INTEGER)
      """,
      "CREATE INDEX trips_number ON trips(number)",
    ] { try database.run(sql) }
    insert = try database.prepare("INSERT INTO trips VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
    selectOne = try database.prepare("SELECT \(Self.columns) FROM trips WHERE id = ?")
    selectRange = try database.prepare(
      "SELECT \(Self.columns) FROM trips WHERE number >= ? AND number < ? ORDER BY number, id")
    selectGroups = try database.prepare(
      "SELECT carrier, count(*) FROM trips GROUP BY carrier ORDER BY carrier")
  }

  func insert(_ trips: [Trip], perTransaction: Int) throws {
    var next = 0
    while next < trips.count {
      let end = min(next + perTransaction, trips.count)
      try database.transaction { for trip in trips[next..<end] { try insert(trip) } }
      next = end
    }
  }

  private func insert(_ trip: Trip) throws {
    insert.bind(1, Int64(trip.id.key))
    insert.bind(5, Int64(trip.number))
    insert.bind(6, trip.delay.map { Int64($0) })
    insert.bind(7, Int64(trip.departure.timeIntervalSince1970 * 1_000_000))
    insert.bind(8, trip.distance)
    insert.bind(9, Int64(trip.isLate ? 1 : 0))
    if trip.tail == nil { insert.bindNull(4) }
    try insert.binding(trip.carrier, at: 2) {
      try insert.binding(trip.origin, at: 3) {
        guard let tail = trip.tail else { return try insert.runOnce() }
        try insert.binding(tail, at: 4) { try insert.runOnce() }
      }
    }
  }

  func read(_ keys: [Int]) throws -> Digest {
    var digest = Digest()
    try database.transaction {
      for key in keys {
        selectOne.bind(1, Int64(key))
        guard try selectOne.step() else { throw BenchmarkError("SQLite has no \(key)") }
        digest.add(trip(selectOne))
        selectOne.reset()
      }
    }
    return digest
  }

  func readRanges(_ ranges: [Range<Int>]) throws -> Digest {
    var digest = Digest()
    for range in ranges {
      selectRange.bind(1, Int64(range.lowerBound))
      selectRange.bind(2, Int64(range.upperBound))
      var trips: [Trip] = []
      while try selectRange.step() { trips.append(trip(selectRange)) }
      selectRange.reset()
      for trip in trips { digest.add(trip) }
    }
    return digest
  }

  func countByCarrier(times: Int) throws -> Digest {
    var digest = Digest()
    for _ in 0..<times {
      while try selectGroups.step() {
        digest.add(selectGroups.text(0))
        digest.add(selectGroups.integer(1))
      }
      selectGroups.reset()
    }
    return digest
  }

  func trip(_ row: Statement) -> Trip {
    var trip = Trip()
    trip.id = Trip.ID(Int(row.integer(0)))
    trip.carrier = row.text(1)
    trip.origin = row.text(2)
    trip.tail = row.isNull(3) ? nil : row.text(3)
    trip.number = Int(row.integer(4))
    trip.delay = row.isNull(5) ? nil : Int(row.integer(5))
    trip.departure = Date(timeIntervalSince1970: Double(row.integer(6)) / 1_000_000)
    trip.distance = row.double(7)
    trip.isLate = row.integer(8) != 0
    return trip
  }
}
