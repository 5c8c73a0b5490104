// Goal: what a compaction would leave is predicted, and what it leaves is small. Method: a year of
// weather at three stations, each hour an update of one of three nodes, of which 30 days are kept;
// the rows are those of one real week, over and over.

import Cambium
import Foundation
import Synchronization
import Testing

@testable import CambiumCommands

@Suite("A year of weather", .timeLimit(.minutes(5)))
struct WeatherCompactionTests {
  private static let hours = 8705
  private static let month = Duration.seconds(30 * 86_400)

  @Test("of which 30 days are kept takes what was predicted, and less than as JSON lines")
  func compaction() async throws {
    let made = FileManager.default.temporaryDirectory
      .appending(path: "cambium-weather-\(UUID().uuidString).cambium").path
    let (predicted, done) = try await compacted(made)
    try Workplace.with { place in
      let path = "\(place.folder)/weather.cambium"
      try FileManager.default.moveItem(atPath: made, toPath: path)
      print("predicted \(predicted.bytesAfter) bytes, taken \(done.bytesAfter)")
      #expect(predicted.transactions == done.transactions && done.transactions > 20_000)
      let error = Double(predicted.bytesAfter) / Double(done.bytesAfter) - 1
      #expect(abs(error) <= 0.05, "the prediction is off by \(error)")
      try Database.vacuum(at: path)
      let files = try place.run(
        "cat */log/data.mdb */state-*/data.mdb */baseline-*/data.mdb | wc -c")
      let lines = try place.run(
        """
        (cambium export weather.cambium -o json
        for s in EWR JFK LGA; do cambium history weather.cambium weather/$s --json; done) | wc -c
        """)
      print("files \(files.trimmed) bytes, JSON lines \(lines.trimmed)")
      #expect(try #require(Int(files.trimmed)) < #require(Int(lines.trimmed)))
      #expect(try place.run("cambium verify weather.cambium -q") == "")
    }
  }

  /// Makes the database, plans, and compacts.
  private func compacted(_ path: String) async throws -> (plan: Compaction, done: Compaction) {
    let rows = try stations()
    let clock = Mutex<Int64>(1_357_020_000_000_000)
    var options = Database.Options()
    options.clock = {
      clock.withLock { time in
        time += 1_200_000_000
        return Date(timeIntervalSince1970: Double(time) / 1_000_000)
      }
    }
    let database = try Database(at: path, options: options)
    for start in stride(from: 0, to: Self.hours, by: 100) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for hour in start..<min(start + 100, Self.hours) {
          for (station, records) in rows {
            group.addTask {
              try await database.write { tx in
                let record = records[hour % records.count]
                try tx.set(NodePath(keys: ["weather", Key(station)]), to: .map(record))
              }
            }
          }
        }
        try await group.waitForAll()
      }
    }
    #expect(try database.head == 26_115)
    let keep = Retention(duration: Self.month)
    let result = (
      try database.planCompaction(keeping: keep), try await database.compact(keeping: keep)
    )
    try await database.close()
    return result
  }

  /// The rows of each station.
  private func stations() throws -> [(name: String, rows: [ValueMap])] {
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixtures/nycflights13-week/weather.csv").path
    let mark = try #require(AbsentMark("NA"))
    var reader = try CSVReader(ByteSource(path: path), absent: mark)
    let types = try ColumnTypes(of: &reader)
    try reader.rewind()
    var rows: [String: [ValueMap]] = [:]
    while try reader.next() {
      var record = try types.record(reader)
      guard case .string(let station)? = record["origin"] else { continue }
      record["origin"] = nil
      rows[station, default: []].append(record)
    }
    return rows.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

extension String {
  fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}
