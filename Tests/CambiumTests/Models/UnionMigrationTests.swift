// Goal: an enum of models changes as a plain model does: properties of one case or of all, the
// names of its cases, and which cases there are; lazily where that can be, and in bulk. Method: the
// animals of a zoo in several forms of one collection; what must be there is written out. Random
// forms are in RandomUnionMigrationTests.

import Foundation
import Synchronization
import Testing

@testable import Cambium

// MARK: The first form

private enum Animal1: ModelUnion {
  typealias Key = Int
  case cat(Cat), dog(Dog), bird(Bird)
  static let cases = ModelCases<Animal1>(
    ModelCase("cat", Animal1.cat) { if case .cat(let it) = $0 { it } else { nil } },
    ModelCase("dog", Animal1.dog) { if case .dog(let it) = $0 { it } else { nil } },
    ModelCase("bird", Animal1.bird) { if case .bird(let it) = $0 { it } else { nil } })
  static let schema = ModelSchema<Animal1>(union: "animals") { Index(\.type) }

  struct Cat: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var title = ""
    var lives = "9"
    static let schema = ModelSchema<Cat>(caseOf: Animal1.self) { Index(\.title) }
  }
  struct Dog: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var title = ""
    var weight = 1.0
    static let schema = ModelSchema<Dog>(caseOf: Animal1.self)
  }
  struct Bird: Cambium.Model {
    typealias Key = Int
    var id = ID()
    var title = ""
    var span = 0
    static let schema = ModelSchema<Bird>(caseOf: Animal1.self)
  }
}

// MARK: The second form: read lazily

private enum Animal2: ModelUnion, Equatable {
  typealias Key = Int
  case cat(Cat), hound(Hound), bird(Bird)
  static let cases = ModelCases<Animal2>(
    ModelCase("cat", Animal2.cat) { if case .cat(let it) = $0 { it } else { nil } },
    ModelCase("hound", Animal2.hound) { if case .hound(let it) = $0 { it } else { nil } }
      .was("dog"),
    ModelCase("bird", Animal2.bird) { if case .bird(let it) = $0 { it } else { nil } })
  static let schema = ModelSchema<Animal2>(union: "animals", version: 2) {
    Index(\.type)
    Count(by: \.type)
  }

  struct Cat: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var name = ""
    var lives = 9
    static let schema = ModelSchema<Cat>(caseOf: Animal2.self) {
      Property(\.name).was("title")
      Property(\.lives).was("lives", as: String.self) { Int($0) ?? 0 }
      Index(\.name)
      Index(\.lives)
    }
  }
  struct Hound: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var name = ""
    var weight = 1.0
    static let schema = ModelSchema<Hound>(caseOf: Animal2.self) {
      Property(\.name).was("title")
      Index(\.name)
    }
  }
  /// Keeps the property that the others rename.
  struct Bird: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var title = ""
    static let schema = ModelSchema<Bird>(caseOf: Animal2.self) { Removed("span") }
  }
}

// MARK: The third form: by steps

private enum Animal3: ModelUnion, Equatable {
  typealias Key = Int
  case cat(Cat), puppy(Puppy)
  static let cases = ModelCases<Animal3>(
    ModelCase("cat", Animal3.cat) { if case .cat(let it) = $0 { it } else { nil } },
    ModelCase("puppy", Animal3.puppy) { if case .puppy(let it) = $0 { it } else { nil } }
      .was("hound").was("dog"))
  static let schema = ModelSchema<Animal3>(union: "animals", version: 3) {
    RemovedCase("bird") { old in
      .cat(Cat(name: "cat with " + (try old["title", as: String.self]), lives: 1))
    }
    Migration("heavy puppies are cats") { _, new in
      if case .puppy(let puppy) = new, puppy.grams > 2500 {
        new = .cat(Cat(id: .init(puppy.id.key), name: puppy.name, lives: 2))
      }
    }
    Index(\.type)
  }

