import Cambium
import FoundationEssentials

/// The flights of nycflights13: read from its CSV file, or rows of the same shape.
///
/// The file is 336,776 rows of 19 columns without quotes; what is not a number is text, and an
/// empty
/// cell (or `NA`) is absent.
struct Flights {
  static let rows = 336_776
  static let columns = [
    "year", "month", "day", "dep_time", "sched_dep_time", "dep_delay", "arr_time",
    "sched_arr_time", "arr_delay", "carrier", "flight", "tailnum", "origin", "dest", "air_time",
    "distance", "hour", "minute", "time_hour",
  ]

  let records: [ValueMap]
  let source: String

  /// Reads the file.
  init(csv path: String) throws {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    var lines = text.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == 13 })[...]
    guard let header = lines.popFirst() else { throw BenchmarkError("\(path) is empty") }
    let names = header.split(separator: UInt8(ascii: ",")).map { String(Substring($0)) }
    records = lines.map { line in
      let cells = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      return ValueMap(
        zip(names, cells).compactMap { name, cell in
          Flights.value(Substring(cell)).map { (name: name, value: $0) }
        })
    }
    source = path
  }

  private static func value(_ cell: Substring) -> Value? {
    if cell.isEmpty || cell == "NA" { return nil }
    if let integer = Int64(cell) { return .integer(integer) }
    if let double = Double(cell) { return .double(double) }
    return .string(String(cell))
  }

  /// Makes up rows: thirteen numbers, six texts, one row in forty without times of its own.
  init(count: Int) {
    var random = SeededGenerator(seed: 7)
    records = (0..<count).map { _ in Flights.row(&random) }
    source = "generated"
  }

  private static func row(_ random: inout SeededGenerator) -> ValueMap {
    let isCancelled = random.next(below: 40) == 0
    let measured: Set = ["dep_time", "dep_delay", "arr_time", "arr_delay", "air_time"]
    var row = ValueMap()
    for column in columns where !(isCancelled && measured.contains(column)) {
      row[column] =
        switch column {
        case "carrier": .string(["UA", "AA", "B6", "DL", "EV"][random.next(below: 5)])
        case "tailnum": .string("N\(10_000 + random.next(below: 4_000))")
        case "origin": .string(["EWR", "JFK", "LGA"][random.next(below: 3)])
        case "dest": .string(["ATL", "BOS", "ORD", "LAX", "SFO", "MIA"][random.next(below: 6)])
        case "time_hour": .date(Date(timeIntervalSince1970: flightHour(&random)))
        default: .integer(Int64(random.next(below: 2_400)))
        }
    }
    return row
  }

  /// An hour of 2013.
  private static func flightHour(_ random: inout SeededGenerator) -> Double {
    1_356_998_400 + 3_600 * Double(random.next(below: 8_760))
  }
}
