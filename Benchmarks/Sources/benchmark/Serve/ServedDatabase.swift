import Cambium
import CambiumServer
import FoundationEssentials

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A database that is served by a process of its own. It answers its port first, and then each byte
/// with a line:
///
///     r  RssAnon in bytes
///     c  commits a change of a node that streams follow: the time of the commit
///     w  commits changes of a node that nobody follows, for a second: how many, and the processor
///        time of the whole process in nanoseconds
enum ServedDatabase {
  static let argument = "served-database"
  static let itemCount = 10_000

  /// Serves until the input ends.
  static func answer(_ arguments: [String]) throws {
    guard arguments.count == 2 else { throw BenchmarkError("served-database takes a directory") }
    let database = try Database(at: arguments[1] + "/served.cambium")
    try fill(database)
    var options = ServerOptions()
    options.port = 0
    let server = Server(database, options)
    try server.start()
    say(server.url?.split(separator: ":").last.map(String.init) ?? "0")
    var count: Int64 = 0
    while let byte = nextByte() {
      count += 1
      switch byte {
      case UInt8(ascii: "r"): say("\(Memory.current()?.anonymous ?? 0)")
      case UInt8(ascii: "c"):
        try database.write { tx in try tx.set("followed/count", to: .integer(count)) }
        say("\(MonotonicClock.now)")
      default:
        let start = ProcessClock.now
        say("\(try writes(database, for: .seconds(1))) \(ProcessClock.now - start)")
      }
    }
  }

  private static func fill(_ database: Database) throws {
    try database.write { tx in
      for number in 0..<itemCount {
        try tx.set(
          NodePath(keys: ["items", .integer(Int64(number))]),
          to: ["name": .string("item \(number)"), "size": .integer(Int64(number % 100))])
      }
      try tx.set("followed/count", to: 0)
    }
  }

  private static func writes(_ database: Database, for duration: Duration) throws -> Int {
    let end = ContinuousClock.now + duration
    var count = 0
    while ContinuousClock.now < end {
      count += 1
      try database.write { tx in try tx.set("elsewhere/count", to: .integer(Int64(count))) }
    }
    return count
  }

  private static func say(_ line: String) {
    print(line)
    fflush(nil)
  }

  private static func nextByte() -> UInt8? {
    var byte: UInt8 = 0
    while true {
      let count = unsafe read(0, &byte, 1)
      if count == 1 { return byte }
      if count == 0 || errno != EINTR { return nil }
    }
  }
}
