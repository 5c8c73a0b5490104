import Dispatch
import Foundation
import LMDB
import Simulation
import Synchronization
import Testing

@testable import Cambium

/// Indexes and views are filled while others write. Goal: up to its fence an index is as the
/// records want it, whatever is written between two steps; both are whole in the end; nobody asks
/// them before; and nothing that is to be unique is there twice. Method: random histories in which
/// each step of filling is one of many things that happen, with sources that are old, new and given
/// up; writers on other threads; indexes that are left half-filled.
@Suite("Filling an index", .timeLimit(.minutes(3)))
struct FillingTests {
  // MARK: Random histories

  /// Takes steps of filling, each as short as can be, from sources as old as chance has it.
  struct Filling {
    let database: Database
    var sources: [UInt32: IndexBuild.Source] = [:]
    var steps = 0

    mutating func step(_ random: inout SeededGenerator) throws {
      let unfinished = try database.snapshot().names.collections.unfinished
      guard let number = unfinished.keys.sorted().first else { return }
      steps += 1
      var build = IndexBuild(number, database.writer)
      let progress = ProgressReporter()
      if unfinished[number] == .emptying {
        _ = try build.step("empty", progress) { projector, _ in
          try projector.folds.empty(number, until: .now)
        }
        return
      }
      if sources[number] == nil || random.oneIn(10) {
        sources[number] = try build.makeSource(progress)
      }
      guard let backfill = sources[number]?.backfill else { return }
      let isDone = try build.step("filling", progress) { projector, _ in
        try backfill.step(in: &projector.folds, until: .now)
      }
      // If it is not, the background may have come to the end meanwhile.
      let left = try database.snapshot().names.collections.unfinished[number]
      #expect(isDone != true || left == nil)
    }
  }

  @Test(
    "is right up to its fence, whatever is written, and whole in the end",
    arguments: SeededGenerator.seeds(1, 2, 3))
  func randomHistory(seed: UInt64) throws {
    try withDatabase { database in
      var random = SeededGenerator(seed: seed)
      var history = IndexTests.History(
        random: SeededGenerator(seed: seed), database: database, keysCount: 120)
      var filling = Filling(database: database)
      try database.write { tx in try tx.declare("things", IndexTests.definitions()[0]) }
      for _ in 0..<60 { try history.step() }
      for step in 0..<500 {
        if random.oneIn(9) { try declareLater(IndexTests.definitions()[random.below(3)], database) }
        if random.oneIn(2) { try history.step() } else { try filling.step(&random) }
        try IndexTests().expectEntries(database, "seed \(seed), step \(step)")
        if random.oneIn(50) { try expectSound(database) }
      }
      #expect(filling.steps > 50)
      try database.finishIndexBuilds()
      #expect(try database.snapshot().names.collections.unfinished.isEmpty)
      try IndexTests().expectEntries(database, "seed \(seed), the end")
    }
  }

  /// Declares as a database does, without filling anything.
  private func declareLater(_ definition: CollectionDefinition, _ database: Database) throws {
    var definition = definition
    if !definition.indexes.isEmpty {
      definition.views = [
        ViewDefinition(.groups(by: ["name"], [.count, .sum("number"), .maximum("number")])),
        ViewDefinition(.top(by: ["name"], [.init("number", isDescending: true)])),
        ViewDefinition(.text(["name"], language: nil)),
      ]
    }
    try database.write { tx in
      tx.running.group.stateWriter.folds.fillsLater = true
      tx.running.group.stateWriter.folds.emptiedAtOnce = 5
      defer {
        tx.running.group.stateWriter.folds.fillsLater = false
      }
      try tx.declare("things", definition)
    }
  }

  // MARK: Others

  static func definition(unique: Bool = false, _ names: String...) -> CollectionDefinition {
    var definition = CollectionDefinition()
    definition.properties = [.init("number", .integer), .init("next", .reference("things"))]
    definition.indexes = names.map { IndexDefinition([.init($0)]) }
    if unique { definition.indexes[0].isUnique = true }
    return definition
  }

  private func fill(_ database: Database, _ count: Int64) throws {
    try database.write { tx in
      for number in 0..<count {
        try tx.set(NodePath(keys: ["things", .integer(number)]), to: ["number": .integer(number)])
      }
    }
  }

  private func explained(_ text: String, _ database: Database) throws -> String {
    try QueryRun(try QueryDescription(parsing: text), on: database.snapshot()).explanation
  }

  private func count(_ text: String, _ database: Database) throws -> Int {
    try QueryRun(try QueryDescription(parsing: text), on: database.snapshot()).count()
  }