  struct Cat: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var name = ""
    var lives = 9
    static let schema = ModelSchema<Cat>(caseOf: Animal3.self) {
      Property(\.name).was("title").validated("must be there") { !$0.isEmpty }
      Property(\.lives).was("lives", as: String.self) { Int($0) ?? 0 }
      Unique(\.name)
    }
  }
  struct Puppy: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var name = ""
    var grams = 0
    static let schema = ModelSchema<Puppy>(caseOf: Animal3.self) {
      Property(\.name).was("title")
      Migration("grams") { old, new in
        new.grams = Int(try old["weight", as: Double.self] * 1000)
      }
      Removed("weight")
    }
  }
}

@Suite("A migration of an enum of models")
struct UnionMigrationTests {
  private func fill(_ database: Database) throws {
    try database.register(Animal1.self)
    try database.write { tx in
      for number in 1...2 { try tx.insert(Animal1.Cat(title: "c\(number)", lives: "\(number)")) }
      for number in 3...4 {
        try tx.insert(Animal1.Dog(title: "d\(number)", weight: Double(number)))
      }
      try tx.insert(Animal1.Bird(title: "b5", span: 5))
      try tx.insert(Animal1.Dog(title: "d6", weight: 2))
    }
  }

  private static let second: [Animal2] = [
    .cat(Animal2.Cat(id: 1, name: "c1", lives: 1)), .cat(Animal2.Cat(id: 2, name: "c2", lives: 2)),
    .hound(Animal2.Hound(id: 3, name: "d3", weight: 3)),
    .hound(Animal2.Hound(id: 4, name: "d4", weight: 4)),
    .bird(Animal2.Bird(id: 5, title: "b5")), .hound(Animal2.Hound(id: 6, name: "d6", weight: 2)),
  ]

  private static let third: [Animal3] = [
    .cat(Animal3.Cat(id: 1, name: "c1", lives: 1)), .cat(Animal3.Cat(id: 2, name: "c2", lives: 2)),
    .cat(Animal3.Cat(id: 3, name: "d3", lives: 2)), .cat(Animal3.Cat(id: 4, name: "d4", lives: 2)),
    .cat(Animal3.Cat(id: 5, name: "cat with b5", lives: 1)),
    .puppy(Animal3.Puppy(id: 6, name: "d6", grams: 2000)),
  ]

  private func value(_ database: Database, _ id: Int) throws -> Value? {
    try database.read { try $0[("animals" as NodePath).appending(.integer(Int64(id)))].value }
  }

  @Test("reads older records lazily, by the enum's face and that of each case")
  func lazily() throws {
    try withDatabase { database in
      try fill(database)
      try database.register(Animal2.self)
      #expect(try database.all(Animal2.self).fetch() == Self.second)
      #expect(try database.query(Animal2.self).fetch() == Self.second)
      #expect(try database.get(Animal2.Hound.ID(3)).name == "d3")
      #expect(try database.find(Animal2.Cat.ID(2), \.lives) == 2)
      #expect(try database.find(Animal2.Cat.ID(3)) == nil)
      #expect(try database.query(Animal2.Hound.self).ids() == [3, 4, 6])
      #expect(try database.query(Animal2.Hound.self).where { $0.weight > 2 }.ids() == [3, 4])
      #expect(try database.count(Animal2.Hound.self) == 3)
      // Conditions cannot name a property that some records have elsewhere.
      func refused(_ steps: String..., body: () throws -> Void) {
        #expect(throws: DatabaseError.needsMigration("animals", steps: steps), performing: body)
      }
      refused("hound: type was 'dog'") {
        _ = try database.query(Animal2.self).where { $0.is(Animal2.Hound.self) }.count()
      }
      refused("cat: lives was lives: String") {
        _ = try database.query(Animal2.Cat.self).where { $0.lives > 1 }.count()
      }
      refused("cat: name was title", "hound: name was title") {
        _ = try database.query(Animal2.self).where { $0.as(Animal2.Cat.self).name == "c1" }.count()
      }
      #expect(try database.query(Animal2.Bird.self).where { $0.title == "b5" }.count() == 1)
    }
  }

