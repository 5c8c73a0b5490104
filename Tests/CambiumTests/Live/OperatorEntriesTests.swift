// Goal: what a live query keeps is the same in memory and in files. Method: random changes from a
// printed seed beside a sorted array; keys that are prefixes of others, and long ones that differ
// only where files do not order them; limits of memory from nothing to more than is needed.
//
// It finds a long key that is taken for another, an entry that is lost on the way to files, and an
// order that is not that of the whole keys: each was planted.

import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("Entries of an operator")
struct OperatorEntriesTests {
  /// Few keys, so that most changes meet an entry.
  private static func key(_ random: inout SeededGenerator) -> [UInt8] {
    let start = [UInt8](repeating: 7, count: random.pick([0, 1, 2, 478, 479, 480, 481, 700]))
    return start + (0..<random.below(3)).map { _ in UInt8(6 + random.below(3)) }
  }

  @Test("are those of a sorted array", arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func model(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    for memoryMax in [0, 4_000, Int.max] {
      let kept = OperatorEntries(memoryMax: memoryMax)
      var model: [[UInt8]: [UInt8]] = [:]
      for _ in 0..<40 {
        try kept.during {
          for _ in 0..<random.below(30) {
            let key = [1] + OperatorEntriesTests.key(&random)
            let value = random.oneIn(3) ? nil : [UInt8](repeating: 1, count: random.below(40))
            try kept.set(key, to: value)
            model[key] = value
            #expect(try kept.value(of: key) == value)
          }
        }
        try kept.during { try check(kept, model, &random) }
      }
      #expect(kept.areInFiles == (memoryMax < .max))
    }
  }

  private func check(
    _ kept: OperatorEntries, _ model: [[UInt8]: [UInt8]], _ random: inout SeededGenerator
  ) throws {
    let sorted = model.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    for _ in 0..<10 {
      let (key, prefix) = (OperatorEntriesTests.key(&random), OperatorEntriesTests.key(&random))
      let last = random.oneIn(4) ? nil : [1] + key
      let wanted = sorted.filter { entry in
        entry.key.starts(with: [1] + prefix)
          && last.map { $0.lexicographicallyPrecedes(entry.key) } ?? true
      }
      var found: [[UInt8]] = []
      try kept.forEach(behind: last, startingWith: [1] + prefix) {
        found.append($0.key)
        #expect(model[$0.key] == $0.value)
        return true
      }
      #expect(found == wanted.map(\.key))
      let first = try kept.first(behind: last, startingWith: [1] + prefix)
      #expect(first?.key == wanted.first?.key)
    }
  }

  @Test("may be changed while they are visited")
  func changing() throws {
    for memoryMax in [0, Int.max] {
      let kept = OperatorEntries(memoryMax: memoryMax)
      try kept.during {
        for number in UInt8(0)..<10 { try kept.set([1, number], to: [number]) }
        var found: [UInt8] = []
        try kept.forEach(startingWith: [1]) {
          found += $0.value
          try kept.set([0, $0.value[0]], to: [])
          try kept.set([1, $0.value[0] + 1], to: nil)
          return true
        }
        #expect(found == [0, 2, 4, 6, 8])
      }
    }
  }

  @Test("leave no file behind, after a step that failed either")
  func files() throws {
    struct Failure: Error {}
    let directory = try TemporaryDirectory()
    let kept = OperatorEntries(memoryMax: 0, in: directory.path)
    try kept.during { try kept.set([1], to: [2]) }
    #expect(throws: Failure.self) {
      try kept.during {
        try kept.set([2], to: [3])
        throw Failure()
      }
    }
    // No transaction was left open.
    #expect(try kept.during { try kept.value(of: [1]) } == [2])
    #expect(kept.areInFiles && Files.names(in: directory.path, startingWith: "").isEmpty)
  }
}
