// Goal: what is done to an element of a set or an entry of a dictionary touches nothing else, in
// the log, in undo and in what comes out. Method: single cases by hand; random histories against
// the plain model; histories of parts whose transactions are undone in any order, against an
// oracle that knows every part's before and after.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

@Suite("Parts of sets and dictionaries")
struct PartsTests {
  @Test("are logged alone, in records that say what a program must know")
  func logged() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("ada", to: ["tags": ["b", "d"]]) }
      let sequence = try database.write { tx in
        try tx.insert("c", into: "ada", "tags")
        try tx.insert("b", into: "ada", "tags")
        try tx.remove("d", from: "ada", "tags")
        try tx.remove("x", from: "ada", "none")
        try tx.set("ada", "prices", "USD", to: 3)
        try tx.set("ada", "prices", "EUR", to: 2)
        try tx.increment("ada", "prices", "USD", by: 4)
        try tx.removeValue(forKey: "EUR", from: "ada", "prices")
        try tx.insert(7, into: "numbers")
        return tx.sequence
      }
      var commits = try database.commits(after: 1)
      let commit = try #require(try commits.next())
      let operations = try commit.operations().filter {
        if case .define = $0 { false } else { true }
      }
      #expect(
        operations == [
          .change("ada", property: "tags", .include("c")),
          .change("ada", property: "tags", .include("b")),
          .change("ada", property: "tags", .exclude("d")),
          .change("ada", property: "none", .exclude("x")),
          .change("ada", property: "prices", .setEntry(key: "USD", 3)),
          .change("ada", property: "prices", .setEntry(key: "EUR", 2)),
          .change("ada", property: "prices", .incrementEntry(key: "USD", by: 4)),
          .change("ada", property: "prices", .setEntry(key: "EUR", nil)),
          .change("numbers", property: nil, .include(7)),
        ])
      let expected: Value = ["tags": ["b", "c"], "prices": .map(["USD": 7])]
      #expect(try database.read { try $0["ada"].value } == expected)
      #expect(try database.read { try $0["numbers"].value } == [7])
      let formats = try [sequence.previous, sequence].map { sequence in
        try database.directory.log.read { try $0.record(sequence) }.stored()[8]
      }
      #expect(formats == [1, 2])
    }
  }

  @Test("are refused where they cannot be, and nothing is logged then")
  func refusals() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.set("ada", to: ["name": "Ada", "tags": ["a"], "nothing": .null])
        try tx.set("bare/child", to: 1)
      }
      try database.write { tx in
        #expect(throws: DatabaseError.self) { try tx.insert(1, into: "ada", "name") }
        #expect(throws: DatabaseError.self) { try tx.set("ada", "tags", "key", to: 1) }
        #expect(throws: DatabaseError.self) { try tx.increment("ada", "map", "key", by: "x") }
        #expect(throws: DatabaseError.self) { try tx.insert(1, into: "nobody", "tags") }
        #expect(throws: DatabaseError.self) { try tx.insert(1, into: "ada") }
        #expect(throws: DatabaseError.self) { try tx.remove(1, from: "nowhere") }
        #expect(throws: DatabaseError.self) { try tx.remove(1, from: "bare") }
      }
      #expect(try database.read { try $0["nowhere"].exists } == false)
      try database.write { tx in
        try tx.remove(1, from: "ada", "nothing")
        try tx.removeValue(forKey: "a", from: "ada", "nothing")
        #expect(try tx["ada"]["nothing"] == .null)
        try tx.insert(1, into: "ada", "nothing")
        #expect(try tx["ada"]["nothing"] == [1])
      }
    }
  }

  @Test("are taken back alone, whatever was done to others since")
  func undo() throws {
    try withDatabase { database in
      try database.write { tx in try tx.set("ada", to: ["name": "Ada"]) }
      try database.write { tx in
        try tx.insert("a", into: "ada", "tags")
        try tx.increment("ada", "likes", "heart", by: 2)
        try tx.set("ada", "prices", "USD", to: 1)
      }
      try database.write { tx in
        try tx.insert("b", into: "ada", "tags")
        try tx.increment("ada", "likes", "heart", by: 5)
        try tx.increment("ada", "likes", "star", by: 1)
        try tx.set("ada", "prices", "EUR", to: 2)
      }
      let undone = try database.undo(2)
      let expected: Value = [
        "name": "Ada", "tags": ["b"], "likes": .map(["heart": 5, "star": 1]),
        "prices": .map(["EUR": 2]),
      ]
      #expect(try database.read { try $0["ada"].value } == expected)
      try database.undo(3)
      #expect(try database.read { try $0["ada"].value } == ["name": "Ada"])
      try database.undo(undone.sequence)
      #expect(try database.read { try $0["ada/tags"].value } == ["a"])
      #expect(try database.read { try $0["ada/likes"].value } == .map(["heart": 2]))
      try database.write { tx in try tx.set("ada", "prices", "USD", to: 9) }
      #expect(throws: DatabaseError.self) {
        try database.undo(SequenceNumber(undone.sequence.rawValue + 2))
      }
    }
  }

  @Test("are taken back as one change where a transaction touched them more than once")
  func twice() throws {
    try withDatabase { database in
      try database.write { tx in
        try tx.set("ada", to: ["prices": .map(["CHF": 1]), "counts": .map(["old": 1])])
      }
      try database.write { tx in
        try tx.set("ada", "prices", "USD", to: 1)
        try tx.set("ada", "prices", "USD", to: 2)
      }
      try database.write { tx in
        try tx.insert("x", into: "ada", "tags")
        try tx.remove("x", from: "ada", "tags")
        try tx.insert("y", into: "ada", "tags")
        for value in [2, 1, 3, 1] as [Value] { try tx.set("ada", "prices", "CHF", to: value) }
        try tx.set("ada", "counts", "new", to: 1)
        for step in [2, 3] as [Value] { try tx.increment("ada", "counts", "new", by: step) }
        for step in [2, -2] as [Value] { try tx.increment("ada", "counts", "old", by: step) }
      }
      try database.write { tx in
        try tx.set("ada", "prices", "USD", to: 1)
        try tx.set("ada", "prices", "CHF", to: 2)
        try tx.insert("x", into: "ada", "tags")
        try tx.removeValue(forKey: "old", from: "ada", "counts")
      }
      #expect(throws: DatabaseError.self) { try database.undo(2) }
      #expect(try database.read { try $0["ada/prices"].value } == .map(["CHF": 2, "USD": 1]))
      try database.undo(3)
      let expected: Value = [
        "prices": .map(["CHF": 2, "USD": 1]), "counts": .map([:]), "tags": ["x"],
      ]
      #expect(try database.read { try $0["ada"].value } == expected)
    }
  }

  @Test("are lost by nobody who adds at the same time")
  func together() async throws {
    try await withDatabase { database in
      try await database.write { tx in try tx.set("ada", to: [:]) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<40 {
          group.addTask {
            try await database.write { tx in
              try tx.insert(.integer(Int64(number)), into: "ada", "tags")
              try tx.increment("ada", "counts", number % 2 == 0 ? "even" : "odd", by: 1)
            }
          }
        }
        try await group.waitForAll()
      }
      let value = try database.read { try $0["ada"].value }
      let all = (0..<40).map { Value.integer($0) }
      #expect(value == ["tags": .array(all), "counts": .map(["even": 20, "odd": 20])])
    }
  }

  @Test(
    "are in the tree, its past, and what is made of the log anew, as a plain model has them",
    arguments: SeededGenerator.seeds(4, 5))
  func history(seed: UInt64) async throws {
    print("seed \(seed)")
    try await withDatabase { database in
      let history = RandomHistory(database, seed: seed, callsMax: 12)
      history.calls.changesParts = true
      try await history.run(calls: 2_500)
      let head = history.model.head
      for number in stride(from: 0, through: head.rawValue, by: 37) {
        let moment = SequenceNumber(number)
        let found = try database.read(at: .sequence(moment)) { try $0.root.rows() }
        try requireSame(found, history.model.nodes(at: moment).rows, "at \(moment)")
      }
      let copy = try Place()
      try database.replay(to: copy.path)
      try copy.use { copy in
        let found = try copy.read { try $0.root.rows() }
        try requireSame(found, history.model.nodes(at: head).rows, "in the copy")
        try copy.compact(upTo: SequenceNumber(head.rawValue / 2))
        try requireSame(
          copy.read { try $0.root.rows() }, history.model.nodes(at: head).rows, "compacted")
        try expectSound(copy)
      }
    }
  }

  @Test(
    "are undone in any order, and conflict only where the same entry was set since",
    arguments: SeededGenerator.seeds(1, 2, 3))
  func anyOrder(seed: UInt64) throws {
    print("seed \(seed)")
    try withDatabase { database in
      var oracle = PartOracle(seed: seed)
      try database.write { tx in try tx.set("r", to: ["set": [], "map": .map([:])]) }
      for _ in 0..<60 { try oracle.change(database) }
      for _ in 0..<120 {
        if oracle.random.oneIn(3) { try oracle.change(database) }
        try oracle.undoAny(database)
        try oracle.compare(database)
      }
      #expect(oracle.conflictCount > 5 && oracle.cleanCount > 30)
      let (values, head) = (try database.read { try $0["r"].value }, try database.head)
      try database.write { tx in try tx.set("r", to: ["set": [], "map": .map([:])]) }
      #expect(try database.read(at: .sequence(head)) { try $0["r"].value } == values)
    }
  }
}

