import Cambium

/// The questions in Cambium, by its typed face.
struct CambiumReads: TripReader {
  static let name = CambiumTrips.name

  private let trips: CambiumTrips
  private var database: Database { trips.database }

  init(_ trips: CambiumTrips) { self.trips = trips }

  func numbers(of keys: [Int]) throws -> Digest {
    try database.read { snapshot in
      var digest = Digest()
      for key in keys { digest.add(Int64(try snapshot.find(Trip.ID(key), \.number) ?? -1)) }
      return digest
    }
  }

  func trips(of keys: [Int]) throws -> Digest { try trips.read(keys) }

  func walkNumbers() throws -> Digest {
    var sum: Int64 = 0
    try database.read { snapshot in
      try snapshot["trips"].children.forEach("number") { number in
        if case .integer(let number)? = number { sum &+= number }
      }
    }
    return Digest(of: sum)
  }

  func selectNumbers() throws -> Digest {
    var sum: Int64 = 0
    try database.query(Trip.self).select(\.number).forEach { (number: Int) in
      sum &+= Int64(number)
    }
    return Digest(of: sum)
  }

  func sumNumbers() throws -> Digest {
    Digest(of: Int64(try database.query(Trip.self).sum { $0.number }))
  }

  func allTrips() throws -> Digest {
    var sum: Int64 = 0
    try database.query(Trip.self).forEach { trip in
      sum &+= Int64(trip.number &+ trip.carrier.utf8.count &+ (trip.delay ?? 0))
    }
    return Digest(of: sum)
  }

  func countLate() throws -> Digest {
    Digest(of: Int64(try database.query(Trip.self).where { $0.delay > 200 }.count()))
  }

  func longestTrips() throws -> Digest {
    var digest = Digest()
    let query = database.query(Trip.self).order(by: \.distance.descending, \.id).limit(10)
    for trip in try query.fetch() { digest.add(trip) }
    return digest
  }

  func countByCarrier() throws -> Digest { try trips.countByCarrier(times: 1) }

  func trips(in ranges: [Range<Int>]) throws -> Digest { try trips.readRanges(ranges) }

  func delays(in ranges: [Range<Int>]) throws -> Digest {
    var sum: Int64 = 0
    for range in ranges {
      let query = database.query(Trip.self).where { $0.number.in(range) }
      try query.select(\.delay).forEach { (delay: Int?) in sum &+= Int64(delay ?? 0) }
    }
    return Digest(of: sum)
  }
}

extension Digest {
  init(of number: Int64) {
    self.init()
    add(number)
  }
}
