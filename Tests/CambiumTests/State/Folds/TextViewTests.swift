// Goal: a text view has exactly what its records say, in blocks that depend on nothing else: not on
// the order of the writes, their grouping, attempts that failed, or the time of the declaration.
// Method: random histories over few words, so that lists have many blocks; a dictionary says what a
// word finds, and the view's bytes are those of a database that got the same records at once.

import FoundationEssentials
import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("A text view", .timeLimit(.minutes(2)))
struct TextViewTests {
  private static let words = (0..<14).map { "word\($0)" } + ["rare"]

  private static var definition: CollectionDefinition {
    var definition = CollectionDefinition()
    definition.views = [ViewDefinition(.text(["title", "tags"], language: nil))]
    return definition
  }

  /// The words of each record.
  private typealias Model = [Key: (title: [String], tags: [String])]

  private struct Undone: Error {}

  /// Commits wait for the state's file only where nobody reads between them.
  @Test(
    "finds what a dictionary says, and is the same however it was made",
    arguments: SeededGenerator.seeds([1, 2]), [true, false])
  func same(seed: UInt64, isRead: Bool) throws {
    var random = SeededGenerator(seed: seed)
    var model: Model = [:]
    func shrink(_ options: inout Database.Options) {
      // The map is full in bodies, searches, attempts, and at their ends.
      options.mapSize = 1 << 17
      options.stepSizes.groupRoom = 1 << 13
    }
    let (entries, isFillingLater) = try withDatabase(shrink) { database in
      try database.declare("texts", Self.definition)
      for _ in 0..<(isRead ? 60 : 400) {
        let count = random.pick(isRead ? [1, 1, 2, 40, 120] : [1, 1, 2, 9])
        try database.write { tx in
          for _ in 0..<count { try Self.change(&model, tx, &random) }
          if isRead, random.oneIn(4) { try Self.expectFound(model, tx[.root].snapshot) }
          var attempted = model
          if random.oneIn(3) {
            try? tx.attempt {
              for _ in 0..<20 { try Self.change(&attempted, tx, &random) }
              if isRead { try Self.expectFound(attempted, tx[.root].snapshot) }
              if random.oneIn(2) { throw Undone() }
              model = attempted
            }
          }
          try Self.change(&model, tx, &random)
        }
        if isRead, random.oneIn(3) { try database.read { try Self.expectFound(model, $0) } }
      }
      try database.read { try Self.expectFound(model, $0) }
      return (try Self.entries(database), random.oneIn(2))
    }
    let blocks = entries.keys.filter { $0.count > 5 }.count
    #expect(blocks > Self.words.count, "the lists have one block each")
    for declaresFirst in [true, false] {
      try withDatabase({ $0.buildsIndexesLater = isFillingLater }) { database in
        if declaresFirst { try database.declare("texts", Self.definition) }
        try database.write { tx in
          for (key, texts) in model { try tx.set(Self.path(key), to: Self.record(texts)) }
        }
        if !declaresFirst { try database.declare("texts", Self.definition) }
        try database.finishIndexBuilds()
        #expect(try Self.entries(database) == entries, "declared first: \(declaresFirst)")
      }
    }
  }

  /// Sets or removes a record, in the model as well.
  private static func change(
    _ model: inout Model, _ tx: borrowing Database.Transaction, _ random: inout SeededGenerator
  ) throws {
    let key = key(random.below(700))
    if random.oneIn(4) {
      if model.removeValue(forKey: key) != nil { try tx.remove(path(key)) }
      return
    }
    let texts = (
      title: (0..<random.below(6)).map { _ in random.pick(Self.words) },
      tags: (0..<random.below(3)).map { _ in random.pick(Self.words) }
    )
    model[key] = texts
    try tx.set(path(key), to: record(texts))
  }

  /// Keys of all kinds: some so long that entries cut them.
  private static func key(_ number: Int) -> Key {
    switch number % 4 {
    case 0, 1: .integer(Int64(number * 3))
    case 2: .text("k\(number)")
    default: .text(String(repeating: "long ", count: 75) + "\(number)")
    }
  }

  private static func path(_ key: Key) -> NodePath { NodePath(keys: ["texts", key]) }

  private static func record(_ texts: (title: [String], tags: [String])) -> Value {
    .map([
      "title": .string(texts.title.joined(separator: " ")),
      "tags": .array(texts.tags.map { .string($0) }),
    ])
  }

