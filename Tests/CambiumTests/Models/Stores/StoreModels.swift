// The stores that are held to the checks, and models that want more than the checks ask for.

import CambiumConformance
import Testing

@testable import Cambium

/// A model whose hooks write.
struct Watched: LifecycleModel, Equatable {
  typealias Key = Int
  var id = ID()
  var name = ""
  var changes = 0
  static let schema = ModelSchema<Watched>("watched")

  mutating func willUpdate(from old: Watched, in transaction: borrowing Database.Transaction) throws
  {
    changes = old.changes + 1
  }

  func willDelete(in transaction: borrowing Database.Transaction) throws {
    if name == "kept" { throw DatabaseError.misuse(reason: "it is to be kept") }
    try transaction.insert(Mourning(name: name))
  }
}

struct Mourning: Cambium.Model, Equatable {
  typealias Key = Int
  var id = ID()
  var name = ""
  static let schema = ModelSchema<Mourning>("mournings")
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
        for model in StoreCheck.models { try await database.register(model) }
        try await body(DatabaseStore(database))
      }
    case .memory:
      let store = try MemoryStore()
      try await body(store)
      try expectSound(store.database, sourceLocation: sourceLocation)
    }
  }
}
