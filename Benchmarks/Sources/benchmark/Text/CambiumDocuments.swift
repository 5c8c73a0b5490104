import Cambium

/// Documents in Cambium, whose log keeps their texts as well.
struct CambiumDocuments: DocumentStore {
  static let name = "Cambium"

  private static let collection = "documents" as NodePath
  private let database: Database

  init(directory: String, isSoon: Bool) throws {
    database = try Database(
      at: directory + "/documents.cambium", options: .benchmark(isSoon: isSoon))
    try database.declare(Self.collection, Self.definition(isIndexed: true))
  }

  func load(_ texts: [String], perTransaction: Int) throws {
    for start in stride(from: 0, to: texts.count, by: perTransaction) {
      try database.write { tx in
        for index in start..<min(start + perTransaction, texts.count) {
          let path = NodePath(keys: ["documents", .integer(Int64(index + 1))])
          try tx.set(path, to: .map(["body": .string(texts[index])]))
        }
      }
    }
  }

  func change(_ number: Int, to text: String) throws {
    try database.write { tx in
      try tx.update(
        NodePath(keys: ["documents", .integer(Int64(number))]), ["body": .string(text)])
    }
  }

  func search(_ search: DocumentSearch) throws -> [Double] {
    let query: TextQuery =
      switch search {
      case .word(let word): .word(word)
      case .beginning(let word): .prefix(word)
      case .phrase(let words): .phrase(words)
      case .all(let one, let other): .all([.word(one), .word(other)])
      }
    return try database.read { snapshot in
      try snapshot.search(Self.collection, for: query).map(\.score)
    }
  }

  func rebuild() throws {
    try database.declare(Self.collection, Self.definition(isIndexed: false))
    try database.declare(Self.collection, Self.definition(isIndexed: true))
  }

  func close() throws { try database.close() }

  private static func definition(isIndexed: Bool) -> CollectionDefinition {
    var definition = CollectionDefinition()
    definition.properties = [PropertyDefinition("body", .string)]
    if isIndexed { definition.views = [ViewDefinition(.text(["body"], language: nil))] }
    return definition
  }
}