  @Test("lets others write, and has what they wrote")
  func besideWriters() throws {
    try withDatabase { database in
      try fill(database, 30_000)
      let isDone = Atomic(false)
      let written = Atomic(0)
      let writer = Thread {
        var random = SeededGenerator(seed: 7)
        while !isDone.load(ordering: .relaxed) {
          let path = NodePath(keys: ["things", .integer(Int64(random.below(30_500)))])
          try? database.write { tx in
            if random.oneIn(3) {
              try tx.remove(path)
            } else {
              try tx.set(path, to: ["number": .integer(Int64(random.below(1000)))])
            }
          }
          written.add(1, ordering: .relaxed)
        }
        written.add(1_000_000, ordering: .relaxed)
      }
      writer.start()
      while written.load(ordering: .relaxed) == 0 { usleep(100) }
      let before = written.load(ordering: .relaxed)
      try database.declare("things", Self.definition("number"))
      #expect(written.load(ordering: .relaxed) > before)
      isDone.store(true, ordering: .relaxed)
      while written.load(ordering: .relaxed) < 1_000_000 { usleep(100) }
      try IndexTests().expectEntries(database, "beside a writer")
      let explained = try explained("things where number < 3", database)
      #expect(explained.contains("index"), "\(explained)")
    }
  }

  @Test("is not asked before it is whole, nor to find who refers to a record")
  func notAsked() throws {
    try withDatabase { database in
      try database.write { tx in
        for number in 0..<50 {
          try tx.set(
            NodePath(keys: ["things", .integer(Int64(number))]),
            to: ["number": .integer(Int64(number)), "next": .integer(Int64(number % 5))])
        }
      }
      var definition = Self.definition("number")
      definition.properties[1].deleteRule = .nullify
      try declareLater(definition, database)
      let text = "things where number < 3"
      #expect(try !explained(text, database).contains("index"))
      #expect(try count(text, database) == 3)
      try database.write { tx in try tx.remove("things/4") }
      let referring = try count("things where next = 4", database)
      #expect(referring == 0)
      try database.write { tx in try tx.move("things/3", to: "things/103") }
      #expect(try count("things where next = 103", database) == 10)
      try database.finishIndexBuilds()
      #expect(try explained(text, database).contains("index"))
      try IndexTests().expectEntries(database, "filled")
    }
  }

