// Goal: a walk in the past sees the children of then, whatever walks before it have noted of those
// that came later.
// Method: runs of keys come, go and come again at random, from a seed that is printed. A plain list
// says at which transactions each key's node came and went. Pages are read at random moments, in
// both directions, over and over; after each round every note is held against the list.

import Simulation
import Testing

@testable import Cambium

@Suite("A walk over the children of a past moment")
struct PastChildrenTests {
  @Test(
    "sees those of then, whatever earlier walks have noted",
    arguments: SeededGenerator.seeds(9, 10))
  func random(seed: UInt64) throws {
    print("seed \(seed)")
    try withDatabase { database in
      var shelf = Shelf(seed)
      for _ in 0..<3 {
        for _ in 0..<50 { try shelf.write(to: database) }
        for _ in 0..<100 { try shelf.comparePage(of: database, from: 0) }
        try shelf.compareZones(of: database)
      }
      let horizon = shelf.head / 2
      _ = try database.compact(upTo: SequenceNumber(horizon))
      for _ in 0..<60 { try shelf.comparePage(of: database, from: horizon) }
      try shelf.compareZones(of: database)
      try database.rebuild()
      for _ in 0..<60 { try shelf.comparePage(of: database, from: horizon) }
      try expectSound(database)
    }
  }

  @Test("jumps over a run that came later once a walk has passed it", arguments: [false, true])
  func jumps(isReversed: Bool) throws {
    try withDatabase { database in
      try database.write { transaction in
        try transaction.set(Shelf.path.appending(isReversed ? 0 : 5_000), to: 1)
      }
      try database.write { transaction in
        for key in Int64(1)..<5_000 {
          try transaction.set(Shelf.path.appending(.integer(key)), to: 2)
        }
      }
      let past = try database.snapshot(at: .sequence(1))
      func places() throws -> Int {
        let node = try #require(try past.node(at: Shelf.path))
        var walk = try past.walk(node, isReversed: isReversed)
        walk.placesLeft = 10_000
        #expect(try walk.next { _, _, _ in 0 } == 0)
        return 10_000 - walk.placesLeft
      }
      #expect(try places() == 5_000)
      #expect(try places() < 600)
    }
  }

  private func keys(of snapshot: Snapshot) throws -> [Key?] {
    var found: [Key?] = []
    try snapshot[Shelf.path].children.forEach { found.append($0.path.last) }
    return found
  }

