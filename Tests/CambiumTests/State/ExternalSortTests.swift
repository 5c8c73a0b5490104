// Goal: an external sort gives back what was added, in order, whatever fits into memory. Method:
// random entries, with few keys so that many are equal, in memory of very different sizes.

import LMDB
import Simulation
import Testing

@testable import Cambium

@Suite("An external sort") struct ExternalSortTests {
  @Test(
    "gives back all entries by key, and equal keys as they were added",
    arguments: SeededGenerator.seeds(1, 2), [100, 1_000, 20_000, 8 << 20])
  func order(seed: UInt64, bytesMax: Int) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    for count in [0, 1, 2, 100, 5_000] {
      var entries: [Entry] = []
      var sort = ExternalSort(bytesMax: bytesMax)
      for index in 0..<count {
        let key = (0..<random.below(4)).map { _ in UInt8(random.below(3)) }
        let value = Array("\(index)".utf8) + Array(repeating: 0, count: random.below(20))
        entries.append(Entry(key: key, value: value))
        try sort.add(key, value)
      }
      let expected = entries.enumerated().sorted { a, b in
        a.element.key == b.element.key
          ? a.offset < b.offset : a.element.key.lexicographicallyPrecedes(b.element.key)
      }
      var sorted = try sort.sorted()
      var found: [Entry] = []
      while let entry = try sorted.next() {
        found.append(Entry(key: entry.key, value: entry.value))
      }
      #expect(found == expected.map(\.element), "\(count) entries")
    }
  }

  @Test("takes entries that are larger than its memory")
  func large() throws {
    var sort = ExternalSort(bytesMax: 1_000)
    let values = (0..<40).map { [UInt8](repeating: UInt8($0), count: 3_000) }
    for (index, value) in values.enumerated().reversed() { try sort.add([UInt8(index)], value) }
    var sorted = try sort.sorted()
    var found: [[UInt8]] = []
    while let entry = try sorted.next() { found.append(entry.value) }
    #expect(found == values)
  }

  @Test("leaves no file where it has worked")
  func files() throws {
    let directory = try TemporaryDirectory()
    var sort = ExternalSort(in: directory.path, bytesMax: 100)
    for number in 0..<UInt8.max { try sort.add([number], []) }
    _ = try sort.sorted()
    #expect(try Files.names(in: directory.path).isEmpty)
  }

  private struct Entry: Equatable {
    var key: [UInt8]
    var value: [UInt8]
  }
}
