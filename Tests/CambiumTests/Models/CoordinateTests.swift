// Goal: what is near is found, all of it, also across the date line and around the poles. Method:
// random places and circles against a look at all places; some places are just inside or outside.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("A coordinate")
struct CoordinateTests {
  struct Station: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var place = Coordinate()

    static let schema = ModelSchema<Station>("stations") { Index(\.place.latitude) }
  }

  @Test("is as far from another as is known")
  func distances() {
    let paris = Coordinate(latitude: 48.8566, longitude: 2.3522)
    let newYork = Coordinate(latitude: 40.7128, longitude: -74.0060)
    // 5,837 km on the ball that is meant.
    #expect(abs(paris.distance(to: newYork) - 5_837_240) < 100)
    let quarter = Coordinate.radius * .pi / 2
    let pole = Coordinate(latitude: 90, longitude: 17)
    #expect(abs(pole.distance(to: Coordinate(latitude: 0, longitude: -120)) - quarter) < 1e-6)
    let east = Coordinate(latitude: 0, longitude: 179.5)
    let west = Coordinate(latitude: 0, longitude: -179.5)
    #expect(abs(east.distance(to: west) - quarter / 90) < 1e-6)
    #expect(paris.distance(to: paris) == 0)
  }

  @Test("is found by those near it", arguments: SeededGenerator.seeds(1, 2, 3))
  func near(_ seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    func degrees(_ most: Double) -> Double {
      Double(Int(random.below(2_000_001)) - 1_000_000) / 1_000_000 * most
    }
    let edges = [-90, -89.99, 0, 89.999, 90]
    let stations = (1...600).map { key in
      Station(
        id: .init(key),
        place: Coordinate(
          latitude: key % 7 == 0 ? random.pick(edges) : degrees(90),
          longitude: key % 5 == 0 ? random.pick([-180, -179.9, 179.9, 180]) : degrees(180)))
    }
    let database = try Database.inMemory(for: Station.self)
    try database.write { tx in for station in stations { try tx.insert(station) } }
    for _ in 0..<200 {
      let one = random.pick(stations).place
      let center = random.chance(oneIn: 3) ? Coordinate(latitude: degrees(90), longitude: 180) : one
      // Often just as far as one of them is.
      let distance =
        random.chance(oneIn: 2)
        ? center.distance(to: random.pick(stations).place)
        : Double(random.below(3_000_000))
      let found = try database.query(Station.self).near(\.place, to: center, within: distance)
        .ids()
      let expected = stations.filter { $0.place.distance(to: center) <= distance }.map(\.id)
      #expect(Set(found) == Set(expected), "seed \(seed): \(distance) from \(center)")
    }
    let query = database.query(Station.self)
    #expect(try query.near(\.place, to: Coordinate(), within: -1).count() == 0)
    #expect(try query.near(\.place, to: Coordinate(), within: .nan).count() == 0)
    #expect(try query.near(\.place, to: Coordinate(), within: 3e7).count() == 600)
    let nowhere = Coordinate(latitude: .nan, longitude: .infinity)
    #expect(try query.near(\.place, to: nowhere, within: 3e7).count() == 0)
    let around = Coordinate(latitude: 10, longitude: 370)
    let same = Coordinate(latitude: 10, longitude: 10)
    let counts = (
      try query.near(\.place, to: around, within: 2e6).count(),
      try query.near(\.place, to: same, within: 2e6).count()
    )
    #expect(counts.0 == counts.1)
    let words = try query.near(\.place, to: Coordinate(), within: 1_000).explain()
    #expect(words.contains("use the index (`place.latitude`)"))
    try expectSound(database)
    try database.close()
  }
}