  @Test(
    "leaves what a write does not change in its older form, and none of it where a case changes")
  func writing() throws {
    try withDatabase { database in
      try fill(database)
      try database.register(Animal2.self)
      try database.update(Animal2.ID(1)) { animal in
        guard case .cat(var cat) = animal else { return }
        cat.lives = 7
        animal = .cat(cat)
      }
      #expect(try value(database, 1) == ["type": "cat", "title": "c1", "lives": 7])
      try database.update(Animal2.Hound.ID(3)) { $0.name = "d" }
      #expect(try value(database, 3) == ["type": "dog", "name": "d", "weight": 3.0])
      // The hound is equal to the cat in its name, which is stored under the older one.
      try database.upsert(Animal2.hound(Animal2.Hound(id: 2, name: "c2", weight: 8)))
      #expect(try value(database, 2) == ["type": "hound", "name": "c2", "weight": 8.0])
      try database.upsert(Animal2.cat(Animal2.Cat(id: 4, name: "d4", lives: 4)))
      #expect(try value(database, 4) == ["type": "cat", "name": "d4", "lives": 4])
      try database.undoLast()
      #expect(try database.get(Animal2.ID(4)) == Self.second[3])
    }
  }

  @Test("rewrites all records, and its indexes and views follow", arguments: [1, 4, 100])
  func bulk(_ batch: Int) throws {
    try withDatabase { database in
      try fill(database)
      let before = try database.head
      try database.register(Animal2.self)
      let steps = [
        "cat: name was title", "cat: lives was lives: String", "hound: name was title",
        "hound: type was 'dog'", "bird: span removed",
      ]
      let plan = try database.planMigration(of: Animal2.Cat.self)
      #expect(plan.steps == steps && plan.blocking.isEmpty && plan.records == 6)
      #expect(plan.unknownProperties == [])
      // Any case stands for all of them.
      #expect(try database.migrate(Animal2.Bird.self, batch: batch) == 6)
      #expect(try database.planMigration(of: Animal2.self).steps == [])
      #expect(try database.all(Animal2.self).fetch() == Self.second)
      #expect(try value(database, 1) == ["type": "cat", "name": "c1", "lives": 1])
      #expect(try value(database, 3) == ["type": "hound", "name": "d3", "weight": 3.0])
      #expect(try value(database, 5) == ["type": "bird", "title": "b5"])
      #expect(try database.query(Animal2.Cat.self).where { $0.lives > 1 }.ids() == [2])
      #expect(try database.query(Animal2.self).where { $0.is(Animal2.Hound.self) }.count() == 3)
      let counts = try database.query(Animal2.self).group(by: \.type).select { $0.count }
      #expect(counts.map(\.0) == ["bird", "cat", "hound"] && counts.map(\.1) == [1, 2, 3])
      let declared = try #require(try database.read { try $0.definition(of: "animals") })
      #expect(declared["lives"]?.type == .integer && declared["span"] == nil)
      #expect(declared["title"] != nil && declared.model == "Animal2")
      // The past is read as it was, by models of the present.
      let past = try database.snapshot(at: .sequence(before))
      #expect(try past.all(Animal2.self).fetch() == Self.second)
      #expect(try past.query(Animal2.Hound.self).ids() == [3, 4, 6])
      let history = try database.history(of: Animal2.ID(3)).fetch()
      #expect(history.allSatisfy { $0.model == Self.second[2] } && history.count == 2)
      #expect(try database.history(of: Animal2.Cat.ID(1)).fetch().count == 2)
    }
  }

