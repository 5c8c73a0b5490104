// Goal: undo takes back exactly what was done, whatever that was, and in whatever order.
// Method: random histories, from a seed that is printed, on a database and on the plain model. Each
// undo must lead to a moment that the model has kept; each redo back. Single properties are undone
// in random order against an oracle that holds before and after of each, and says what conflicts.

import Simulation
import Testing

@testable import Cambium

@Suite("An undo of a random history")
struct UndoModelTests {
  @Test(
    "leads back through every moment to the start, the newest transaction first",
    arguments: SeededGenerator.seeds(11, 12, 13, 14, 15, 111))
  func newestFirst(seed: UInt64) async throws {
    print("seed \(seed)")
    try await withDatabase { database in
      let history = RandomHistory(database, seed: seed, callsMax: seed % 2 == 0 ? 4 : 30)
      history.calls.changesParts = seed % 2 == 0
      try await history.run(calls: 1_500)
      var left = history.model.head
      while left > .zero {
        let undone = try await database.undo(left)
        #expect(undone.undoes == [left])
        left = left.previous
        try requireSameValues(database, history.model.nodes(at: left), "back at \(left)")
      }
    }
  }

  @Test(
    "and a redo of it change nothing",
    arguments: SeededGenerator.seeds(21, 22, 23))
  func redo(seed: UInt64) async throws {
    print("seed \(seed)")
    try await withDatabase { database in
      let history = RandomHistory(database, seed: seed, callsMax: 12)
      history.calls.changesParts = seed % 2 == 0
      var random = SeededGenerator(seed: seed)
      for _ in 0..<12 {
        // Its first transactions go to both; what is undone and redone must leave the same.
        try await history.run(calls: 60)
        try undoAndRedo(database, history, steps: 1 + random.below(8))
      }
    }
  }

  private func undoAndRedo(
    _ database: Database, _ history: RandomHistory, steps: Int
  ) throws {
    let copy = try Place()
    try database.replay(to: copy.path)
    try copy.use { database in
      let head = history.model.head
      let count = min(steps, Int(head.rawValue))
      for step in 1...count {
        #expect(try database.undoLast() != nil)
        let left = SequenceNumber(head.rawValue - UInt64(step))
        try requireSameValues(database, history.model.nodes(at: left), "back at \(left)")
      }
      for step in (0..<count).reversed() {
        #expect(try database.redo() != nil)
        let left = SequenceNumber(head.rawValue - UInt64(step))
        try requireSameValues(database, history.model.nodes(at: left), "again at \(left)")
      }
      #expect(try database.redo() == nil)
      try expectSound(database)
    }
  }

  @Test(
    "of a whole stretch leads to the moment before it in one transaction, and its undo back",
    arguments: SeededGenerator.seeds(31, 32, 33, 34))
  func stretches(seed: UInt64) async throws {
    print("seed \(seed)")
    try await withDatabase { database in
      let history = RandomHistory(database, seed: seed, callsMax: 12)
      history.calls.changesParts = seed % 2 == 0
      try await history.run(calls: 1_200)
      let head = history.model.head
      var random = SeededGenerator(seed: seed)
      for _ in 0..<12 {
        let after = SequenceNumber(UInt64(random.below(Int(head.rawValue))))
        let copy = try Place()
        try database.replay(to: copy.path)
        try copy.use { database in
          let undone = try #require(try database.revert(after: after, upTo: head))
          #expect(undone.undoes.count == Int(head.rawValue - after.rawValue))
          try requireSameValues(database, history.model.nodes(at: after), "\(after)..\(head)")
          try database.undo(undone.sequence)
          try requireSameValues(database, history.model.nodes(at: head), "\(after)..\(head), back")
          try expectSound(database)
        }
      }
    }
  }

  @Test(
    "of single properties, in any order, conflicts where another change came after, and only there",
    arguments: SeededGenerator.seeds(41, 42, 43, 44))
  func anyOrder(seed: UInt64) throws {
    print("seed \(seed)")
    for resolution in [ConflictResolution.refuse, .skipConflicts, .overwrite] {
      try withDatabase { database in
        var oracle = CellOracle(seed: seed)
        try database.write { tx in try tx.set("r", to: [:]) }
        for _ in 0..<60 { try oracle.change(database) }
        for _ in 0..<90 {
          if oracle.random.oneIn(4) { try oracle.change(database) }
          try oracle.undoAny(database, resolution)
          try oracle.compare(database)
        }
        #expect(oracle.conflictCount > 10 && oracle.cleanCount > 10)
      }
    }
  }
}

