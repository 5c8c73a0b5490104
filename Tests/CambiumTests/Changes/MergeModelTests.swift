// Goal: a merge takes over what only the other side has changed, and names what both have, at any
// place and however often the two were merged before, in either direction.
// Method: random histories of two databases with a common past, from a seed that is printed. Before
// each merge the three trees (base, here, there) are listed, and a naive merge of the lists says
// what must come out. Each pair of databases has several subtrees, each with a history of its own.

import Foundation
import Simulation
import Testing

@testable import Cambium

@Suite("A merge of random histories")
struct MergeModelTests {
  /// `CAMBIUM_MERGES=10000` runs as many histories.
  static let histories =
    ProcessInfo.processInfo.environment["CAMBIUM_MERGES"].flatMap { Int($0) } ?? 240
  static let perPair = 20

  @Test("gives what a naive merge of the three trees gives")
  func naive() throws {
    let seed = SeededGenerator.seeds(41)[0]
    print("seed \(seed)")
    var counts = MergeCounts()
    for pair in 0..<(Self.histories / Self.perPair) {
      var random = SeededGenerator(seed: seed &+ UInt64(pair))
      try MergePair.run(histories: Self.perPair, &random, &counts)
    }
    print(counts)
    // A suite in which no conflict is met, or none decided, would show nothing.
    #expect(counts.taken > 0 && counts.refused > 0 && counts.skipped > 0 && counts.overwritten > 0)
  }
}

/// The number of merges of a run, by their end.
private struct MergeCounts: CustomStringConvertible {
  var (taken, refused, skipped, overwritten, empty) = (0, 0, 0, 0, 0)

  var description: String {
    "\(taken) without conflict, \(refused) refused, \(skipped) skipped, \(overwritten) overwritten,"
      + " \(empty) empty"
  }
}

/// Two databases with a common past.
private final class MergePair {
  private let sides: [Database]
  /// The tree that both sides contain, below each root.
  private var bases: [NodePath: Listing] = [:]

  /// Makes a pair, and lets histories run in it, mingled with each other.
  static func run(
    histories: Int, _ random: inout SeededGenerator, _ counts: inout MergeCounts
  ) throws {
    let (one, other) = (try Place(), try Place())
    let roots = (0..<histories).map { NodePath(keys: ["h", .integer(Int64($0))]) }
    try one.use { database in
      for root in roots {
        for _ in 0..<6 { try RandomChange(below: root, &random).make(in: database) }
      }
      try database.branch(to: other.path)
      try other.use { branch in
        let pair = try MergePair(database, branch, roots)
        for _ in 0..<(10 * histories) { try pair.step(roots, &random, &counts) }
        for root in roots {
          for side in 0...1 { try pair.merge(root, into: side, &random, &counts) }
        }
        try expectSound(branch)
      }
      try expectSound(database)
    }
  }

  private init(_ one: Database, _ other: Database, _ roots: [NodePath]) throws {
    sides = [one, other]
    for root in roots {
      bases[root] = try Listing(one, root)
      #expect(try bases[root] == Listing(other, root))
    }
  }

  private func step(
    _ roots: [NodePath], _ random: inout SeededGenerator, _ counts: inout MergeCounts
  ) throws {
    let (root, side) = (roots[random.below(roots.count)], random.below(2))
    if random.below(8) == 0 { return try merge(root, into: side, &random, &counts) }
    try RandomChange(below: root, &random).make(in: sides[side])
  }

