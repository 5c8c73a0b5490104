import FoundationEssentials
import LMDB

@testable import Cambium

/// The files of the tests, read where the sources lie: the seeds are made of them.
enum Fixtures {
  private static let tests = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Tests")

  /// The content of a file below `Tests`.
  static func bytes(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: tests.appending(path: path)))
  }

  /// The log with every operation and every kind of value.
  static func log() throws -> [UInt8] { try bytes("CambiumTests/Fixtures/format-1/log/data.mdb") }

  /// The first lines of a text file, and all of it where it is short.
  static func beginning(of path: String, lines: Int = 20) throws -> [UInt8] {
    Array(try bytes(path).split(separator: 10).prefix(lines).joined(separator: [10])) + [10]
  }

  /// Lends a directory that is gone afterwards.
  static func withDirectory<R>(_ body: (String) throws -> R) throws -> R {
    let path = FileManager.default.temporaryDirectory
      .appending(path: "cambium-fuzz-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try body(path)
  }

  /// Lends the database of the log with everything in it.
  static func withDatabase<R>(_ body: (Database) throws -> R) throws -> R {
    try withDirectory { directory in
      let log = URL(filePath: "\(directory)/log")
      try FileManager.default.createDirectory(at: log, withIntermediateDirectories: true)
      try Data(Fixtures.log()).write(to: log.appending(path: "data.mdb"))
      let database = try Database(at: directory)
      defer { try? database.close() }
      return try body(database)
    }
  }
}
