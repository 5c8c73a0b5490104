import FoundationEssentials
import LMDB
import Synchronization
import Testing

@testable import Cambium

/// A place for a database that a test opens, closes, damages and opens again.
final class Place: Sendable {
  private let directory: TemporaryDirectory
  let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = "\(directory.path)/test.cambium"
  }

  /// Opens the database, or creates it.
  func open(_ configure: (inout Database.Options) -> Void = { _ in }) throws -> Database {
    var options = Database.Options()
    configure(&options)
    return try Database(at: path, options: options)
  }

  /// Opens the database, and closes it after `body`.
  @discardableResult
  func use<R>(
    _ configure: (inout Database.Options) -> Void = { _ in }, _ body: (Database) throws -> R
  ) throws -> R {
    let database = try open(configure)
    let result = try body(database)
    try database.close()
    return result
  }

  /// Creates a database with nodes `n/1` to `n/count`, one transaction each.
  func fill(_ count: Int64) throws {
    try use { database in
      for number in 0..<count {
        try database.write { tx in try tx.set("n/\(number + 1)", to: .integer(number + 1)) }
      }
    }
  }

  /// Opens the database once more, and checks that it is sound.
  func expectSound(sourceLocation: SourceLocation = #_sourceLocation) throws {
    try use { try CambiumTests.expectSound($0, sourceLocation: sourceLocation) }
  }

  // MARK: Files

  /// The path of the file that holds the log.
  var log: String { "\(path)/log/data.mdb" }

  /// The path of the file that holds the state.
  var state: String {
    get throws {
      let name = try names.first { $0.hasPrefix("state-") && !$0.hasSuffix(".tmp") }
      return "\(path)/\(try #require(name))/data.mdb"
    }
  }

  /// What lies in the database's directory.
  var names: [String] { get throws { try Files.names(in: path) } }

  /// What lies beside the database, and itself.
  var neighbors: [String] { get throws { try Files.names(in: directory.path) } }

  /// A path beside the database.
  func beside(_ name: String) -> String { "\(directory.path)/\(name)" }

  /// Every file below the database's directory, with its size and modification time.
  func listing() throws -> [String] {
    let files = FileManager.default
    return try files.subpathsOfDirectory(atPath: path).sorted().map { name in
      let attributes = try files.attributesOfItem(atPath: "\(path)/\(name)")
      return "\(name) \(attributes[.size] ?? 0) \(attributes[.modificationDate] ?? 0)"
    }
  }
}

/// The diagnostics that a database reported.
final class Heard: Sendable {
  private let all = Mutex<[Diagnostic]>([])

  func add(_ diagnostic: Diagnostic) { all.withLock { $0.append(diagnostic) } }

  /// Why the state was rebuilt, each time.
  var rebuilds: [String] {
    all.withLock { all in
      all.compactMap { if case .stateRebuilt(let reason) = $0 { reason } else { nil } }
    }
  }
}

extension Path: @retroactive ExpressibleByStringInterpolation {}
