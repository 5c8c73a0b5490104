// Goal: a compiled condition accepts exactly the records that the condition means, and damaged
// bytes give an error or an answer, never a trap. Method: random conditions on random records,
// against an evaluator that works on values (NaiveCondition.swift).

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("A compiled condition")
struct ConditionProgramTests {
  /// Records in memory, as conditions ask for them.
  private struct Shelf: RelatedRecords {
    var stored: [NodePath: [UInt8]] = [:]

    func lend<R>(_ collection: NodePath, _ key: RawSpan, _ body: (RawSpan) throws -> R) throws -> R?
    {
      try stored[collection.appending(try Key(key))]?.lend(body)
    }

    func lend<R>(at path: NodePath, _ body: (RawSpan, RawSpan) throws -> R) throws -> R? {
      guard let record = stored[path], let key = path.last else { return nil }
      return try key.bytes.lend { key in try record.lend { try body(key, $0) } }
    }

    func forEach(
      in collection: NodePath, _ property: NameID, refersTo key: RawSpan,
      _ body: (RawSpan, RawSpan) throws -> Bool
    ) throws {
      for (path, record) in stored where path.parent == collection {
        guard let own = path.last else { continue }
        let goesOn = try record.lend { record in
          guard let range = try RecordTable(record).find(record, property),
            let target = try StoredKey.bytes(naming: record.extracting(range)),
            target.lend({ $0.equals(key) })
          else { return true }
          return try own.bytes.lend { try body($0, record) }
        }
        if !goesOn { return }
      }
    }

    func count(
      _ referrers: CountedReferrers, _ property: NameID, refersTo key: RawSpan,
      passing program: ConditionProgram
    ) throws -> Int {
      var count = 0
      try forEach(in: referrers.collection, property, refersTo: key) { own, record in
        if try program.accepts(record, key: own, self) { count += 1 }
        return true
      }
      return count
    }
  }

  /// A world to ask about: people, and things that refer to them.
  private struct World {
    var catalog = Catalog()
    var shelf = Shelf()
    var naive = NaiveCondition(definitions: RandomConditions.definitions)

    init(_ random: inout RandomConditions) throws {
      for name in RandomConditions.personNames + RandomConditions.thingNames
      where catalog.id(of: name) == nil {
        try catalog.define(name, as: UInt32(catalog.count))
      }
      for index in 0..<5 {
        try add(
          RandomConditions.people, .text("p\(index)"), random.record(RandomConditions.personNames))
      }
      for index in 0..<3 {
        try add(
          RandomConditions.people, .integer(Int64(index)),
          random.record(RandomConditions.personNames))
      }
      for index in 0..<12 {
        try add(
          RandomConditions.things, index % 3 == 0 ? .integer(Int64(index)) : .text("p\(index)"),
          random.record(RandomConditions.thingNames))
      }
    }

    mutating func add(_ collection: NodePath, _ key: Key, _ record: ValueMap) throws {
      naive.records[collection.appending(key)] = record
      var builder = RecordBuilder()
      for member in record.members {
        if let id = catalog.id(of: member.name) { builder[id] = try member.value.stored() }
      }
      shelf.stored[collection.appending(key)] = builder.stored()
    }

    var scope: ConditionScope {
      let definitions = naive.definitions
      return ConditionScope(catalog, definitions[RandomConditions.things]) { definitions[$0] }
    }
  }

  @Test("accepts what the condition means", arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func meaning(_ seed: UInt64) throws {
    var random = RandomConditions(seed: seed)
    var (pairs, accepted) = (0, 0)
    while pairs < 12_000 {
      let world = try World(&random)
      let things = world.naive.records.filter { $0.key.parent == RandomConditions.things }
      for _ in 0..<100 {
        let test = random.test()
        let program = try ConditionProgram(test, in: world.scope)
        for (path, record) in things {
          guard let key = path.last, let stored = world.shelf.stored[path] else { continue }
          let expected = Result {
            try world.naive.holds(test, record, key: key, in: RandomConditions.things)
          }
          let found = Result {
            try key.bytes.lend { key in
              try stored.lend { try program.accepts($0, key: key, world.shelf) }
            }
          }
          pairs += 1
          switch (found, expected) {
          case (.success(let found), .success(let expected)):
            if found != expected { explainDifference(test, world, path, record, key, stored) }
            accepted += found ? 1 : 0
            try #require(
              found == expected, "seed \(seed): \(Condition(test)) on \(path) \(record)")
          case (.failure(let error), .failure):
            try #require(error is QueryError, "\(error)")
          default:
            Issue.record("seed \(seed): \(Condition(test)) on \(path): \(found), \(expected)")
          }
        }
      }
    }
    // A test in which nothing or everything passed would prove little.
    #expect(accepted > pairs / 10 && accepted < pairs * 9 / 10)
  }

  /// Prints the parts of a condition on which program and model differ.
  private func explainDifference(
    _ test: Condition.Test, _ world: World, _ path: NodePath, _ record: ValueMap, _ key: Key,
    _ stored: [UInt8]
  ) {
    switch test {
    case .all(let tests), .any(let tests):
      for test in tests { explainDifference(test, world, path, record, key, stored) }
    case .not(let other): explainDifference(other, world, path, record, key, stored)
    default: break
    }
    let expected = try? world.naive.holds(test, record, key: key, in: RandomConditions.things)
    let found = try? key.bytes.lend { key in
      try stored.lend {
        try ConditionProgram(test, in: world.scope).accepts($0, key: key, world.shelf)
      }
    }
    if found != expected {
      print("differs: \(Condition(test)) is \(found ?? false), and should be \(expected ?? false)")
    }
  }

  @Test("gives an error or an answer for damaged bytes", arguments: SeededGenerator.seeds(5, 6))
  func damage(_ seed: UInt64) throws {
    var random = RandomConditions(seed: seed)
    let world = try World(&random)
    var programs: [ConditionProgram] = []
    for _ in 0..<40 { programs.append(try ConditionProgram(random.test(), in: world.scope)) }
    var (errors, answers) = (0, 0)
    for (path, stored) in world.shelf.stored where path.parent == RandomConditions.things {
      for index in stored.indices {
        let bytes = stored.changing(index, by: UInt8(1 + random.random.below(255)))
        for program in programs {
          do {
            _ = try path.last?.bytes.lend { key in
              try bytes.lend { try program.accepts($0, key: key, world.shelf) }
            }
            answers += 1
          } catch { errors += 1 }
        }
      }
    }
    #expect(errors > 0 && answers > 0)
  }

  @Test("refuses a hop through what is declared as something else")
  func hops() throws {
    var random = RandomConditions(seed: 1)
    let world = try World(&random)
    let error = #expect(throws: QueryError.self) {
      try ConditionProgram(Condition(parsing: "title.name = 1"), in: world.scope)
    }
    #expect(error?.reason == "title is no reference, so that nothing lies behind it")
  }
}

extension Key {
  /// The stored form.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }
}