  /// Merges one side's subtree into the other's, and compares with the naive merge.
  private func merge(
    _ root: NodePath, into side: Int, _ random: inout SeededGenerator, _ counts: inout MergeCounts
  ) throws {
    let (here, there) = (sides[side], sides[1 - side])
    let resolution: ConflictResolution = [.refuse, .skipConflicts, .overwrite][random.below(3)]
    let base = try #require(bases[root])
    let (before, other) = (try Listing(here, root), try Listing(there, root))
    let plan = try MergePlan(of: there.directory, into: here.directory, under: root)
    let planned = try Listing(plan.base.snapshot(), root)
    #expect(planned.values == base.values, "\(root): \(plan)")
    let expected = NaiveMerge(base: base, here: before, there: other, resolution)
    let preview = try here.mergePreview(there, under: root, onConflict: resolution)
    let found = Set((preview?.conflicts ?? []).map(MergePlace.init))
    #expect(
      found == expected.conflicts, "\(root): base \(base), here \(before), there \(other)")
    #expect(try Listing(here, root) == before)
    do {
      let merged = try here.merge(there, under: root, onConflict: resolution)
      #expect(resolution != .refuse || expected.conflicts.isEmpty)
      let after = try Listing(here, root)
      #expect(
        after.values == expected.result.values,
        "\(resolution) \(root): base \(base), here \(before), there \(other), after \(after)")
      if merged != nil { bases[root] = other } else { counts.empty += 1 }
      count(resolution, expected, &counts)
    } catch DatabaseError.mergeConflict(let conflicts) {
      #expect(resolution == .refuse)
      #expect(Set(conflicts.map(MergePlace.init)) == expected.conflicts)
      #expect(try Listing(here, root) == before)
      for conflict in conflicts { try checkSides(conflict, here, there) }
      counts.refused += 1
    }
  }

  private func count(
    _ resolution: ConflictResolution, _ expected: NaiveMerge, _ counts: inout MergeCounts
  ) {
    switch (expected.conflicts.isEmpty, resolution) {
    case (true, _): counts.taken += 1
    case (false, .skipConflicts): counts.skipped += 1
    case (false, _): counts.overwritten += 1
    }
  }

  /// A conflict says what is on both sides, and who made it so.
  private func checkSides(
    _ conflict: MergeConflict, _ here: Database, _ there: Database
  ) throws {
    for (side, database) in [(conflict.here, here), (conflict.there, there)] {
      let value = try database.snapshot()[conflict.path].ownValue
      #expect(side.value == conflict.property.map { Listing.property($0, of: value) } ?? value)
      let sequence = try #require(side.changedBy, "\(conflict)")
      let made = try database.commit(sequence)
      #expect(made.metadata == side.metadata && made.time == side.time)
      // A node that is gone went with one above it, or had never been on this side.
      let isChanged = try made.changes.fetch().contains { $0.path == conflict.path }
      #expect(isChanged || side.value == nil)
    }
  }
}

/// The place of a conflict.
private struct MergePlace: Hashable {
  var path: NodePath
  var property: String?

  init(_ path: NodePath, _ property: String?) {
    self.path = path
    self.property = property
  }

  init(_ conflict: MergeConflict) { self.init(conflict.path, conflict.property) }
}

/// The nodes of a subtree.
private struct Listing: Equatable, CustomStringConvertible {
  /// Each node that is there, with its own value, if it has one.
  var nodes: [NodePath: Value?] = [:]

  init(_ database: Database, _ root: NodePath) throws {
    try self.init(database.snapshot(), root)
  }

  init(_ snapshot: Snapshot, _ root: NodePath) throws {
    var walk = try snapshot[root].descendants()
    while let node = try walk.next() { nodes[node.path] = .some(try node.ownValue) }
  }

  var description: String {
    nodes.keys.sorted().map { "\($0)=\(self[$0].map { "\($0)" } ?? "-")" }.joined(separator: " ")
  }

  /// The nodes that have a value.
  var values: [NodePath: Value] { nodes.compactMapValues { $0 } }

  func has(_ path: NodePath) -> Bool { nodes[path] != nil }

  subscript(path: NodePath) -> Value? { nodes[path] ?? nil }

  func paths(within path: NodePath) -> [NodePath] {
    nodes.keys.filter { $0.isWithin(path) }.sorted()
  }

  static func property(_ name: String, of value: Value?) -> Value? {
    if case .map(let record)? = value { record[name] } else { nil }
  }
}

/// A three-way merge of listed trees, as it is defined and not as the engine runs it.
private struct NaiveMerge {
  private(set) var result: Listing
  private(set) var conflicts: Set<MergePlace> = []
  private let (base, here, there): (Listing, Listing, Listing)
  private let takesTheirs: Bool
  /// The subtrees that are decided about as a whole.
  private var settled: [NodePath] = []