/// An oracle for the parts of a set and a dictionary: their content, and what each transaction did
/// to them.
private struct PartOracle {
  var random: SeededGenerator
  private(set) var conflictCount = 0
  private(set) var cleanCount = 0
  private var elements: Set<Int64> = []
  private var entries: [String: Int64] = [:]
  private var changes: [(sequence: SequenceNumber, edits: [Edit])] = []

  private enum Edit {
    case element(Int64, before: Bool, after: Bool)
    case entry(String, before: Int64?, after: Int64?)
    case count(String, by: Int64)
  }

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// One transaction of a few parts, some of which it touches more than once.
  mutating func change(_ database: Database) throws {
    var edits: [Edit] = []
    let sequence = try database.write { tx in
      let element = Int64(random.below(300)) - 150
      for _ in 0..<(1 + random.below(3)) { note(try edit(element, tx), in: &edits) }
      for _ in 0..<random.below(4) { note(try editEntry(tx), in: &edits) }
      for _ in 0..<random.below(3) { note(try count(tx), in: &edits) }
      return tx.sequence
    }
    changes.append((sequence, edits))
  }

  /// Makes one of all edits of the same part.
  private func note(_ edit: Edit, in edits: inout [Edit]) {
    for (index, earlier) in edits.enumerated() {
      switch (earlier, edit) {
      case (.element(let a, let before, _), .element(let b, _, let after)) where a == b:
        edits[index] = .element(a, before: before, after: after)
      case (.entry(let a, let before, _), .entry(let b, _, let after)) where a == b:
        edits[index] = .entry(a, before: before, after: after)
      case (.count(let a, let first), .count(let b, let second)) where a == b:
        edits[index] = .count(a, by: first + second)
      default: continue
      }
      return
    }
    edits.append(edit)
  }

