import FoundationEssentials
import Testing

@testable import Cambium

/// A directory of a test's own, which goes when the test lets go of it.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    let name = "cambium-test-\(UUID().uuidString)"
    path = FileManager.default.temporaryDirectory.appending(path: name).path()
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Lends a new database, which must be sound in the end.
func withDatabase<R>(
  _ configure: (inout Database.Options) -> Void = { _ in },
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (Database) throws -> R
) throws -> R {
  let directory = try TemporaryDirectory()
  let database = try open(in: directory, configure)
  let result = try body(database)
  try expectSound(database, sourceLocation: sourceLocation)
  try database.close()
  return result
}

/// Lends a new database to a test that waits, and checks that it is sound in the end.
func withDatabase<R>(
  _ configure: (inout Database.Options) -> Void = { _ in },
  sourceLocation: SourceLocation = #_sourceLocation,
  isolation actor: isolated (any Actor)? = #isolation,
  _ body: (Database) async throws -> R
) async throws -> R {
  let directory = try TemporaryDirectory()
  let database = try open(in: directory, configure)
  let result = try await body(database)
  try expectSound(database, sourceLocation: sourceLocation)
  try await database.close()
  return result
}

private func open(
  in directory: TemporaryDirectory, _ configure: (inout Database.Options) -> Void
) throws -> Database {
  var options = Database.Options()
  configure(&options)
  return try Database(at: "\(directory.path)/test.cambium", options: options)
}

/// Verifies a database.
///
/// - Returns: The digest of its canonical dump.
@discardableResult
func expectSound(
  _ database: Database, sourceLocation: SourceLocation = #_sourceLocation
) throws -> [UInt8] {
  let verification = try database.verify()
  #expect(verification.findings == [], sourceLocation: sourceLocation)
  return verification.digest
}
