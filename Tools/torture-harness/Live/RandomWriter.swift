import Cambium
import Simulation

/// Writes a random history: small and large transactions, also such as are refused or broken off,
/// undo and redo, moves, migrations. The same seed gives the same history of a database that nobody
/// else writes to.
final class RandomWriter {
  private(set) var records: RandomRecords
  private let database: Database
  /// True if it may change declarations. Queries of the past go by those of the present, so that
  /// nobody may who writes while another one compares.
  private let declares: Bool
  /// Removals that may be taken back.
  private var removals: [(path: NodePath, sequence: SequenceNumber)] = []
  /// The collection with many records that the next transaction removes again.
  private var flooded: NodePath?
  /// The transactions of each kind that were not refused.
  private(set) var done: [Kind: Int] = [:]
  private(set) var refusals = 0

  /// The kinds of transactions.
  enum Kind: String, CaseIterable {
    case edit, models, bulk, undo, move, moveTree, restore, redeclare, migrate, breakOff, clear
    case flood, rebuild
  }

  /// The most records of a transaction that brings more changes than a live query holds.
  private static let flood = 600

  init(_ database: Database, seed: UInt64, _ purpose: UInt64, declares: Bool) {
    (self.database, self.declares) = (database, declares)
    records = RandomRecords(random: SeededGenerator(seed: seed, purpose))
  }

  /// Declares the collections, and fills them.
  func begin() throws {
    try database.write { tx in
      for path in RandomRecords.collections { try tx.declare(path, records.definition()) }
    }
    for _ in 0..<8 { try? write(40) }
    for _ in 0..<4 { try? database.write { tx in try models(tx, 12) } }
  }

  /// Tries one transaction. One that is refused changes nothing, which is seen as well.
  func commit() throws {
    let kind = flooded == nil ? draw() : .flood
    do {
      try run(kind)
      done[kind, default: 0] += 1
    } catch {
      guard error.isRefusal else { throw error }
      refusals += 1
    }
  }

  private func draw() -> Kind {
    switch records.random.below(100) {
    case 0..<47: .edit
    case 47..<60: .models
    case 60..<69: .bulk
    case 69..<77: .undo
    case 77..<80: .move
    case 80..<81: .moveTree
    case 81..<85: .restore
    case 85..<92: .clear
    case 92..<97: .breakOff
    // Rare, since live queries are made anew after them.
    case 97..<98: declares ? .redeclare : .edit
    case 98..<99: declares && records.random.oneIn(2) ? .migrate : .edit
    default: records.random.oneIn(2) ? .flood : .rebuild
    }
  }

  private func run(_ kind: Kind) throws {
    switch kind {
    case .edit: try write(1 + records.random.below(3))
    case .models: try database.write { tx in try models(tx, 1 + records.random.below(3)) }
    case .bulk:
      // Some have more changes than are routed by the thread that commits, or compared one by one.
      try write(10 + records.random.below(records.random.oneIn(4) ? 500 : 50))
    case .undo: try undo()
    case .move: try move()
    case .moveTree: try moveTree()
    case .restore: try restore()
    case .redeclare: try redeclare()
    case .migrate: try migrate()
    case .breakOff: try breakOff()
    case .clear: try clear()
    case .flood: try flood()
    case .rebuild: try database.rebuild()
    }
  }

  // MARK: Records

  private func write(_ count: Int) throws {
    let removed = try database.write { tx in try change(tx, count) }
    let sequence = try database.head
    removals = (removals + removed.map { ($0, sequence) }).suffix(8)
  }

  /// - Returns: The paths that were removed.
  private func change(_ tx: borrowing Database.Transaction, _ count: Int) throws -> [NodePath] {
    var removed: [NodePath] = []
    for _ in 0..<count {
      // Half of all changes are of one collection, so that it has rows enough for its windows.
      let collection =
        records.random.oneIn(2) ? "ants" : records.random.pick(RandomRecords.collections)
      let definition = try tx.declaration(of: collection)
      let path = records.path(in: collection, definition)
      // A part of a transaction that is refused leaves the others.
      let isRemoved = try? tx.attempt { try change(tx, path, definition) }
      if isRemoved == true { removed.append(path) }
    }
    return removed
  }

  /// - Returns: True if the record was removed.
  private func change(
    _ tx: borrowing Database.Transaction, _ path: NodePath, _ definition: CollectionDefinition?
  ) throws -> Bool {
    switch records.random.below(12) {
    case 0, 1: return try tx.remove(path)
    case 2, 3, 4: try tx.set(path, to: .map(records.record(definition)))
    case 5: try tx.increment(path, "n", by: 1)
    case 6: try tx.append(records.key(), to: path, "many")
    case 7: try tx.set(path, "by", "k\(records.random.below(5))", to: 1)
    case 8: try tx.set(path.appending("notes" as Key), to: .string(records.text()))
    default:
      guard try tx[path].record != nil else {
        try tx.set(path, to: .map(records.record(definition)))
        return false
      }
      let name = records.random.pick(RandomRecords.properties)
      guard let property = definition?[name] else { return false }
      let value = records.random.oneIn(5) ? nil : records.value(of: name, property.type)
      try tx.update(path, [name: value])
    }
    return false
  }

  private func models(_ tx: borrowing Database.Transaction, _ count: Int) throws {
    for _ in 0..<count {
      _ = try? tx.attempt {
        if records.random.oneIn(4) {
          try Team.change(tx, &records.random)
        } else {
          try Player.change(tx, &records.random)
        }
      }
    }
  }