  private mutating func edit(_ element: Int64, _ tx: borrowing Database.Transaction) throws -> Edit
  {
    let before = elements.contains(element)
    if random.oneIn(3) {
      try tx.remove(.integer(element), from: "r", "set")
      elements.remove(element)
    } else {
      try tx.insert(.integer(element), into: "r", "set")
      elements.insert(element)
    }
    return .element(element, before: before, after: elements.contains(element))
  }

  private mutating func editEntry(_ tx: borrowing Database.Transaction) throws -> Edit {
    let key = random.pick(["a", "b", "é", "zz"])
    let (before, after) = (entries[key], random.oneIn(4) ? nil : Int64(random.below(5)))
    if let after {
      try tx.set("r", "map", key, to: .integer(after))
    } else {
      try tx.removeValue(forKey: key, from: "r", "map")
    }
    entries[key] = after
    return .entry(key, before: before, after: after)
  }

  private mutating func count(_ tx: borrowing Database.Transaction) throws -> Edit {
    let (key, step) = (random.pick(["x", "y"]), Int64(1 + random.below(1000)))
    try tx.increment("r", "map", key, by: .integer(step))
    entries[key, default: 0] += step
    return .count(key, by: step)
  }

  /// Undoes any transaction that was not undone yet, and does the same here.
  mutating func undoAny(_ database: Database) throws {
    if changes.isEmpty { return }
    let index = random.below(changes.count)
    let (sequence, edits) = changes[index]
    let isConflict = edits.contains { edit in
      guard case .entry(let key, let before, let after) = edit else { return false }
      return before != after && entries[key] != after && entries[key] != before
    }
    if isConflict {
      conflictCount += 1
      #expect(throws: DatabaseError.self) { try database.undo(sequence) }
      return
    }
    cleanCount += 1
    try database.undo(sequence)
    changes.remove(at: index)
    for edit in edits { undo(edit) }
  }

  private mutating func undo(_ edit: Edit) {
    switch edit {
    case .element(let element, let before, let after) where before != after:
      if before { elements.insert(element) } else { elements.remove(element) }
    case .entry(let key, let before, let after) where before != after: entries[key] = before
    case .count(let key, let step):
      // All steps are greater than zero: at zero, none is left.
      entries[key, default: 0] -= step
      if entries[key] == 0 { entries[key] = nil }
    default: break
    }
  }

  func compare(_ database: Database) throws {
    let record = try database.read { try $0["r"].value }
    let map = Value.map(ValueMap(entries.map { (name: $0.key, value: .integer($0.value)) }))
    let pairs = try elements.map { element in
      (value: Value.integer(element), bytes: try Value.integer(element).stored())
    }
    let sorted = pairs.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    guard record == ["set": .array(sorted.map(\.value)), "map": map] else {
      throw Divergence("\(String(describing: record)), not \(elements) and \(entries)")
    }
  }
}
