// Goal: a search by relevance is followed by differences, also where only the texts of records that
// do not answer have changed; and so are places within a distance. Method: random texts and changes
// from a printed seed; the differences alone must lead to what searching again finds.
//
// It finds guards that follow the condition, which miss scores: this was planted.

import Simulation
import Testing

@testable import Cambium

@Suite("A live search")
struct LiveSearchTests {
  private struct Book: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var title = ""
    var year = 0
    var place = Coordinate()
    static let schema = ModelSchema<Book>("books") {
      TextIndex(\.title)
      Index(\.place.latitude)
    }

    init() {}

    init(_ key: Int, _ random: inout SeededGenerator) {
      id = ID(key)
      change(&random)
    }

    mutating func change(_ random: inout SeededGenerator) {
      let words = ["whale", "sea", "ship", "white", "storm"]
      title = (0...random.below(5)).map { _ in random.pick(words) }.joined(separator: " ")
      year = random.below(4)
      place = Coordinate(latitude: Double(random.below(10)), longitude: Double(random.below(10)))
    }
  }

  @Test("equals searching again", arguments: SeededGenerator.seeds(1, 2, 3))
  func equals(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    try withDatabase { database in
      try database.register(Book.self)
      try database.write { tx in
        for key in 0..<30 { try tx.insert(Book(key, &random)) }
      }
      let books = database.query(Book.self)
      let searches = try [
        books.limit(5).searching("whale sea"), books.searching(anyText: "white -storm"),
        books.where { $0.year < 2 }.limit(4, offset: 1).searching("ship OR whale"),
        books.filter { $0.year != 1 }.searching("sea", in: \.title),
      ]
      let live = try searches.map { try $0.live() }
      var elements = live.map { Array($0) }
      var updates = 0
      for round in 0..<60 {
        try database.write { tx in
          let key = random.below(40)
          if random.oneIn(4) {
            _ = try tx.delete(Book.ID(key))
          } else {
            _ = try tx.upsert(Book(key, &random))
          }
        }
        for (number, run) in live.enumerated() where random.oneIn(2) {
          let diff = try run.refresh()
          elements[number] = diff.applied(to: elements[number])
          updates += diff.updates.count
          let wanted = try searches[number].fetch()
          let words = "seed \(seed), round \(round), \(number)"
          #expect(elements[number].map(\.model) == wanted.map(\.model), "\(words)")
          #expect(elements[number].map(\.score) == wanted.map(\.score), "\(words)")
        }
      }
      #expect(updates > 100)
    }
  }

  @Test("is woken by texts that do not answer, and says beforehand that it is run again")
  func scores() throws {
    var random = SeededGenerator(seed: 1)
    try withDatabase { database in
      try database.register(Book.self)
      try database.write { tx in
        for key in 0..<10 { try tx.insert(Book(key, &random)) }
        try tx.update(0 as Book.ID) { ($0.title, $0.year) = ("whale", 1) }
        try tx.update(1 as Book.ID) { ($0.title, $0.year) = ("sea", 2) }
      }
      let search = try database.query(Book.self).where { $0.year == 1 }.searching("whale")
      let words = try search.explainLive()
      #expect(words.contains("search: run again"), "\(words)")
      let live = try search.live()
      let before = try #require(live.first { $0.model.id == 0 })
      try database.update(1 as Book.ID) { $0.title = "whale whale whale whale whale" }
      let diff = try live.refresh()
      #expect(diff.updates.contains { $0.new.model == before.model })
      #expect(live.first { $0.model.id == 0 }?.score != before.score)
      #expect(try search.count() == live.count && search.exists())
    }
  }

  @Test("has places within a distance, which come and go")
  func places() throws {
    var random = SeededGenerator(seed: 2)
    let center = Coordinate(latitude: 5, longitude: 5)
    try withDatabase { database in
      try database.register(Book.self)
      try database.write { tx in for key in 0..<40 { try tx.insert(Book(key, &random)) } }
      let near = database.query(Book.self).near(\.place, to: center, within: 300_000)
        .order(by: \.year)
      let live = try near.live()
      var (arrived, left) = (0, 0)
      for _ in 0..<80 {
        try database.update(Book.ID(random.below(40))) { $0.change(&random) }
        let diff = try live.refresh()
        (arrived, left) = (arrived + diff.insertions.count, left + diff.deletions.count)
        #expect(Array(live) == (try near.order(by: \.id).fetch()))
      }
      #expect(arrived > 5 && left > 5)
      #expect(try near.explainLive().contains("filter in Swift: maintained"))
    }
  }
}
