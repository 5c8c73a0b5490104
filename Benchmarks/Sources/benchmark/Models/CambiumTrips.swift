import Cambium

/// Trips in Cambium, by its typed face.
final class CambiumTrips {
  static let name = "Cambium"

  let database: Database

  init(directory: String, isSoon: Bool = false) throws {
    database = try Database(
      at: directory + "/trips.cambium", options: .benchmark(isSoon: isSoon), for: Trip.self,
      CountedTrip.self)
  }

  deinit { try? database.close() }

  func insert(_ trips: [Trip], perTransaction: Int) throws {
    var next = 0
    while next < trips.count {
      let end = min(next + perTransaction, trips.count)
      try database.write { tx in for trip in trips[next..<end] { try tx.insert(trip) } }
      next = end
    }
  }

  /// Inserts models one by one, each in a transaction of its own.
  func insertEach(_ trips: ArraySlice<Trip>) throws {
    for trip in trips { try database.insert(trip) }
  }

  /// Inserts models one by one from many tasks, each of which awaits its own.
  func insertEach(_ trips: ArraySlice<Trip>, tasks: Int) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask { [database] in
          for offset in stride(from: task, to: trips.count, by: tasks) {
            try await database.insert(trips[trips.startIndex + offset])
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Writes what the view counts; not measured.
  func insertCounted(_ trips: [Trip]) throws {
    try database.write { tx in
      for trip in trips {
        var counted = CountedTrip()
        counted.id = .init(trip.id.key)
        counted.carrier = trip.carrier
        try tx.insert(counted)
      }
    }
  }

  func read(_ keys: [Int]) throws -> Digest {
    try database.read { snapshot in
      var digest = Digest()
      for key in keys { digest.add(try snapshot.get(Trip.ID(key))) }
      return digest
    }
  }

  func readRanges(_ ranges: [Range<Int>]) throws -> Digest {
    var digest = Digest()
    for range in ranges {
      let trips = try database.query(Trip.self).where { $0.number.in(range) }
        .order(by: \.number).fetch()
      for trip in trips { digest.add(trip) }
    }
    return digest
  }

  func countByCarrier(times: Int) throws -> Digest {
    var digest = Digest()
    for _ in 0..<times {
      let groups = try database.query(Trip.self).group(by: \.carrier).select { $0.count }
      for (carrier, count) in groups.sorted(by: { $0.0 < $1.0 }) {
        digest.add(carrier)
        digest.add(Int64(count))
      }
    }
    return digest
  }

  func readView(times: Int) throws -> Digest {
    var digest = Digest()
    for _ in 0..<times {
      let groups = try database.query(CountedTrip.self).group(by: \.carrier).select { $0.count }
      for (carrier, count) in groups.sorted(by: { $0.0 < $1.0 }) {
        digest.add(carrier)
        digest.add(Int64(count))
      }
    }
    return digest
  }
}
