// Goal: the links find the version of every moment, through few entries, and name what changed.
// Method: histories with gaps from a seed, searched as the tree does, against the list of all
// versions.

import Simulation
import Testing

@testable import Cambium

@Suite("Links to earlier versions")
struct VersionLinksTests {
  /// A node's versions, as tree and history hold them.
  struct History {
    /// When each version was made.
    private(set) var made: [UInt64] = []
    private var links = VersionLinks()
    /// By the transaction that replaced them: when they were made, and what they took along.
    private var entries: [UInt64: (made: UInt64, links: VersionLinks)] = [:]

    /// The property that each transaction changed, but the one that made the node.
    private var changes: [UInt64: NameID] = [:]

    mutating func change(_ name: NameID = 0, at sequence: UInt64) throws {
      if let last = made.last {
        let link = HistoryLink(sequence: sequence, index: 0)
        entries[sequence] = (last, try links.add(link, changing: .these([name])))
        changes[sequence] = name
      }
      made.append(sequence)
    }

    /// Checks that each link names what changed up to its version's replacement, since that of the
    /// link before, and nothing else.
    func checkNames() throws {
      try check(links, since: 0)
    }

    private func check(_ links: VersionLinks, since first: UInt64) throws {
      var first = first
      for link in try links.all {
        let names = changes.filter { $0.key > first && $0.key <= link.entry.sequence }.values
        #expect(link.changed == .these(Set(names).sorted()))
        try check(try #require(entries[link.entry.sequence]).links, since: first)
        first = link.entry.sequence
      }
    }

    /// When the version of a moment was made, and how many entries were read to find it.
    func find(_ moment: UInt64) throws -> (made: UInt64?, reads: Int) {
      guard let present = made.last else { return (nil, 0) }
      if present <= moment { return (present, 0) }
      var link = try links.oldest(after: moment)
      var reads = 0
      while let next = link {
        reads += 1
        let entry = try #require(entries[next.sequence])
        if entry.made <= moment { return (entry.made, reads) }
        link = try entry.links.oldest(after: moment)
      }
      return (nil, reads)
    }
  }

  @Test("find the version of each moment", arguments: FormatSeeds.first(4))
  func moments(seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    var history = History()
    var sequence: UInt64 = UInt64(random.below(5))
    for count in 1...400 {
      sequence += 1 + UInt64(random.below(4))
      try history.change(at: sequence)
      if count > 100 && count % 37 != 0 { continue }
      for moment in 0...(sequence + 2) {
        let expected = history.made.last { $0 <= moment }
        #expect(try history.find(moment).made == expected, "\(moment), seed \(seed)")
      }
    }
  }

  @Test("lead through few entries", arguments: [(10, 2), (100, 3), (1_000, 5), (20_000, 6)])
  func reads(_ count: UInt64, _ readsMax: Int) throws {
    var history = History()
    for sequence in 1...count { try history.change(at: sequence) }
    var most = 0
    for moment in stride(from: 1, through: count, by: count < 2_000 ? 1 : 7) {
      let found = try history.find(moment)
      #expect(found.made == moment)
      most = max(most, found.reads)
    }
    #expect(most <= readsMax, "\(most) entries were read for one of \(count) versions")
  }

  @Test("name what changed up to each", arguments: FormatSeeds.first(3))
  func changes(seed: UInt64) throws {
    var random = FormatRandom(seed: seed)
    var history = History()
    for sequence in 1...900 as ClosedRange<UInt64> {
      try history.change(NameID(random.below(random.below(6) + 1)), at: sequence)
      if sequence % 113 == 0 { try history.checkNames() }
    }
  }

  @Test("name properties in few bytes")
  func names() throws {
    let cases: [([NameID], String)] = [
      ([], "80"), ([0], "00"), ([127], "7F"), ([128], "C1 8001"), ([.max], "C1 FFFFFFFF0F"),
      ([5, 7], "C2 05 02"), ([5, 6, 8], "81 05 0B"), ([300, 305, 307, 315], "82 AC02 A1 80"),
      ([0, 1, 900], "C3 00 01 8307"), ([.max - 2, .max - 1, .max], "C3 FDFFFFFF0F 01 01"),
    ]
    for (names, hex) in cases {
      var stored: [UInt8] = []
      ChangedNames.these(names).append(to: &stored)
      #expect(stored.hex == [UInt8](hex: hex).hex, "\(names)")
      var offset = 0
      let read = try stored.lend { try ChangedNames($0, at: &offset) }
      #expect(read == .these(names) && offset == stored.count)
    }
  }

