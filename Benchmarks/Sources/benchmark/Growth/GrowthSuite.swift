import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Measures how the cost of an insert, and the size of a model on disk, grow with their number.
///
/// Models with one index, whose keys come in no order, are inserted 1,000 per transaction into
/// databases of ten times as many each. The exponent of the processor time over the number is 1
/// where an insert costs the same in a large database as in a small one.
struct GrowthSuite {
  private struct Point {
    let count: Int
    /// Processor time of all threads, in seconds.
    let cpu: Double
    let bytes: UInt64
  }

  /// The largest exponent, of Cambium.
  private static let bar = 1.10

  private let counts: [Int]
  private let rounds: Int
  private let options: Options
  private let workspace: Workspace

  init(_ options: Options, _ workspace: Workspace) {
    self.options = options
    self.workspace = workspace
    let last = options.count ?? (options.isSmoke ? 10_000 : 1_000_000)
    let first = options.isSmoke ? 100 : 10_000
    counts = Array(sequence(first: first) { $0 * 10 <= last ? $0 * 10 : nil })
    rounds = options.rounds ?? (options.isSmoke ? 1 : 3)
  }

  func run() throws {
    var points: [String: [Point]] = [:]
    for count in counts {
      let trips = (1...count).map { Trip(key: $0, of: count) }
      var rounds: [String: [Point]] = [:]
      for _ in 0..<self.rounds {
        try measure(SQLiteTrips.name, count, &rounds) {
          try SQLiteTrips(directory: $0, isSoon: options.isSoon)
            .insert(trips, perTransaction: 1_000)
        }
        try measure(CambiumTrips.name, count, &rounds) {
          try CambiumTrips(directory: $0, isSoon: options.isSoon)
            .insert(trips, perTransaction: 1_000)
        }
      }
      for (name, own) in rounds {
        points[name, default: []].append(
          Point(count: count, cpu: median(own.map(\.cpu)) ?? 0, bytes: own[0].bytes))
      }
    }
    report(points)
  }

  /// Measures one insertion, until the database is closed.
  private func measure(
    _ name: String, _ count: Int, _ rounds: inout [String: [Point]],
    _ insert: (_ directory: String) throws -> Void
  ) throws {
    guard options.selects(name) else { return }
    let directory = try workspace.directory()
    defer { workspace.remove(directory) }
    let start = ProcessClock.now
    try insert(directory)
    let cpu = Double(ProcessClock.now - start) * 1e-9
    rounds[name, default: []].append(
      Point(count: count, cpu: cpu, bytes: try DiskSpace.bytes(in: directory)))
  }

  // MARK: Report

  private func report(_ points: [String: [Point]]) {
    print("Growth: models of eight properties with one index, 1,000 per transaction; the median of")
    print("\(rounds) rounds.\n")
    var table = Table(
      ["models"] + points.keys.sorted().flatMap { ["\($0): CPU, µs each", "bytes each"] })
    for (index, count) in counts.enumerated() {
      table.add(
        [String(count)]
          + points.keys.sorted().flatMap { name in
            let point = points[name]?[index]
            return [
              point.map { digits($0.cpu * 1e6 / Double(count)) } ?? "–",
              point.map { digits(Double($0.bytes) / Double(count)) } ?? "–",
            ]
          })
    }
    print(table.text + "\n")
    for (name, own) in points.sorted(by: { $0.key < $1.key }) {
      guard let exponent = GrowthSuite.exponent(own) else { continue }
      let isOwn = name == CambiumTrips.name
      let verdict = isOwn ? exponent <= GrowthSuite.bar ? ": pass" : ": **miss**" : ""
      print(
        "Exponent of the processor time, \(name): \(digits(exponent))"
          + (isOwn ? ", bar ≤ \(digits(GrowthSuite.bar))" : "") + verdict)
    }
    print("")
  }

  /// The slope of the time over the number, both as logarithms, by least squares.
  private static func exponent(_ points: [Point]) -> Double? {
    guard points.count > 1 else { return nil }
    let (xs, ys) = (points.map { log(Double($0.count)) }, points.map { log($0.cpu) })
    let count = Double(points.count)
    let (x, y) = (xs.reduce(0, +) / count, ys.reduce(0, +) / count)
    let covariance = zip(xs, ys).reduce(0) { $0 + ($1.0 - x) * ($1.1 - y) }
    return covariance / xs.reduce(0) { $0 + ($1 - x) * ($1 - x) }
  }
}
