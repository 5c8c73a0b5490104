// Goal: a value comes back from a database exactly as it went in, wherever it is, now, in the past,
// after opening again and after a rebuild. Method: random values from a seed, as a node's own
// value, as a property, as an element of an array, and in an event.

import FoundationEssentials
import Testing

@testable import Cambium

@Suite("A value in a database")
struct DatabaseValueTests {
  private static func path(_ collection: String, _ index: Int) -> NodePath {
    NodePath(keys: [.text(collection), .integer(Int64(index))])
  }

  /// Values; where one is a map its names are such as properties may have.
  private static func values(_ count: Int, seed: UInt64) -> [Value] {
    var random = FormatRandom(seed: seed)
    return (0..<count).map { _ in
      random.chance(oneIn: 8) ? .map(random.record(depth: 3) { $0.keyText() }) : random.value()
    }
  }

  /// True if a value may be that of a node of its own: a map's names must be keys.
  private static func canStandAlone(_ value: Value) -> Bool {
    guard case .map(let record) = value else { return true }
    return record.members.allSatisfy { (try? Key.checked($0.name)) != nil }
  }

  private static func write(_ values: [Value], _ tx: borrowing Database.Transaction) throws {
    try tx.set("array", to: [])
    try tx.set("record", to: ["array": []])
    for (index, value) in values.enumerated() {
      if canStandAlone(value) { try tx.set(path("own", index), to: value) }
      try tx.set(path("properties", index), to: ["before": 1, "value": value, "zafter": 2])
      try tx.update(path("properties", index), ["updated": value])
      // A map would be a record of its own, which cannot be in a property's place.
      if !value.isMap {
        try tx.set(path("properties", index).appending(Key.text("before")), to: value)
      }
      try tx.append(value, to: "array")
      try tx.insert(value, at: 0, into: "record", "array")
      try tx.event("value", value)
    }
  }

  /// Reads every copy of the values, and compares.
  private static func expect(_ values: [Value], in snapshot: Snapshot, _ what: String) throws {
    for (index, value) in values.enumerated() {
      let names = value.isMap ? ["value", "updated"] : ["before", "value", "updated"]
      var found = try names.map { try snapshot[path("properties", index)][$0] }
      found.append(try snapshot[path("properties", index).appending(Key.text("value"))].value)
      if canStandAlone(value) { found.append(try snapshot[path("own", index)].value) }
      for copy in found {
        #expect(copy.map { areExactlyEqual($0, value) } == true, "\(value) \(what)")
      }
    }
    let array = try #require(try snapshot["array"].value)
    #expect(areExactlyEqual(array, .array(values)), "\(what)")
    let property = try #require(try snapshot["record"]["array"])
    #expect(areExactlyEqual(property, .array(values.reversed())), "\(what)")
  }

  @Test("comes back from wherever it stands", arguments: FormatSeeds.first(4))
  func roundTrip(seed: UInt64) throws {
    let values = Self.values(120, seed: seed)
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/values"
    var options = Database.Options()
    options.refersLoosely = true
    let database = try Database(at: path, options: options)
    try database.write { tx in try Self.write(values, tx) }
    try database.read { try Self.expect(values, in: $0, "at first, seed \(seed)") }
    let events = try database.commit(1).events.map(\.payload)
    #expect(areExactlyEqual(.array(events), .array(values)), "seed \(seed)")
    try database.write { tx in
      for name in ["own", "properties", "array", "record"] {
        try tx.remove(NodePath(keys: [.text(name)]))
      }
      try tx.set("own/0", to: "another")
    }
    try database.read(at: .sequence(1)) {
      try Self.expect(values, in: $0, "in the past, seed \(seed)")
    }
    try database.rebuild()
    try database.close()
    let again = try Database(at: path)
    try again.read(at: .sequence(1)) {
      try Self.expect(values, in: $0, "after a rebuild, seed \(seed)")
    }
    // Its blobs are made up.
    let findings = try again.verify().findings
    #expect(findings.allSatisfy { "\($0)".contains("refers to the blob") }, "\(findings)")
    try again.close()
  }

  @Test("may be as large as the limit, and not a byte larger")
  func size() throws {
    try withDatabase { database in
      let largest = Data(repeating: 7, count: Value.bytesMax - 1)
      try database.write { tx in try tx.set("a", to: .data(largest)) }
      #expect(try database.read { try $0["a"].value } == .data(largest))
      for (path, value) in [
        ("a", .data(largest + [0])), ("b", ["x": .data(largest)]), ("b", [.data(largest)]),
      ] as [(NodePath, Value)] {
        let error = #expect(throws: DatabaseError.self) {
          try database.write { tx in try tx.set(path, to: value) }
        }
        guard case .badValue(path, let reason)? = error else {
          Issue.record("\(error.map { "\($0)" } ?? "no error")")
          continue
        }
        #expect(reason.contains("1048576 is the limit, store a blob instead"))
      }
      try database.write { tx in
        try tx.set("c", to: [.data(largest.dropLast(10))])
        #expect(throws: DatabaseError.self) {
          try tx.append(.data(Data(repeating: 1, count: 20)), to: "c")
        }
        #expect(try tx["c"].value == [.data(largest.dropLast(10))])
      }
    }
  }

  @Test("nests down to the limit wherever it is put")
  func nesting() throws {
    try withDatabase { database in
      let limit = Value.nestingMax
      try database.write { tx in
        for (depth, fits) in [(limit - 1, true), (limit, true), (limit + 1, false)] {
          let value = ValueRoundTripTests.nested(depth)
          let path = Self.path("n", depth)
          try expect(fits) { try tx.set(path, to: value) }
          try expect(fits) { try tx.set(path, to: ["p": value]) }
          try expect(fits) { try tx.event("e", value) }
        }
      }
    }
  }

  @Test("nests no deeper in an array to which it is added")
  func nestingInArrays() throws {
    try withDatabase { database in
      let element = ValueRoundTripTests.nested(Value.nestingMax - 1)
      let tooDeep = ValueRoundTripTests.nested(Value.nestingMax)
      try database.write { tx in
        try tx.set("record", to: ["array": []])
        try expect(true) { try tx.append(element, to: "array") }
        try expect(true) { try tx.insert(element, at: 0, into: "record", "array") }
        try expect(false) { try tx.append(tooDeep, to: "array") }
        try expect(false) { try tx.insert(tooDeep, at: 0, into: "array") }
        try expect(false) { try tx.append(tooDeep, to: "record", "array") }
      }
      #expect(try database.read { try $0["array"].value } == [element])
      #expect(try database.read { try $0["record"].value } == ["array": [element]])
    }
  }

  private func expect(
    _ fits: Bool, location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) throws {
    if fits { return try body() }
    let error = #expect(throws: DatabaseError.self, sourceLocation: location) { try body() }
    if case .badValue? = error { return }
    Issue.record("\(String(describing: error))", sourceLocation: location)
  }
}