  @Test("goes on when the database is opened again")
  func brokenOff() throws {
    let place = try Place()
    try place.use { database in
      try fill(database, 20_000)
      #expect(throws: CancellationError.self) {
        try database.declare("things", Self.definition("number")) { $0.phase.hasPrefix("checking") }
      }
      try expectSound(database)
    }
    try place.use { database in
      while try !database.snapshot().names.collections.unfinished.isEmpty { usleep(10_000) }
      try IndexTests().expectEntries(database, "opened again")
      // The entries go in the background, too.
      try database.write { tx in try tx.declare("things", nil) }
      try expectSound(database)
      while try !database.snapshot().names.collections.unfinished.isEmpty { usleep(10_000) }
      let snapshot = try database.snapshot()
      #expect(try snapshot.reader.access.count(snapshot.reader.tables.index) == 0)
      try expectSound(database)
    }
  }

  // MARK: Uniqueness

  @Test("refuses what is there twice, and leaves the declaration as it was")
  func twice() throws {
    try withDatabase { database in
      try fill(database, 5000)
      try database.declare("things", Self.definition())
      try database.write { tx in try tx.update("things/4711", [("number", 3)]) }
      let error = DatabaseError.notUnique("things/4711", index: ["number"], takenBy: "things/3")
      #expect(throws: error) {
        try database.declare("things", Self.definition(unique: true, "number"))
      }
      #expect(try database.read { try $0.definition(of: "things") } == Self.definition())
      try database.write { tx in try tx.update("things/4711", [("number", 4711)]) }
      try database.declare("things", Self.definition(unique: true, "number"))
      #expect(throws: error) {
        try database.write { tx in try tx.update("things/4711", [("number", 3)]) }
      }
    }
  }

  @Test("lets nothing through that comes while it is looked for", arguments: 0..<6)
  func comingMeanwhile(delay: Int) throws {
    try withDatabase { database in
      try fill(database, 6000)
      let started = DispatchSemaphore(value: 0), ended = DispatchSemaphore(value: 0)
      let refused = Atomic(false)
      Thread {
        started.wait()
        usleep(UInt32(delay * 15_000))
        do {
          try database.write { tx in try tx.update("things/5000", [("number", 3)]) }
        } catch { refused.store(true, ordering: .relaxed) }
        ended.signal()
      }.start()
      started.signal()
      var isUnique = true
      do {
        try database.declare("things", Self.definition(unique: true, "number"))
      } catch DatabaseError.notUnique { isUnique = false }
      ended.wait()
      #expect(isUnique == refused.load(ordering: .relaxed))
      let indexes = try database.read { try $0.definition(of: "things")?.indexes }
      #expect((indexes ?? []).contains { $0.isUnique } == isUnique)
    }
  }

  @Test("refuses a rule that a record breaks which comes while others are looked at")
  func rules() throws {
    try withDatabase { database in
      try fill(database, 5000)
      var definition = Self.definition("number")
      definition.properties[0].isRequired = true
      var isWritten = false
      #expect(throws: DatabaseError.self) {
        try database.declare("things", nil) { _, _ in
          // After the snapshot whose records are looked at, before the transaction.
          if !isWritten { try database.write { tx in try tx.set("things/77", to: ["other": 1]) } }
          isWritten = true
          return definition
        }
      }
      #expect(try database.read { try $0.definition(of: "things") } == nil)
    }
  }

  @Test("is done at once where something unique would not be so meanwhile")
  func staysUnique() throws {
    let steps = Atomic(0)
    // On a slow machine what the old index held is left to be emptied in steps.
    let tell: @Sendable (String, Duration) -> Void = { step, _ in
      if step == "index" { steps.add(1, ordering: .relaxed) }
    }
    try withDatabase({ $0.stepTook = tell }) {
      try fill($0, 5000)
      try $0.declare("things", Self.definition(unique: true, "number"))
      let before = steps.load(ordering: .relaxed)
      #expect(before > 0)
      var covering = Self.definition(unique: true, "number")
      covering.indexes[0].covered = ["next"]
      try $0.declare("things", covering)
      #expect(steps.load(ordering: .relaxed) == before)
    }
  }

  @Test("finds what is the same among texts that are cut, whatever lies between")
  func cutTexts() throws {
    let start = String(repeating: "long", count: 126)
    for names in [["a", "b", "c"], ["a", "b", String(repeating: "c", count: 40)]] {
      try withDatabase { database in
        try database.write { tx in
          for (name, end) in zip(names, ["x", "y", "x"]) {
            try tx.set(
              NodePath(keys: ["things", .text(name)]), to: ["number": .string(start + end)])
          }
        }
        var definition = CollectionDefinition()
        definition.indexes = [IndexDefinition([.init("number")])]
        definition.indexes[0].isUnique = true
        #expect(throws: DatabaseError.self) {
          try database.write { tx in try tx.declare("things", definition) }
        }
        try database.write { tx in
          let last = NodePath(keys: ["things", .text(names[2])])
          try tx.update(last, [("number", .string(start + "z"))])
          try tx.declare("things", definition)
        }
      }
    }
  }

  // MARK: Comings and goings

  @Test("counts no record twice that came back while a view waits to be filled")
  func comingBack() throws {
    try withDatabase { database in
      try fill(database, 200)
      let removal = try database.write { tx in
        try tx.remove("things")
        return tx.sequence
      }
      try declareLater(IndexTests.definitions()[0], database)
      try database.write { tx in try tx.restore("things", removedAt: removal) }
      try database.finishIndexBuilds()
      try IndexTests().expectEntries(database, "restored")
    }
  }

  @Test("begins anew where the state was made anew, and may not be as far")
  func anotherState() throws {
    let place = try Place()
    try place.use { database in
      try fill(database, 300)
      try declareLater(Self.definition("number"), database)
      let number = try #require(
        try database.snapshot().names.collections.unfinished.keys.first)
      var build = IndexBuild(number, database.writer)
      let source = try #require(try build.makeSource(ProgressReporter()))
      let result = try build.step("index", of: source.generation + 1, ProgressReporter()) { _, _ in
        true
      }
      #expect(result == nil)
      try database.finishIndexBuilds()
      try IndexTests().expectEntries(database, "filled")
    }
    try place.expectSound()
  }

  @Test("leaves the state clean where the database is closed meanwhile")
  func closedMeanwhile() throws {
    let place = try Place()
    try place.use { try fill($0, 20_000) }
    let database = try place.open()
    let (started, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread {
      _ = try? database.declare("things", Self.definition("number")) { _ in
        started.signal()
        return true
      }
      ended.signal()
    }.start()
    started.wait()
    try database.close()
    ended.wait()
    #expect(try place.mark?.isClean == true)
    try place.use { try $0.finishIndexBuilds() }
    try place.expectSound()
  }

  @Test("refuses a declaration by its own progress handler, and goes on when it is declared again")
  func declaredByHandler() throws {
    try withDatabase { database in
      try fill(database, 5000)
      let definition = Self.definition("number")
      #expect(throws: CancellationError.self) {
        try database.declare("things", definition) { progress in
          if !progress.phase.hasPrefix("reading") { return true }
          do {
            try database.declare("things", Self.definition("number", "next"))
            Issue.record("declared")
          } catch { #expect("\(error)".contains("progress handler")) }
          return false
        }
      }
      #expect(try !database.snapshot().names.collections.unfinished.isEmpty)
      try database.declare("things", definition)
      #expect(try database.snapshot().names.collections.unfinished.isEmpty)
      try IndexTests().expectEntries(database, "declared again")
    }
  }
}