  init(base: Listing, here: Listing, there: Listing, _ resolution: ConflictResolution) {
    (self.base, self.here, self.there) = (base, here, there)
    result = here
    takesTheirs = resolution != .skipConflicts
    for path in Self.tops(base, without: there) { settleRemovedThere(path) }
    for path in Self.tops(base, without: here) where !isSettled(path) { settleRemovedHere(path) }
    for path in there.nodes.keys where !isSettled(path) { take(path) }
    if resolution == .refuse && !conflicts.isEmpty { result = here }
  }

  /// The highest nodes of one tree that another has not, if they hold a value, or one below them.
  private static func tops(_ tree: Listing, without other: Listing) -> [NodePath] {
    tree.nodes.keys.filter { path in
      !other.has(path) && (path.parent.map { !tree.has($0) || other.has($0) } ?? true)
        && tree.paths(within: path).contains { tree[$0] != nil }
    }
  }

  private func isSettled(_ path: NodePath) -> Bool { settled.contains { path.isWithin($0) } }

  private mutating func settleRemovedThere(_ top: NodePath) {
    settled.append(top)
    guard here.has(top) else { return }
    let changed = here.paths(within: top).filter { base[$0] != here[$0] }
    for path in changed { conflicts.insert(MergePlace(path, nil)) }
    if changed.isEmpty || takesTheirs {
      for path in here.paths(within: top) { result.nodes[path] = nil }
    }
  }

  private mutating func settleRemovedHere(_ top: NodePath) {
    guard there.has(top) else { return }
    settled.append(top)
    let changed = there.paths(within: top).filter { base[$0] != there[$0] }
    guard let first = changed.first else { return }
    conflicts.insert(MergePlace(first, nil))
    if !takesTheirs { return }
    for path in there.paths(within: top) { result.nodes[path] = .some(there[path]) }
  }

  private mutating func take(_ path: NodePath) {
    let (old, new, found) = (base[path], there[path], here[path])
    if old == new || found == new { return }
    if case (.map(let old)?, .map(let new)?, .map(var record)?) = (old, new, found) {
      for name in Set(old.members.map(\.name) + new.members.map(\.name)) {
        if old[name] == new[name] || record[name] == new[name] { continue }
        if record[name] != old[name] {
          conflicts.insert(MergePlace(path, name))
          if !takesTheirs { continue }
        }
        record[name] = new[name]
      }
      result.nodes[path] = .some(.map(record))
      return
    }
    if found != old {
      conflicts.insert(MergePlace(path, nil))
      if !takesTheirs { return }
    }
    result.nodes[path] = .some(new)
  }
}

/// A change at a random place.
private struct RandomChange {
  private let path: NodePath
  private let kind: Int
  private let number: Int64
  private let name: String
  private let target: NodePath

  init(below root: NodePath, _ random: inout SeededGenerator) {
    path = RandomChange.path(below: root, &random)
    target = RandomChange.path(below: root, &random)
    kind = random.below(12)
    number = Int64(random.below(3))
    name = ["x", "y", "z"][random.below(3)]
  }

  private static func path(below root: NodePath, _ random: inout SeededGenerator) -> NodePath {
    let keys: [Cambium.Key] = ["a", "b", "c"]
    var path = root
    for _ in 0...random.below(3) { path = path.appending(keys[random.below(3)]) }
    return path
  }

  func make(in database: Database) throws {
    do {
      try database.write(actor: "somebody \(number)") { tx in
        switch kind {
        case 0...3: try tx.set(path, to: ["x": .integer(number), "y": 0])
        case 4: try tx.set(path, to: .integer(number))
        case 5...8: try tx.update(path, [name: .integer(number)])
        case 9: try tx.clear(path)
        case 10: try tx.move(path, to: target)
        default: try tx.remove(path)
        }
      }
    } catch DatabaseError.notFound, DatabaseError.badValue, DatabaseError.exists {
      // There is nothing to change, or something is in the way.
    }
  }
}
