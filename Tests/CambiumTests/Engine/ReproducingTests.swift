import FoundationEssentials
import Synchronization
import Testing

@testable import Cambium

@Suite("A database with time and chance from a seed")
struct ReproducingTests {
  /// The records that the same calls write, and the ids that they make.
  private func run(
    _ configure: (inout Database.Options) -> Void
  ) throws -> (records: [[UInt8]], ids: [Flight.ID], format: FormatEntry) {
    try withDatabase(configure) { database in
      try database.register(Airline.self, Airport.self, Flight.self)
      try database.insert(Airport(id: "JFK"))
      let ids = try database.write { tx in
        try tx.insert(contentsOf: (1...5).map { Flight(origin: "JFK", number: $0) })
      }
      try database.write(metadata: ["who": "ada"]) { tx in
        try tx.increment(ids[0], \.number, by: 2)
        try tx.event("done")
      }
      let records = try (1...(try database.head.rawValue)).map { number in
        try database.directory.log.read { try $0.record(SequenceNumber(number)) }.stored()
      }
      return (records, ids, database.directory.format)
    }
  }

  @Test("writes the same bytes each time")
  func same() throws {
    let (first, second) = (
      try run { $0.makeReproducible(seed: 7) }, try run { $0.makeReproducible(seed: 7) }
    )
    #expect(first.records == second.records && first.ids == second.ids)
    #expect(first.format == second.format && first.records.count > 3)
    #expect(first.ids == first.ids.sorted())
    let other = try run { $0.makeReproducible(seed: 8) }
    #expect(other.ids != first.ids && other.records != first.records)
    let (one, two) = (try run { _ in }, try run { _ in })
    #expect(one.ids != two.ids && one.records != two.records)
  }

  @Test("takes its time from where it is told to")
  func clock() throws {
    let start = Date(timeIntervalSince1970: 1_000_000_000)
    try withDatabase({ $0.makeReproducible(seed: 1, from: start) }) { database in
      try database.write { tx in try tx.set("a", to: 1) }
      var commits = try database.commits()
      let time = try #require(try commits.next()).time
      #expect(time > start && time < start + 1)
    }
  }
}

@Suite("The trace of queries")
struct QueryTraceTests {
  private final class Traces: Sendable {
    let all = Mutex<[QueryTrace]>([])
  }

  @Test("tells of each answer how it was found, and what that took")
  func traces() throws {
    let traces = Traces()
    try withDatabase({ $0.queryTrace = { trace in traces.all.withLock { $0.append(trace) } } }) {
      database in
      try database.register(Airline.self, Airport.self, Flight.self)
      try database.write { tx in
        try tx.insert(contentsOf: ["JFK", "LGA"].map { Airport(id: $0) })
        try tx.insert(
          contentsOf: (1...40).map { Flight(origin: $0 > 37 ? "JFK" : "LGA", number: $0) })
      }
      traces.all.withLock { $0 = [] }
      let query = database.query(Flight.self)
      #expect(try query.where { $0.number > 30 }.fetch().count == 10)
      #expect(try query.where { $0.origin == "JFK" }.limit(3).fetch().count == 3)
      #expect(try query.where { $0.number > 30 }.count() == 10)
      let found = traces.all.withLock { $0 }
      #expect(found.map(\.results) == [10, 3, 10])
      #expect(found.map(\.collection) == ["flights", "flights", "flights"])
      #expect(found[0].plan.hasPrefix("scan flights") && found[0].recordsRead == 40)
      #expect(found[0].accepted == 10 && found[2].accepted == 10)
      #expect(found[1].plan.hasPrefix("use the index") && found[1].recordsRead == 3)
      #expect(found[1].description.hasPrefix("query of flights in "))
      let head = try database.head
      #expect(found.allSatisfy { $0.sequence == head && $0.duration > .zero })
    }
  }
}