  /// Removes the first or the last records of an order, so that windows run short.
  private func clear() throws {
    let collection = records.random.pick(RandomRecords.collections + ["ants", "ants", "ants"])
    let name = records.random.pick(["n", "n", "t", "x", "x", "id"])
    let count = 5 + records.random.below(50)
    let query = "\(collection) sort \(records.random.oneIn(2) ? "-" : "")\(name) limit \(count)"
    try database.write { tx in
      for record in try tx.records(query).fetch() {
        _ = try? tx.attempt { try tx.remove(record.path) }
      }
    }
  }

  // MARK: More changes than a live query holds

  /// Few of its records are equal in a property, since two joins by it have as many results as the
  /// product of three such collections.
  private func flood() throws {
    if let flooded { return try drain(flooded) }
    let collection = records.random.pick(RandomRecords.collections)
    try database.write { tx in
      let definition = try tx.declaration(of: collection)
      for number in 0..<RandomWriter.flood {
        let key: Key =
          definition?.keys == .string ? .text("f\(number)") : .integer(1000 + Int64(number))
        let shared = number / 4
        try tx.set(
          collection.appending(key), to: ["n": .integer(Int64(shared)), "t": .string("b\(shared)")])
      }
    }
    flooded = collection
  }

  private func drain(_ collection: NodePath) throws {
    flooded = nil
    try database.write { tx in
      for number in 0..<RandomWriter.flood {
        try tx.remove(collection.appending(.text("f\(number)")))
        try tx.remove(collection.appending(.integer(1000 + Int64(number))))
      }
    }
  }

  // MARK: Back and forth

  private func undo() throws {
    let conflicts = records.random.pick(
      [ConflictResolution.refuse, .skipConflicts, .overwrite, .overwrite])
    let head = try database.head.rawValue
    let back = SequenceNumber(head - UInt64(records.random.below(min(8, Int(head)))))
    switch records.random.below(4) {
    case 0: try database.undoLast(onConflict: conflicts)
    case 1: try database.redo(onConflict: conflicts)
    case 2: try database.undo(back, onConflict: conflicts)
    default:
      try database.revert(after: back, upTo: SequenceNumber(head), onConflict: conflicts)
    }
  }

  private func restore() throws {
    guard let removal = removals.popLast() else { return try write(1) }
    try database.write { tx in try tx.restore(removal.path, removedAt: removal.sequence) }
  }

  // MARK: Moves

  private func move() throws {
    let (source, target) = (
      records.random.pick(RandomRecords.collections), records.random.pick(RandomRecords.collections)
    )
    try database.write { tx in
      guard let child = try records.random.some(tx[source].children.fetch()) else { return }
      let free = try (0..<8).map { _ in records.path(in: target, try tx.declaration(of: target)) }
        .first { try !tx[$0].exists }
      if let free { try tx.move(child.path, to: free) }
    }
  }

  /// Moves a collection with all of its records away, or back.
  private func moveTree() throws {
    try database.write { tx in
      if try tx["pens"].exists {
        try tx.move("pens", to: "away")
      } else {
        try tx.move("away", to: "pens")
      }
    }
  }

  // MARK: Migrations

  /// Changes references, defaults and indexes.
  private func redeclare() throws {
    let path = records.random.pick(RandomRecords.collections)
    if records.random.oneIn(2) {
      try database.write { tx in
        try tx.declare(path, records.definition(after: try tx.declaration(of: path)))
      }
    } else {
      let present = try database.write { tx in try tx.declaration(of: path) }
      try database.declare(path, records.definition(after: present))
    }
  }

  /// Gives a property another type or another name, with all of its values.
  private func migrate() throws {
    let path = records.random.pick(RandomRecords.collections)
    try database.write { tx in
      guard var definition = try tx.declaration(of: path) else { return }
      try tx.declare(path, nil)
      let isRenaming = records.random.oneIn(2)
      for index in definition.properties.indices {
        let name = definition.properties[index].name
        if isRenaming, name == "x" || name == "y" {
          definition.properties[index].name = name == "x" ? "y" : "x"
        } else if !isRenaming, name == "n" {
          definition.properties[index].type = records.numberType()
          definition.properties[index].absence = nil
        }
      }
      for child in try tx[path].children.fetch() {
        guard var record = try child.record else { continue }
        if isRenaming {
          (record["x"], record["y"]) = (record.values["y"], record.values["x"])
        } else if record.values["n"] != nil {
          record["n"] = records.number(definition["n"]?.type)
        }
        try tx.set(child.path, to: .map(record.values))
      }
      try tx.declare(path, definition)
    }
  }

  // MARK: Transactions that fail

  /// A transaction that throws in the end, or a part of one that does.
  private func breakOff() throws {
    let isWhole = records.random.oneIn(2)
    try database.write { tx in
      _ = try change(tx, 2)
      if isWhole { throw BrokenOff() }
      try? tx.attempt {
        _ = try change(tx, 3)
        throw BrokenOff()
      }
      _ = try change(tx, 1)
    }
  }
}

/// The error of a transaction that is broken off on purpose.
private struct BrokenOff: Error {}

extension Error {
  /// True if a transaction may end with it, without anything being wrong.
  fileprivate var isRefusal: Bool {
    switch self {
    case is BrokenOff, is ValidationError: return true
    case let error as DatabaseError:
      switch error {
      case .badKey, .badValue, .notFound, .exists, .invalid, .notUnique, .stillReferred,
        .undoConflict, .mergeConflict, .misuse:
        return true
      default: return false
      }
    default: return false
    }
  }
}

extension Database.Transaction {
  fileprivate func declaration(of path: NodePath) throws -> CollectionDefinition? {
    try readingSnapshot().definition(of: path)
  }
}

extension SeededGenerator {
  /// One of several; nil where there are none.
  fileprivate mutating func some<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : pick(elements)
  }
}
