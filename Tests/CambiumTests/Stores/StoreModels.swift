// The models of the stores' tests: every rule that a schema can declare as data, and one in code.

import FoundationEssentials
import Testing

@testable import Cambium

struct Owner: Cambium.Model, Equatable {
  typealias Key = String
  var id = ID()
  var name = ""
  var since = Date(microseconds: 0)

  static let schema = Schema<Owner>("owners") {
    Property(\.name).validated("must not be 'nobody'") { $0 != "nobody" }
    Unique(\.name.ignoringCase)
  }
}

struct Pet: Cambium.Model, Equatable {
  typealias Key = Int
  var id = ID()
  var owner: Owner.ID?
  var sitter: Owner.ID?
  var vet: Owner.ID?
  var mother: Pet.ID?
  var friends: [Pet.ID] = []
  var name = ""
  var age = 0
  var weight: Double?
  var chip: String?

  static let schema = Schema<Pet>("pets") {
    Property(\.owner).onDelete(.cascade).mustExist(false).required()
    Property(\.sitter).onDelete(.nullify).mustExist()
    Property(\.vet).onDelete(.deny).mustExist(false)
    Property(\.mother).onDelete(.cascade).mustExist(false)
    Property(\.friends).onDelete(.nullify).mustExist(false)
    Property(\.age).clamped(to: 0...30)
    Property(\.weight).rejected(outside: 0...100)
    Unique(\.chip)
    Index(\.owner, \.age.descending)
    Count(by: \.owner)
  }
}

/// A model that wants a transaction.
struct Watched: LifecycleModel, Equatable {
  var id = ID()
  static let schema = Schema<Watched>("watched")
}

/// The stores that there are.
enum StoreKind: CaseIterable {
  case database, memory

  /// Lends an empty store.
  func lend(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (any ModelStore) async throws -> Void
  ) async throws {
    switch self {
    case .database:
      try await withDatabase(sourceLocation: sourceLocation) { database in
        try await database.register(Owner.self, Pet.self)
        try await body(DatabaseStore(database))
      }
    case .memory: try await body(MemoryStore(for: Owner.self, Pet.self))
    }
  }
}

/// An error without what stores may say in their own words.
func told(_ error: any Error) -> String {
  switch error {
  case DatabaseError.exists(let path, _): "exists \(path)"
  case DatabaseError.notFound(let path, _): "not found \(path)"
  case DatabaseError.misuse: "misuse"
  default: "\(error)"
  }
}
