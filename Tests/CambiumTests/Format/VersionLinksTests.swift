// Goal: the links find the version of every moment, through few entries. Method: histories with
// gaps from a seed, searched as the tree does, against the list of all versions.

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

    mutating func change(at sequence: UInt64) {
      if let last = made.last {
        let taken = links.add(HistoryLink(sequence: sequence, index: 0))
        entries[sequence] = (last, taken)
      }
      made.append(sequence)
    }

    /// When the version of a moment was made, and how many entries were read to find it.
    func find(_ moment: UInt64) throws -> (made: UInt64?, reads: Int) {
      guard let present = made.last else { return (nil, 0) }
      if present <= moment { return (present, 0) }
      var link = links.oldest(after: moment)
      var reads = 0
      while let next = link {
        reads += 1
        let entry = try #require(entries[next.sequence])
        if entry.made <= moment { return (entry.made, reads) }
        link = entry.links.oldest(after: moment)
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
      history.change(at: sequence)
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
    for sequence in 1...count { history.change(at: sequence) }
    var most = 0
    for moment in stride(from: 1, through: count, by: count < 2_000 ? 1 : 7) {
      let found = try history.find(moment)
      #expect(found.made == moment)
      most = max(most, found.reads)
    }
    #expect(most <= readsMax, "\(most) entries were read for one of \(count) versions")
  }

  @Test("are refused where a level, or all of them, hold more than can be")
  func tooMany() throws {
    let level = [8] + [UInt8](repeating: 1, count: 8 * 10)
    let most = (0..<VersionLinks.levelsMax).flatMap { _ in level }
    let links = try most.lend { try VersionLinks($0) }
    #expect(links.stored() == most && links.levels.count == VersionLinks.levelsMax)
    let damaged = [
      most + [0], most + level, [9] + [UInt8](repeating: 1, count: 90),
      [255] + [UInt8](repeating: 1, count: 2_550), [UInt8](repeating: 0, count: 65_535),
    ]
    for bytes in damaged {
      #expect(throws: DatabaseError.self) { try bytes.lend { try VersionLinks($0) } }
    }
  }

  @Test("take a bounded number of bytes")
  func size() {
    var links = VersionLinks()
    var largest = 0
    for sequence in 1...50_000 as ClosedRange<UInt64> {
      let taken = links.add(HistoryLink(sequence: sequence, index: .max))
      largest = max(largest, links.stored().count, taken.stored().count)
    }
    #expect(largest <= 5 * 81)
  }
}
