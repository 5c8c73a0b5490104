// A sensor log: many writers at once whose flushes are shared, a load in bulk, figures that a view
// keeps, alarms counted exactly once across restarts, and old history that is dropped.

import Cambium
import FoundationEssentials
import Scratch

struct Reading: Model {
  var id = ID()
  var sensor = ""
  var at = Date.distantPast
  var celsius = 0.0

  static let schema = ModelSchema<Reading>("readings") {
    Property(\.celsius).rejected(outside: -80...80)
    Index(\.sensor, \.at.descending)
    Average(\.celsius, by: \.sensor)
  }
}

let begin = Date(timeIntervalSinceReferenceDate: 800_000_000)

func reading(_ sensor: Int, _ minute: Int) -> Reading {
  Reading(
    sensor: "s\(sensor)", at: begin + Double(minute) * 60,
    celsius: Double((sensor * 7 + minute * 3) % 40))
}

/// Eight sensors, each with a task of its own.
func measure(_ database: Database) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    for sensor in 0..<8 {
      group.addTask {
        for minute in 0..<25 {
          try await database.write { tx in _ = try tx.insert(reading(sensor, minute)) }
        }
      }
    }
    try await group.waitForAll()
  }
}

/// Counts the hot readings that it has not counted yet.
func countAlarms(_ database: Database) async throws {
  let alarms = database.consumer("alarms")
  var newest = try database.commits(under: "readings", reversed: true)
  guard let last = try newest.next()?.sequence, try alarms.position() < last else { return }
  for try await commit in try alarms.commits(under: "readings") {
    let count = try commit.changes(of: Reading.self).count { $0.new?.celsius ?? 0 >= 38 }
    try await database.write { tx in
      try tx.increment("alarms", by: .integer(Int64(count)))
      try tx.advance("alarms", to: commit.sequence)
    }
    if commit.sequence == last { break }
  }
}

func load(_ database: Database) throws {
  try database.write { tx in
    try tx.insert(contentsOf: (0..<8).lazy.flatMap { s in (25..<1025).map { reading(s, $0) } })
  }
  do {
    try database.insert(Reading(sensor: "s0", celsius: 900))
    try check(false)
  } catch is DatabaseError {} catch is ValidationError {}
}

/// All answers against sums made by hand.
func ask(_ database: Database) throws {
  let all = (0..<8).map { sensor in (0..<1025).map { reading(sensor, $0) } }
  let means = all.map { $0.map(\.celsius).reduce(0, +) / 1025 }
  let groups = try database.query(Reading.self).group(by: \.sensor)
    .select { ($0.count, $0.average($0.celsius)) }
  try check(
    groups.map(\.0) == (0..<8).map { "s\($0)" }
      && groups.map(\.1) == Array(repeating: 1025, count: 8))
  try check(zip(groups, means).allSatisfy { abs(($0.2 ?? .nan) - $1) < 1e-9 })

  let newest = database.query(Reading.self).where { $0.sensor == "s3" }.order(by: \.at.descending)
  try check(newest.first()?.at == begin + 1024 * 60)
  let hour = newest.where { $0.at.in(begin..<(begin + 3600)) }
  try check(hour.count() == 60 && hour.sum(\.celsius) == all[3][..<60].map(\.celsius).reduce(0, +))

  var (pages, cursor, count) = (0, QueryCursor?.none, 0)
  repeat {
    let page = try newest.limit(400).after(cursor).page()
    (pages, cursor, count) = (pages + 1, page.next, count + page.results.count)
  } while cursor != nil
  try check(pages == 3 && count == 1025)
}

func dropHistory(_ database: Database) throws {
  let before = try database.snapshot(at: .sequence(10)).query(Reading.self).count()
  try check((1...10).contains(before))
  try database.compact(keeping: Retention(transactions: 5))
  do {
    _ = try database.snapshot(at: .sequence(10))
    try check(false)
  } catch DatabaseError.compacted {}
  try check(database.query(Reading.self).count() == 8200)
  try checkSound(database)
}

func opened(_ path: String) throws -> Database { try Database(at: path, for: Reading.self) }

func alarms(_ database: Database) throws -> Value? { try database.read { try $0["alarms"].value } }

let directory = try TemporaryDirectory()
let path = "\(directory.path)/sensors.cambium"
let first = try opened(path)
try await measure(first)
try await countAlarms(first)
let hot = (0..<8).flatMap { s in (0..<25).filter { reading(s, $0).celsius >= 38 } }.count
try check(alarms(first) == .integer(Int64(hot)))
try first.close()

let second = try opened(path)
try await countAlarms(second)
try check(alarms(second) == .integer(Int64(hot)))
try load(second)
try ask(second)
try dropHistory(second)
try second.close()
print("sensors: ok")