/// An oracle for a few properties: their values, and what each transaction did to them, which is
/// enough to know what an undo must do.
private struct CellOracle {
  var random: SeededGenerator
  private(set) var conflictCount = 0
  private(set) var cleanCount = 0
  private var cells: [String: Int64] = [:]
  /// Per transaction and cell: before, after, and by how much where it was incremented.
  private var changes: [(sequence: SequenceNumber, cells: [String: Edit])] = []

  private struct Edit {
    var before: Int64?
    var after: Int64?
    var step: Int64?
  }

  private static let names = ["a", "b", "c", "d", "e", "f", "g", "h"]

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// One transaction that changes a few cells, each once.
  mutating func change(_ database: Database) throws {
    var edits: [String: Edit] = [:]
    let sequence = try database.write { tx in
      for _ in 0..<(1 + random.below(3)) {
        let name = random.pick(CellOracle.names)
        if edits[name] != nil { continue }
        edits[name] = try edit(name, tx)
      }
      return tx.sequence
    }
    changes.append((sequence, edits))
  }

  private mutating func edit(_ name: String, _ tx: borrowing Database.Transaction) throws -> Edit {
    let before = cells[name]
    // Names from "e" on are counters.
    if name >= "e" {
      let step = Int64(1 + random.below(9))
      try tx.increment("r", name, by: .integer(step))
      cells[name] = (before ?? 0) + step
      return Edit(before: before, after: cells[name], step: step)
    }
    let after = random.oneIn(5) ? nil : Int64(random.below(4))
    try tx.update("r", [(name, after.map { Value.integer($0) })])
    cells[name] = after
    return Edit(before: before, after: after)
  }

  /// Undoes any transaction that was not undone yet, and does the same here.
  mutating func undoAny(_ database: Database, _ resolution: ConflictResolution) throws {
    guard !changes.isEmpty else { return }
    let index = random.below(changes.count)
    let (sequence, edits) = changes[index]
    let conflicts = Set(edits.filter { isConflict($0.key, $0.value) }.keys)
    conflicts.isEmpty ? (cleanCount += 1) : (conflictCount += 1)
    let head = try database.head
    if resolution == .refuse && !conflicts.isEmpty {
      let error = #expect(throws: DatabaseError.self) { try database.undo(sequence) }
      guard case .undoConflict(let found)? = error else {
        throw Divergence("\(sequence) gives \(String(describing: error))")
      }
      #expect(Set(found.compactMap(\.property)) == conflicts)
      #expect(try database.head == head)
      return
    }
    let undone = try database.undo(sequence, onConflict: resolution)
    #expect(Set(undone.conflicts.compactMap(\.property)) == conflicts)
    changes.remove(at: index)
    for (name, edit) in edits where !conflicts.contains(name) || resolution == .overwrite {
      undo(name, edit)
    }
  }

  private func isConflict(_ name: String, _ edit: Edit) -> Bool {
    if edit.step != nil || edit.before == edit.after || cells[name] == edit.before { return false }
    return cells[name] != edit.after
  }

  private mutating func undo(_ name: String, _ edit: Edit) {
    guard let step = edit.step else {
      if edit.before != edit.after { cells[name] = edit.before }
      return
    }
    // All steps are greater than zero: at zero, none is left.
    let sum = (cells[name] ?? 0) - step
    cells[name] = sum == 0 ? nil : sum
  }

  func compare(_ database: Database) throws {
    for name in CellOracle.names {
      let found = try database.read { try $0["r"][name] }
      guard found == cells[name].map({ Value.integer($0) }) else {
        throw Divergence("\(name) is \(String(describing: found)), not \(cells[name] ?? -1)")
      }
    }
  }
}

/// Compares all paths, values and child counts, but not who changed them last.
func requireSameValues(
  _ database: Database, _ nodes: [NodePath: Tree.Node], _ what: @autoclosure () -> String
) throws {
  let found = try database.read { try $0.root.rows() }
  try requireSame(found.map(\.plain), nodes.rows.map(\.plain), what())
}

extension Row {
  /// The row without the transaction that changed it last.
  fileprivate var plain: Row {
    Row(path: path, value: value, modified: nil, childCount: childCount)
  }
}