  @Test("by steps of cases and of the enum needs none between", arguments: [false, true])
  func steps(_ isSecondBetween: Bool) throws {
    try withDatabase { database in
      try fill(database)
      if isSecondBetween {
        try database.migrate(Animal2.self)
        try database.register(Animal2.self)
      }
      let blocking = ["puppy: grams", "case 'bird' removed", "heavy puppies are cats"]
      #expect(throws: DatabaseError.needsMigration("animals", steps: blocking)) {
        try database.register(Animal3.self)
      }
      #expect(throws: DatabaseError.needsMigration("animals", steps: blocking)) {
        try database.get(Animal3.Cat.ID(1))
      }
      let before = try database.head
      try database.migrate(Animal3.self, batch: 2)
      #expect(try database.all(Animal3.self).fetch() == Self.third)
      #expect(try value(database, 3) == ["type": "cat", "name": "d3", "lives": 2])
      #expect(try value(database, 5) == ["type": "cat", "name": "cat with b5", "lives": 1])
      #expect(try value(database, 6) == ["type": "puppy", "name": "d6", "grams": 2000])
      // Records that took a step cannot be read before it; others can.
      let past = try database.snapshot(at: .sequence(before))
      #expect(throws: DatabaseError.self) { try past.find(Animal3.ID(1)) }
      #expect(throws: DatabaseError.self) {
        try database.insert(Animal3.cat(Animal3.Cat(name: "c1")))
      }
      // An older app is told that it is one.
      let error = #expect(throws: DatabaseError.self) { try database.register(Animal2.self) }
      #expect("\(error.map { "\($0)" } ?? "")".contains("version 3, not 2"))
    }
  }

  @Test("goes on where it was broken off, while others write")
  func resumed() throws {
    let directory = try TemporaryDirectory()
    let place = directory.path + "/a.cambium"
    var database = try Database(at: place)
    try fill(database)
    for done in 0..<6 {
      let isFirst = Mutex(true)
      #expect(throws: CancellationError.self) {
        try database.migrate(Animal3.self, batch: 1) { _ in
          isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
          }
        }
      }
      let declared = try #require(try database.read { try $0.definition(of: "animals") })
      #expect(declared.migration?.done == done + 1)
      #expect(throws: DatabaseError.self) { try database.find(Animal3.ID(1)) }
      if done == 3 {
        try database.write { tx in
          try tx.update("animals/1", ["name": "first"])
          try tx.update("animals/6", ["title": "last"])
          try tx.set("animals/7", to: ["type": "dog", "title": "new", "weight": 0.5])
        }
      }
      try database.close()
      #expect(throws: DatabaseError.self) { try Database(at: place, for: Animal1.self) }
      database = try Database(at: place)
    }
    try database.close()
    database = try Database(at: place, for: Animal3.Cat.self, migrating: { _ in true })
    var expected = Self.third
    expected[0] = .cat(Animal3.Cat(id: 1, name: "first", lives: 1))
    expected[5] = .puppy(Animal3.Puppy(id: 6, name: "last", grams: 2000))
    expected.append(.puppy(Animal3.Puppy(id: 7, name: "new", grams: 500)))
    #expect(try database.all(Animal3.self).fetch() == expected)
    try expectSound(database)
    try database.close()
  }

  @Test("of an older app is finished by a newer one")
  func resumedByNewer() throws {
    try withDatabase { database in
      try fill(database)
      #expect(throws: CancellationError.self) {
        try database.migrate(Animal2.self, batch: 2) { $0.done < 2 }
      }
      // The newer app must know what the older one did to birds.
      #expect(throws: DatabaseError.self) { try database.migrate(Animal3.self) }
      try database.migrate(Animal2.self)
      try database.migrate(Animal3.self)
      #expect(try database.all(Animal3.self).fetch() == Self.third)
    }
  }

  @Test("stops at a record of a case that nobody knows, and names it")
  func unknown() throws {
    try withDatabase { database in
      try fill(database)
      try database.write { tx in
        try tx.running.asking(.none) {
          try tx.set("animals/4", to: ["type": "ship", "title": "s"])
        }
      }
      let error = #expect(throws: MigrationError.self) { try database.migrate(Animal2.self) }
      #expect(error?.path == "animals/4")
      let reason = "it says \"ship\", which is no case of Animal2"
      #expect(
        error?.cause as? PropertyError
          == PropertyError(path: "animals/4", property: "type", reason: reason))
      // Half-way through, what is written need not be of either form.
      try database.write { tx in
        try tx.remove("animals/4")
        try tx.set("animals/6", to: ["title": "s"])
      }
      let nameless = #expect(throws: MigrationError.self) { try database.migrate(Animal2.self) }
      #expect(nameless?.path == "animals/6")
      try database.write { try $0.remove("animals/6") }
      try database.migrate(Animal2.self)
      #expect(try database.count(Animal2.self) == 4)
    }
  }
}