  @Test("is not misled by walks that were made once history was cut, in a view from before")
  func heldOverCompaction() throws {
    try withDatabase { database in
      func write(_ keys: Range<Int64>, isRemoval: Bool = false) throws {
        try database.write { transaction in
          for key in keys {
            let path = Shelf.path.appending(.integer(key))
            if isRemoval { try transaction.remove(path) } else { try transaction.set(path, to: 1) }
          }
        }
      }
      try write(100..<200)
      try write(100..<200, isRemoval: true)
      for _ in 0..<5 { try database.write { try $0.increment("other", by: 1) } }
      try write(0..<1_000)
      let held = try database.snapshot(at: .sequence(1))
      _ = try database.compact(upTo: 5)
      for _ in 0..<2 { #expect(try keys(of: database.snapshot(at: .sequence(6))).isEmpty) }
      #expect(try keys(of: held) == (100..<200).map { Key.integer($0) })
    }
  }

  @Test("finds a child again that another walk could not read and went on", arguments: [64, 100])
  func afterError(index: Int64) throws {
    struct Failure: Error {}
    try withDatabase { database in
      let path = Shelf.path.appending(.integer(index))
      try database.write { try $0.set(path, to: 1) }
      try database.write { transaction in
        for key in Int64(0)..<300 where key != index {
          try transaction.set(Shelf.path.appending(.integer(key)), to: 2)
        }
      }
      let past = try database.snapshot(at: .sequence(1))
      var walk = try past.walk(try #require(try past.node(at: Shelf.path)))
      do {
        _ = try walk.next { _, _, _ -> Int in throw Failure() }
        Issue.record("nothing was thrown")
      } catch is Failure {}
      #expect(try walk.next { _, _, _ in 0 } == nil)
      #expect(try keys(of: past) == [.integer(index)])
    }
  }

  /// The children that a walk at moment 1,000 passes, none of which was there: some came later,
  /// each before those that the walk passes next, and the others had been there.
  @Test("notes of no child more than is known", arguments: [false, true], [0, 1, 3])
  func notes(isReversed: Bool, spacing: Int) {
    let places = (0..<3_000).map { index in
      let (order, isGone) = (isReversed ? 3_000 - index : index, spacing > 0 && index % 7 < spacing)
      return (arrival: isGone ? nil : 2_000 + UInt64(order), wasThere: isGone)
    }
    let zones = ArrivalZones()
    let viewed = ViewedZones(zones: zones, horizon: 3)
    var run = LateRun(viewed, node: 1, moment: 1_000, isReversed: isReversed)
    for index in isReversed ? Array((0..<3_000).reversed()) : Array(0..<3_000) {
      let (arrival, wasThere) = places[index]
      guard run.pass(arrival: arrival, wasThere: wasThere) else { continue }
      #expect(run.jump(from: [UInt8](bigEndian: UInt64(index))) == nil)
    }
    run.end()
    let found = zones.zones(of: 1)
    #expect(found.count == 6)
    for zone in found {
      let (low, high) = (
        zone.low.lend { try? $0.bigEndian(at: 0) }, zone.high.lend { try? $0.bigEndian(at: 0) }
      )
      for place in places[Int(low ?? 0) + 1...Int(high ?? 0)] {
        #expect(zone.moments.contains(1_000))
        #expect(zone.moments.upperBound <= place.arrival ?? 1_001)
        #expect(place.wasThere ? zone.moments.lowerBound == 1_000 : zone.moments.lowerBound >= 3)
      }
    }
  }

  @Test("notes no more than its memory may take")
  func bounded() {
    let zones = ArrivalZones()
    for node in 0..<20_000 as Range<UInt64> {
      let key = [UInt8](bigEndian: node)
      zones.add([ArrivalZone(low: key, high: key + [1], moments: 0..<9)], to: node)
    }
    #expect(zones.zones(of: 19_999).count == 1)
    #expect((0..<20_000).count { !zones.zones(of: $0).isEmpty } < 16_000)
  }
}

/// A node's children, and the transactions at which each came and went.
private struct Shelf {
  static let path = "shelf" as NodePath
  private static let keyCount = 3_000

  var random: SeededGenerator
  private(set) var head: UInt64 = 0
  private let keys: [Key]
  /// Of each key, the transactions that made its node come, go, come, … in turn.
  private var turns = [[UInt64]](repeating: [], count: Shelf.keyCount)

  init(_ seed: UInt64) {
    random = SeededGenerator(seed: seed)
    // Integers, and texts of which some are the beginnings of others.
    let integers = (0..<Shelf.keyCount / 2).map { Key.integer(Int64($0)) }
    let texts = (0..<Shelf.keyCount / 2).map { "x" + String($0, radix: 3) }.sorted()
    keys = integers + texts.map { Key.text($0) }
  }

  private func isThere(_ index: Int, at moment: UInt64) -> Bool {
    turns[index].partitionPoint { $0 <= moment } % 2 == 1
  }

  // MARK: Writing

  /// Puts or removes a run of keys.
  mutating func write(to database: Database) throws {
    let start = random.below(keys.count)
    let run = start..<min(start + 1 + random.below(500), keys.count)
    let (isRemoval, isBrief) = (random.below(3) == 0, random.below(8) == 0)
    head += 1
    let sequence = head
    try database.write { transaction in
      try transaction.set("other", to: .integer(Int64(sequence)))
      for index in run {
        let path = Shelf.path.appending(keys[index])
        if !isRemoval { try transaction.set(path, to: .integer(Int64(sequence))) }
        if isRemoval ? isThere(index, at: sequence) : isBrief { try transaction.remove(path) }
        let goes = isRemoval || isBrief
        if isThere(index, at: sequence) == goes { turns[index].append(sequence) }
      }
    }
  }

  // MARK: Comparing

  mutating func comparePage(of database: Database, from horizon: UInt64) throws {
    // Early moments are where most has not come yet.
    let span = Int(head - horizon)
    let moment = horizon + UInt64(min(random.below(span + 1), random.below(span + 1)))
    let (isReversed, limit) = (random.below(2) == 0, 1 + random.below(100))
    let first = random.below(3) == 0 ? nil : random.below(keys.count)
    let snapshot = try database.snapshot(at: .sequence(SequenceNumber(moment)))
    var children = snapshot[Shelf.path].children.limit(limit)
    if isReversed { children = children.reversed() }
    if let first { children = children.from(keys[first]) }
    var found: [Key?] = []
    try children.forEach { found.append($0.path.last) }
    #expect(found == page(moment, first, limit, isReversed), "at \(moment), \(isReversed)")
  }

  private func page(_ moment: UInt64, _ first: Int?, _ limit: Int, _ isReversed: Bool) -> [Key?] {
    let indices =
      isReversed
      ? Array((0...(first ?? keys.count - 1)).reversed()) : Array((first ?? 0)..<keys.count)
    return indices.lazy.filter { isThere($0, at: moment) }.prefix(limit).map { keys[$0] }
  }

  /// Holds each zone that walks have noted against the list.
  func compareZones(of database: Database) throws {
    let past = try database.snapshot(at: .sequence(SequenceNumber(head - 1)))
    let node = try #require(try past.node(at: Shelf.path))
    let zones = try #require(past.arrivalZones).zones.zones(of: node)
    #expect(zones.count > 1)
    for (zone, next) in zip(zones, zones.dropFirst()) {
      #expect(!next.low.lexicographicallyPrecedes(zone.high))
    }
    let stored = keys.map { key in
      var bytes = [UInt8](bigEndian: node)
      key.append(to: &bytes)
      return bytes
    }
    for zone in zones {
      #expect(zone.low.lexicographicallyPrecedes(zone.high) && zone.moments.upperBound <= head)
      let from = stored.partitionPoint { !zone.low.lexicographicallyPrecedes($0) }
      let upTo = stored.partitionPoint { !zone.high.lexicographicallyPrecedes($0) }
      for index in from..<upTo {
        #expect(!zone.moments.contains { isThere(index, at: $0) })
      }
    }
  }
}