  @Test("name any property where there are too many to list")
  func manyNames() throws {
    var links = VersionLinks()
    let names = (0..<ChangedNames.countMax).map { NameID($0) * 1_000_000 }
    _ = try links.add(HistoryLink(sequence: 1, index: 0), changing: .these(names))
    #expect(try links.all.map(\.changed) == [.these(names)])
    try links.noteNewest(.these([5_000_000]))
    #expect(try links.all.map(\.changed) == [.these(names)])
    try links.noteNewest(.these([5]))
    #expect(try links.all.map(\.changed) == [.any])
    for sequence in 2...9 as ClosedRange<UInt64> {
      _ = try links.add(HistoryLink(sequence: sequence, index: 0), changing: .none)
    }
    #expect(try links.all.map(\.changed) == [.any])
    try links.noteNewest(.any)
    #expect(try links.all.map(\.changed) == [.any])
  }

  @Test("take in what the same transaction changes later")
  func newest() throws {
    for count in 1...20 as ClosedRange<UInt64> {
      var links = try GoldenLinksTests.links(after: count).links
      let before = try links.all
      try links.noteNewest(.none)
      #expect(try links.all == before)
      try links.noteNewest(.these([9, 1_000_000]))
      var newest = try #require(before.last).changed
      newest.formUnion(.these([9, 1_000_000]))
      #expect(try links.all.dropLast() == before.dropLast())
      #expect(try links.all.last == VersionLink(entry: before.last!.entry, changed: newest))
      #expect(try links.stored().lend { try VersionLinks($0) } == links)
    }
  }

  @Test("are refused where a level, or all of them, hold more than can be")
  func tooMany() throws {
    let bare = [UInt8](repeating: 1, count: 7)
    let level = Self.level(8, bare + [0x80])
    let most = (0..<VersionLinks.levelsMax).flatMap { _ in level }
    let links = try most.lend { try VersionLinks($0) }
    #expect(try links.stored() == most && links.all.count == 8 * VersionLinks.levelsMax)
    let damaged: [[UInt8]] = [
      most + [0], most + level, Self.level(9, bare + [0x80]), Self.level(255, bare + [0x80]),
      [UInt8](repeating: 0, count: 65_535), Self.level(1, bare),
      Self.level(1, Array(bare.dropLast()) + [255, 255, 255, 255, 31, 0x80]),
      Self.level(1, bare + [0xC0]), Self.level(1, bare + [0xE1]), Self.level(1, bare + [0xC2, 7]),
      Self.level(1, bare + [0xC2, 7, 0]), Self.level(1, bare + [0x81, 7]),
      Self.level(1, bare + [0xC2, 255, 255, 255, 255, 15, 1]),
      Self.level(1, bare + [0x81, 255, 255, 255, 255, 15, 1]),
    ]
    for bytes in damaged {
      #expect(throws: DatabaseError.self) { try bytes.lend { try VersionLinks($0) } }
    }
  }

  private static func level(_ count: UInt8, _ link: [UInt8]) -> [UInt8] {
    [count] + (0..<count).flatMap { _ in link }
  }

  @Test("take a bounded number of bytes")
  func size() throws {
    var links = VersionLinks()
    var largest = 0
    for sequence in 1...50_000 as ClosedRange<UInt64> {
      let name = NameID(sequence % 20)
      let link = HistoryLink(sequence: sequence, index: .max)
      let taken = try links.add(link, changing: .these([name]))
      largest = max(largest, links.stored().count, taken.stored().count)
    }
    // A link to a version that holds others names all twenty properties, in three bytes.
    #expect(largest <= 5 * (1 + 8 * 16))
  }
}
