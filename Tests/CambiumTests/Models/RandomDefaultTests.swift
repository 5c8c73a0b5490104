// Goal: what a record lacks means its default wherever it is asked, at every moment. Method:
// versions of a model, with random properties, defaults, rules, indexes and views, from a seed that
// is printed; between them models and records of tools are written. Maps in memory, in which every
// record has a value for everything, say what each question must give: now and then, typed and as
// text, before and after the database is rebuilt.

import Foundation
import Simulation
import Synchronization
import Testing

@testable import Cambium

@Suite("Random defaults", .serialized)
struct RandomDefaultTests {
  @Test(
    "are what absence means, whatever is asked",
    arguments: SeededGenerator.seeds(1, 2, 3))
  func versions(seed: UInt64) throws {
    print("seed \(seed)")
    let history = try DefaultHistory(seed: seed)
    for version in 1...5 { try history.step(version) }
    try history.finish()
  }
}

/// A database, and maps of what it must hold.
private final class DefaultHistory {
  typealias Row = [String: Value]

  private let directory: TemporaryDirectory
  private var database: Database
  private var random: SeededGenerator
  private var moments: [(sequence: SequenceNumber, rows: [Int: Row])] = []
  private var rows: [Int: Row] = [:]
  /// The names that the newest version has, and what an absent value means in it.
  private var defaults: Row = [:]
  private var isOptional = true
  private var links: [Int: Int] = [:]

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    directory = try TemporaryDirectory()
    database = try Database(at: directory.path + "/a.cambium")
    DefaultItem.initial.withLock { $0 = [:] }
  }

  // MARK: Versions

  func step(_ version: Int) throws {
    try declare(version)
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      try write()
      moments.append((try database.snapshot().sequence, rows))
    }
    try check()
    if Bool.random(using: &random) {
      try database.rebuild()
      try check()
    }
  }

  func finish() throws {
    for (sequence, rows) in moments.shuffled(using: &random).prefix(6) {
      try check(try database.snapshot(at: .sequence(sequence)), rows)
    }
    try expectSound(database)
    try database.close()
  }

  private func declare(_ version: Int) throws {
    var names = Set(defaults.keys)
    for name in DefaultItem.names where Int.random(in: 0..<5, using: &random) < 2 {
      names.insert(name)
    }
    if version == 1 { names = ["country", "number"] }
    if version == 5 { names = Set(DefaultItem.names) }
    let (before, wasOptional) = (defaults, isOptional)
    isOptional = isOptional && version < 3
    for name in names where before[name] == nil || Int.random(in: 0..<3, using: &random) == 0 {
      defaults[name] = constant(name, isInitial: true)
    }
    if isOptional {
      defaults["number"] = .null
    } else if wasOptional {
      defaults["number"] = constant("number")
    }
    let initial = defaults.filter { $0.value != .null }
    DefaultItem.initial.withLock { $0 = initial }
    let schema = makeSchema(version, names, isNew: { before[$0] == nil })
    DefaultItem.schemas.withLock { $0.append(schema) }

    try database.close()
    let migrates = Bool.random(using: &random)
    let goOn: ProgressHandler = { _ in true }
    database = try Database(
      at: directory.path + "/a.cambium", for: DefaultItem.self, DefaultLink.self,
      migrating: migrates ? goOn : nil)
    // A value never declared means the first default; nil has no place in what is not optional.
    func complete(_ rows: inout [Int: Row]) {
      for id in rows.keys {
        for name in names where rows[id]?[name] == nil { rows[id]?[name] = defaults[name] }
        if !isOptional && rows[id]?["number"] == .null { rows[id]?["number"] = defaults["number"] }
      }
    }
    complete(&rows)
    for index in moments.indices { complete(&moments[index].rows) }
    // Where records rely on a default, it counts until they are migrated.
    let declared = try database.read { try $0.definition(of: "items") }
    for name in names {
      let absence = declared?[name]?.absence ?? .null
      if migrates || before[name] == nil { #expect(absence == defaults[name], "\(name)") }
      defaults[name] = absence
    }
  }

  private func makeSchema(
    _ version: Int, _ names: Set<String>, isNew: (String) -> Bool
  ) -> ModelSchema<DefaultItem> {
    let (isIndexed, isRequired) = (Bool.random(using: &random), Bool.random(using: &random))
    func has(_ name: String) -> Bool { names.contains(name) }
    return ModelSchema<DefaultItem>(listing: "items", version: version) {
      Property("id", \.id)
      SchemaLines { items in
        if has("country") { items.append(Property("country", \.country).item) }
        if has("level") {
          items.append(
            (isRequired ? Property("level", \.level).required() : Property("level", \.level)).item)
        }
        if has("ratio") { items.append(Property("ratio", \.ratio).item) }
        if has("flag") { items.append(Property("flag", \.flag).item) }
        if has("note") { items.append(Property("note", \.note).item) }
        if has("rank") { items.append(Property("rank", \.rank).item) }
        if has("tags") { items.append(Property("tags", \.tags).item) }
        items.append(
          self.isOptional ? Property("number", \.maybe).item : Property("number", \.number).item)
        guard isIndexed else { return }
        items.append(Index(\.country).item)
        items.append(Count(by: \.country).item)
        if has("level") {
          items.append(Index(\.level.descending, \.country).covering(\.level).item)
        }
        if has("level") { items.append(Sum(\.level, by: \.country).item) }
        if has("tags") { items.append(Index(\.tags).item) }
        if has("rank") { items.append(Index(\.rank).item) }
        if has("note") { items.append(Count(by: \.note).item) }
        if !self.isOptional { items.append(Index(\.number).item) }
      }
    }
  }

  private func constant(_ name: String, isInitial: Bool = false) -> Value {
    switch name {
    case "country": .string(["NL", "DE", "", "FR"].randomElement(using: &random) ?? "")
    case "level": .integer(Int64.random(in: 0...3, using: &random))
    case "ratio": .double([0, 0.5, 2].randomElement(using: &random) ?? 0)
    case "flag": .bool(Bool.random(using: &random))
    case "note": [.null, "none", "x"].randomElement(using: &random) ?? .null
    case "rank": [.null, 1, 5].randomElement(using: &random) ?? .null
    case "number":
      isOptional && !isInitial && Bool.random(using: &random)
        ? .null : .integer(Int64.random(in: 0...3, using: &random))
    default: [.array([]), ["a"], ["a", "b"]].randomElement(using: &random) ?? .array([])
    }
  }

  // MARK: Writing

  private func write() throws {
    try database.write { tx in
      for _ in 0..<6 {
        let id = Int.random(in: 1...30, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0, 1: try insert(id, tx)
        case 2: try insertAsTool(id, tx)
        case 3 where rows[id] != nil:
          try tx.delete(DefaultItem.ID(id))
          rows[id] = nil
        case 4 where rows[id] != nil: try update(id, tx)
        case 5 where rows[id]?["level"] != nil:
          try tx.increment(DefaultItem.ID(id), \.level, by: 2)
          if case .integer(let level)? = rows[id]?["level"] {
            rows[id]?["level"] = .integer(level + 2)
          }
        default:
          try tx.upsert(DefaultLink(id: .init(id), item: .init(id / 2 + 1)))
          links[id] = id / 2 + 1
        }
      }
    }
  }

  private func stored(_ name: String) -> String { name == "number" && isOptional ? "maybe" : name }

  private func insert(_ id: Int, _ tx: borrowing Database.Transaction) throws {
    var item = DefaultItem()
    item.id = .init(id)
    var row: Row = [:]
    for name in defaults.keys.sorted() {
      if Bool.random(using: &random) { item[stored(name)] = constant(name) }
      row[name] = item[stored(name)]
    }
    try tx.upsert(item)
    rows[id] = row
  }

  private func insertAsTool(_ id: Int, _ tx: borrowing Database.Transaction) throws {
    var record = DynamicRecord(try NodePath("items/\(id)"))
    var row = defaults
    for name in defaults.keys.sorted() where Bool.random(using: &random) {
      record[name] = constant(name)
      row[name] = record[name]
      if row[name] == .null, name == "number", !isOptional { row[name] = defaults[name] }
    }
    try tx.upsert(record)
    rows[id] = row
  }

  private func update(_ id: Int, _ tx: borrowing Database.Transaction) throws {
    let name = defaults.keys.sorted().randomElement(using: &random) ?? "country"
    let value = constant(name)
    try tx.update(DefaultItem.ID(id)) { $0[self.stored(name)] = value }
    rows[id]?[name] = value
  }

  // MARK: Asking

  private func check() throws {
    try check(try database.snapshot(), rows)
    for (sequence, rows) in moments.shuffled(using: &random).prefix(3) {
      try check(try database.snapshot(at: .sequence(sequence)), rows)
    }
  }

  private func check(_ snapshot: Snapshot, _ rows: [Int: Row]) throws {
    let place: Comment = "as of \(snapshot.sequence)"
    for item in try snapshot.all(DefaultItem.self).fetch() {
      let row = try #require(rows[item.id.key], place)
      for (name, value) in row where defaults[name] != nil {
        #expect(item[stored(name)] == value, "\(place) \(item.id.key) \(name)")
        let node = snapshot[try item.id.path]
        #expect(try node[name] ?? .null == value, "\(place) \(item.id.key) \(name)")
        #expect(try node.record?[name] ?? .null == value, "\(place) \(item.id.key) \(name)")
      }
    }
    #expect(try snapshot.count(DefaultItem.self) == rows.count, place)
    for name in defaults.keys.sorted() {
      try ask(snapshot, rows, name, place)
      try askForFigures(snapshot, rows, name, place)
    }
    try askTyped(snapshot, rows, place)
    try askBehindLinks(snapshot, rows, place)
  }

  private func ask(
    _ snapshot: Snapshot, _ rows: [Int: Row], _ name: String, _ place: Comment
  ) throws {
    let wanted = name == "tags" ? "a" : constant(name)
    func value(_ row: Row) -> Value { row[name] ?? .null }
    var questions: [(String, (Row) -> Bool)] = [
      ("\(name) = null", { value($0) == .null }), ("\(name) != null", { value($0) != .null }),
    ]
    if name == "tags" {
      questions.append(("tags has $1", { $0[name].map { "\($0)".contains("\"a\"") } ?? false }))
    } else if wanted != .null {
      questions += [
        ("\(name) = $1", { value($0) == wanted }), ("\(name) != $1", { value($0) != wanted }),
        ("\(name) in ($1)", { value($0) == wanted }),
      ]
      if case .integer(let bound) = wanted {
        questions.append(
          (
            "\(name) > $1 and country != \"FR\"",
            { row in
              guard case .integer(let number) = value(row) else { return false }
              return number > bound && row["country"] != "FR"
            }
          ))
      }
    }
    for (text, holds) in questions {
      let text = text.replacing("$1", with: literal(wanted))
      let query = try snapshot.records("items where \(text)")
      let plan = try query.explain()
      let found = try query.fetch().map { $0.path.description }.sorted()
      let expected = rows.filter { holds($0.value) }.map { "items/\($0.key)" }.sorted()
      #expect(found == expected, "\(place): \(text), \(wanted)\n\(plan)")
      #expect(try query.count() == expected.count, "\(place): count of \(text), \(wanted)")
    }
  }

  private func literal(_ value: Value) -> String {
    switch value {
    case .string(let text): "\"\(text)\""
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    case .bool(let flag): "\(flag)"
    default: "null"
    }
  }

  private func askForFigures(
    _ snapshot: Snapshot, _ rows: [Int: Row], _ name: String, _ place: Comment
  ) throws {
    let selected = try snapshot.records("items sort id select id, \(name)").fetch()
    #expect(
      selected.map { $0[name] ?? .null }
        == rows.sorted { $0.key < $1.key }.map { $0.value[name] ?? .null }, "\(place) \(name)")
    if name == "tags" { return }
    var counts: [Value: Int64] = [:]
    for row in rows.values { counts[row[name] ?? .null, default: 0] += 1 }
    for group in try snapshot.records("items | group by \(name) select count").fetch() {
      let value = group[name] ?? .null
      let known = counts.removeValue(forKey: value) ?? counts.removeValue(forKey: value.asDouble)
      #expect(group["count"] == known.map { .integer($0) }, "\(place) \(name) \(value)")
    }
    #expect(counts.isEmpty, "\(place) \(name)")
  }

  private func askTyped(_ snapshot: Snapshot, _ rows: [Int: Row], _ place: Comment) throws {
    let query = snapshot.query(DefaultItem.self)
    func keys(_ query: ModelQuery<DefaultItem>) throws -> [Int] {
      try query.fetch().map(\.id.key).sorted()
    }
    func wanted(_ holds: (Row) -> Bool) -> [Int] { rows.filter { holds($0.value) }.keys.sorted() }
    for country in ["NL", "DE", ""] {
      let found = try keys(query.where { $0.country == country })
      #expect(found == wanted { $0["country"] == .string(country) }, "\(place) \(country)")
    }
    if defaults["level"] != nil {
      let levels = rows.values.map { row -> Int in
        if case .integer(let level)? = row["level"] { Int(level) } else { 0 }
      }
      #expect(try query.sum(\.level) == levels.reduce(0, +), place)
      #expect(try query.order(by: \.level).select(\.level).fetch() == levels.sorted(), place)
    }
    if defaults["rank"] != nil {
      #expect(try keys(query.where { $0.rank == nil }) == wanted { $0["rank"] == .null }, place)
    }
  }

  private func askBehindLinks(
    _ snapshot: Snapshot, _ rows: [Int: Row], _ place: Comment
  ) throws {
    guard snapshot.moment == nil else { return }
    let countries = links.mapValues { rows[$0]?["country"] ?? .null }
    let behind = try snapshot.records("links where item.country = $1", "NL").fetch().map(
      \.path.description)
    #expect(
      behind.sorted() == countries.filter { $0.value == "NL" }.map { "links/\($0.key)" }.sorted(),
      place)
    let shown = try snapshot.records("links sort id select item.country").fetch()
    #expect(
      shown.map { $0["item.country"] ?? .null }
        == countries.sorted { $0.key < $1.key }.map(\.value), place)
  }
}

extension Value {
  fileprivate var asDouble: Value {
    if case .integer(let number) = self { .double(Double(number)) } else { self }
  }
}