  private static func expectFound(_ model: Model, _ snapshot: Snapshot) throws {
    func found(_ query: String) throws -> Set<Key> {
      let found = try snapshot.search("texts", for: TextQuery(parsing: query), limit: .max)
      #expect(Set(found.map(\.key)).count == found.count)
      return Set(found.map(\.key))
    }
    func expected(_ test: (_ title: [String], _ tags: [String]) -> Bool) -> Set<Key> {
      Set(model.filter { test($0.value.title, $0.value.tags) }.keys)
    }
    #expect(try found("word3") == expected { $0.contains("word3") || $1.contains("word3") })
    #expect(try found("title:rare") == expected { title, _ in title.contains("rare") })
    #expect(
      try found("word1*")
        == expected { title, tags in (title + tags).contains { $0.hasPrefix("word1") } })
    #expect(
      try found("word5 -word6")
        == expected { title, tags in
          (title + tags).contains("word5") && !(title + tags).contains("word6")
        })
    #expect(
      try found("\"word2 word4\"")
        == expected { title, _ in
          zip(title, title.dropFirst()).contains { $0 == "word2" && $1 == "word4" }
        })
  }

  /// All entries of views.
  private static func entries(_ database: Database) throws -> [[UInt8]: [UInt8]] {
    var entries: [[UInt8]: [UInt8]] = [:]
    try database.directory.currentState().read { reader in
      try reader.access.forEach(reader.tables.views, startingWith: []) { key, value in
        entries[key.array()] = value.array()
      }
    }
    return entries
  }

  @Test("is asked while a transaction's records are read, with what was written before")
  func asked() throws {
    try withDatabase { database in
      try database.declare("texts", Self.definition)
      try database.write { tx in
        for number in Int64(1)...3 {
          try tx.set(Self.path(.integer(number)), to: ["title": "whale"])
        }
        var found: [Int] = []
        try tx[.root].snapshot.records("texts").forEach { _ in
          let hits = try tx[.root].snapshot.search("texts", for: .word("whale"))
          found.append(try tx.attempt { hits.count })
        }
        #expect(found == [3, 3, 3])
      }
    }
  }

  @Test("is not written in part where a block cannot be read, though the error is caught")
  func partly() throws {
    let place = try Place()
    try place.use { database in
      try database.declare("texts", Self.definition)
      try database.write { tx in
        for number in Int64(1)...9 {
          try tx.set(Self.path(.integer(number)), to: ["title": "a whale"])
        }
      }
    }
    try place.editState { transaction, tables in
      let reader = StateReader(access: transaction.access, tables: tables)
      let whale = Array("whale".utf8)
      var keys: [[UInt8]] = []
      try reader.access.forEach(tables.views, startingWith: []) { key, _ in
        keys.append(key.array())
      }
      for key in keys where key.dropFirst(5).starts(with: whale) {
        try key.lend { key in
          try [200, 1, 255].lend { try transaction.put(tables.views, key, $0) }
        }
      }
    }
    try place.use { database in
      let head = try database.head
      #expect {
        try database.write { tx in
          try tx.set(Self.path(.integer(10)), to: ["title": "another whale"])
          try? tx.attempt { try tx.set(Self.path(.integer(11)), to: ["title": "a whale"]) }
        }
      } throws: { error in
        if case .corrupt? = error as? DatabaseError { true } else { false }
      }
      #expect(try database.head == head)
      try database.rebuild()
      #expect(
        try database.read { try $0.search("texts", for: .word("whale"), limit: 100).count } == 9)
    }
  }

  @Test("takes a block that is damaged for an error, and never for another block")
  func damaged() throws {
    var writer = PostingWriter()
    let keys = (0..<40).map { number in Array("key \(number * number + 1_000)".utf8) }
    for (number, key) in keys.enumerated() {
      key.lend { key in [UInt8(number), 7].lend { writer.add(key, $0) } }
    }
    let block = writer.stored
    func read(_ block: [UInt8]) throws -> [[UInt8]] {
      var reader = PostingReader()
      try block.lend { block in try [].lend { try reader.open(block, beginningAt: $0) } }
      var found: [[UInt8]] = []
      while try reader.next() {
        found.append(reader.lendPlace { $0.array() })
        reader.lendPayload { payload in
          _ = try? TermPlaces.count(in: payload, of: nil)
        }
      }
      return found
    }
    #expect(try read(block) == keys)
    var random = SeededGenerator(seed: 9)
    for _ in 0..<2_000 {
      var wrong = block
      wrong[random.below(wrong.count)] = UInt8(random.below(256))
      _ = try? read(wrong)
      _ = try? read(Array(block.prefix(random.below(block.count))))
    }
  }

  @Test("keeps the places of a term")
  func places() throws {
    var random = SeededGenerator(seed: 4)
    for _ in 0..<200 {
      var all: Set<UInt64> = []
      for _ in 0..<random.below(20) {
        all.insert(UInt64(random.below(4)) << 32 | UInt64(random.below(random.pick([9, 1 << 31]))))
      }
      let places = all.sorted().map {
        TermPlace(property: UInt32($0 >> 32), position: UInt32($0 & 0xFFFF_FFFF))
      }
      var (writer, bytes) = (TermPlacesWriter(), [UInt8]())
      for place in places { writer.add(place, to: &bytes) }
      var read: [TermPlace] = []
      try bytes.lend { try TermPlaces.forEach(in: $0) { read.append($0) } }
      #expect(read == places)
      #expect(
        try bytes.lend { try TermPlaces.count(in: $0, of: 2) } == places.count { $0.property == 2 })
    }
  }
}
