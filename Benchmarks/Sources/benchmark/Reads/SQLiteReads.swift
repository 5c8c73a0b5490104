/// The questions in SQLite, each a statement that was prepared before.
struct SQLiteReads: TripReader {
  static let name = SQLiteTrips.name

  private let trips: SQLiteTrips
  private let numberOfKey: Statement
  private let numbers: Statement
  private let sum: Statement
  private let all: Statement
  private let late: Statement
  private let longest: Statement
  private let delays: Statement

  init(_ trips: SQLiteTrips) throws {
    self.trips = trips
    func prepare(_ sql: String) throws -> Statement { try trips.database.prepare(sql) }
    numberOfKey = try prepare("SELECT number FROM trips WHERE id = ?")
    // The index on the numbers would be shorter to read than the table, for any of the two.
    numbers = try prepare("SELECT number FROM trips NOT INDEXED")
    sum = try prepare("SELECT sum(number) FROM trips NOT INDEXED")
    all = try prepare("SELECT \(SQLiteTrips.columns) FROM trips NOT INDEXED")
    late = try prepare("SELECT count(*) FROM trips WHERE delay > 200")
    longest = try prepare(
      "SELECT \(SQLiteTrips.columns) FROM trips ORDER BY distance DESC, id LIMIT 10")
    delays = try prepare("SELECT delay FROM trips WHERE number >= ? AND number < ?")
  }

  func numbers(of keys: [Int]) throws -> Digest {
    var digest = Digest()
    try trips.database.transaction {
      for key in keys {
        numberOfKey.bind(1, Int64(key))
        digest.add(try numberOfKey.step() ? numberOfKey.integer(0) : -1)
        numberOfKey.reset()
      }
    }
    return digest
  }

  func trips(of keys: [Int]) throws -> Digest { try trips.read(keys) }

  func walkNumbers() throws -> Digest { try selectNumbers() }

  func selectNumbers() throws -> Digest { try total(numbers) { $0.integer(0) } }

  func sumNumbers() throws -> Digest { try total(sum) { $0.integer(0) } }

  func allTrips() throws -> Digest {
    try total(all) { row in
      let trip = trips.trip(row)
      return Int64(trip.number &+ trip.carrier.utf8.count &+ (trip.delay ?? 0))
    }
  }

  func countLate() throws -> Digest { try total(late) { $0.integer(0) } }

  func longestTrips() throws -> Digest {
    var digest = Digest()
    while try longest.step() { digest.add(trips.trip(longest)) }
    longest.reset()
    return digest
  }

  func countByCarrier() throws -> Digest { try trips.countByCarrier(times: 1) }

  func trips(in ranges: [Range<Int>]) throws -> Digest { try trips.readRanges(ranges) }

  func delays(in ranges: [Range<Int>]) throws -> Digest {
    var sum: Int64 = 0
    for range in ranges {
      delays.bind(1, Int64(range.lowerBound))
      delays.bind(2, Int64(range.upperBound))
      while try delays.step() { sum &+= delays.integer(0) }
      delays.reset()
    }
    return Digest(of: sum)
  }

  /// The sum of what a row's value is over all rows of a statement.
  private func total(_ statement: Statement, _ value: (Statement) -> Int64) throws -> Digest {
    var sum: Int64 = 0
    while try statement.step() { sum &+= value(statement) }
    statement.reset()
    return Digest(of: sum)
  }
}
