import Cambium

/// A small database with all that a state can hold: nodes, history, removals, long values, counts,
/// indexes (plain, unique, plural, covering), views (groups, first records, words).
package struct Library {
  private static let words = [
    "whale", "shark", "river", "stone", "night", "lamp", "garden", "winter", "glass", "harbor",
    "train", "letter", "music", "paper", "cloud",
  ]
  private static let books = 800

  /// Fills an empty database.
  package static func fill(_ database: Database, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed, 4)
    for shelf in 0..<40 {
      try database.write { tx in
        for number in 0..<20 { try add(shelf * 20 + number, tx, &random) }
        let text = String(repeating: "x", count: random.pick([10, 100, 5000]))
        try tx.set(NodePath("notes/n\(shelf)/text"), to: .string(text))
      }
    }
    try database.declare("books", definition)
    for _ in 0..<60 {
      try database.write { tx in
        for _ in 0..<10 { try add(random.below(books), tx, &random) }
      }
    }
    for number in 0..<30 {
      try database.write { tx in try tx.remove(NodePath(path(number * 9))) }
    }
  }

  private static func add(
    _ number: Int, _ tx: borrowing Database.Transaction, _ random: inout SeededGenerator
  ) throws {
    let title = (0..<4).map { _ in random.pick(words) }.joined(separator: " ")
    let tags = [random.pick(words), random.pick(words)]
    let record: ValueMap = [
      "title": .string(title), "code": .integer(Int64(number * 7)),
      "author": .string("a\(number % 37)"), "pages": .integer(Int64(random.below(900))),
      "tags": .array(tags.map { .string($0) }),
    ]
    try tx.set(NodePath(path(number)), to: .map(record))
  }

  private static func path(_ number: Int) -> String { "books/b\(1000 + number)" }

  private static var definition: CollectionDefinition {
    var definition = CollectionDefinition()
    var covering = IndexDefinition([.init("author"), .init("pages", isDescending: true)])
    covering.covered = ["title"]
    var unique = IndexDefinition([.init("code")])
    unique.isUnique = true
    definition.indexes = [
      IndexDefinition([.init("pages")]), covering, IndexDefinition([.init("tags")]), unique,
    ]
    definition.views = [
      ViewDefinition(.groups(by: ["author"], [.count, .sum("pages"), .maximum("pages")])),
      ViewDefinition(.top(by: ["author"], [.init("pages", isDescending: true)])),
      ViewDefinition(.text(["title"], language: "en")),
    ]
    return definition
  }

  // MARK: Questions

  /// The questions, each with a function that gives its answer as a text.
  package static let questions: [(name: String, ask: @Sendable (Database) throws -> String)] = [
    ("look-ups", { try lookUps($0) }), ("walks", { try walks($0) }),
    ("properties", { database in try database.read { "\(try $0.propertyNames)" } }),
    ("history", { try history($0) }), ("the past", { try past($0) }),
    ("differences", { try "\($0.diff(from: .sequence(70)).fetch())" }),
    ("counts", { try counts($0) }), ("queries", { try queries($0) }),
    ("groups", { try ask($0, ["books | group by author select count, sum(pages), max(pages)"]) }),
    ("words", { try words($0) }), ("declarations", { try declarations($0) }),
  ]

  private static func lookUps(_ database: Database) throws -> String {
    try database.read { snapshot in
      try (0..<books).map { number in
        let node = try snapshot[NodePath(path(number))]
        return try "\(node.value.map { "\($0)" } ?? "none") \(node.modified?.rawValue ?? 0)"
      }.joined(separator: "\n") + "\(try snapshot["books/none"].exists)"
    }
  }

  private static func walks(_ database: Database) throws -> String {
    try database.read { snapshot in
      var lines: [String] = []
      var cursor = try snapshot.root.descendants()
      while let node = try cursor.next() {
        lines.append("\(node.path) \(try node.modified?.rawValue ?? 0)")
      }
      try snapshot["books"].children.reversed().forEach { lines.append("\($0.path)") }
      return lines.joined(separator: "\n")
    }
  }

  private static func history(_ database: Database) throws -> String {
    try (0..<20).map { number in
      try database.history(of: NodePath(path(number * 9))).fetch()
        .map { "\($0.kind) \($0.new.map { "\($0)" } ?? "none")" }.joined(separator: "\n")
    }.joined(separator: "\n")
  }

  private static func past(_ database: Database) throws -> String {
    try [5, 60, 110].map { moment in
      try database.read(at: .sequence(moment)) { snapshot in
        try snapshot["books"].children.fetch().map {
          "\($0.path) \(try $0.value.map { "\($0)" } ?? "")"
        }
        .joined(separator: "\n")
      }
    }.joined(separator: "\n")
  }

  private static func counts(_ database: Database) throws -> String {
    try database.read { "\(try $0["books"].childCount) \(try $0["notes"].childCount)" }
  }

  private static func queries(_ database: Database) throws -> String {
    try ask(
      database,
      [
        "books where pages >= 400 and pages < 600 sort pages, id", "books where code = 700",
        "books where code = 701", "books where author = \"a3\" sort -pages limit 5",
        "books where tags has \"whale\"", "books where pages > 300 | count",
      ])
  }

  private static func ask(_ database: Database, _ queries: [String]) throws -> String {
    try database.read { snapshot in
      try queries.map { text in
        let query = try snapshot.records(text)
        if text.hasSuffix("count") { return "\(try query.count())" }
        return try query.fetch().map { "\($0.path) \($0.values)" }.joined(separator: "\n")
      }.joined(separator: "\n")
    }
  }

  private static func words(_ database: Database) throws -> String {
    try database.read { snapshot in
      try ["whale", "river stone", "nothing", "gard*"].map { text in
        try snapshot.search("books", for: TextQuery(parsing: text), limit: 1000)
          .map { "\($0.key) \($0.score)" }.joined(separator: "\n")
      }.joined(separator: "\n")
    }
  }

  private static func declarations(_ database: Database) throws -> String {
    try database.read { snapshot in
      "\(try snapshot.definition(of: "books").map { "\($0.indexes) \($0.views)" } ?? "none")"
    }
  }
}
