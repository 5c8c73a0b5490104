// Places for the databases of tests and sample apps, and a last look at each.

import Cambium
import FoundationEssentials

/// A directory that is removed when the last reference to it is released.
public final class TemporaryDirectory: Sendable {
  /// Where it is.
  public let path: String

  /// Makes it.
  public init() throws {
    let name = "cambium-client-\(UUID().uuidString)"
    path = FileManager.default.temporaryDirectory.appending(path: name).path()
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A promise that was not kept.
public struct Broken: Error {
  /// The description of what is broken.
  public let what: String
}

/// Verifies a database.
public func checkSound(_ database: Database) throws {
  let findings = try database.verify().findings
  if !findings.isEmpty { throw Broken(what: "not sound: \(findings)") }
}

/// Lends a new database, which must be sound in the end.
public func withDatabase<R>(_ body: (Database) throws -> R) throws -> R {
  let directory = try TemporaryDirectory()
  let database = try Database(at: "\(directory.path)/test.cambium")
  let result = try body(database)
  try checkSound(database)
  try database.close()
  return result
}

/// Lends a new database to code that waits, and checks that it is sound in the end.
public func withDatabase<R>(_ body: (Database) async throws -> R) async throws -> R {
  let directory = try TemporaryDirectory()
  let database = try Database(at: "\(directory.path)/test.cambium")
  let result = try await body(database)
  try checkSound(database)
  try await database.close()
  return result
}

/// Checks what an app promises of itself.
public func check(_ holds: Bool, line: Int = #line) throws {
  if !holds { throw Broken(what: "what line \(line) says does not hold") }
}
