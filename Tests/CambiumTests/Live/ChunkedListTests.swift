import Simulation
import Testing

@testable import Cambium

// The goal: a list in chunks does what an array does, whatever is done to it, and a copy of it
// never changes. The method: the same random calls on both, from small sizes, where all is one
// leaf, to three levels of nodes, and back to nothing.
@Suite("A list in chunks")
struct ChunkedListTests {
  @Test(
    "is what an array is after random insertions, removals and replacements",
    arguments: SeededGenerator.seeds(1, 2, 3))
  func isAnArray(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var array: [Int] = []
    var list = ChunkedList<Int>()
    for growth in [70, 50, 30, 85, 10, 0] {
      for _ in 0..<6_000 { Self.change(&list, &array, growth: growth, &random) }
      list.checkInvariants()
      #expect(Array(list) == array, "seed \(seed)")
      #expect(list.count == array.count, "seed \(seed)")
      for position in stride(from: 0, to: array.count, by: 37) {
        #expect(list[position] == array[position], "seed \(seed)")
      }
    }
    #expect(list.isEmpty)
  }

  private static func change(
    _ list: inout ChunkedList<Int>, _ array: inout [Int], growth: Int,
    _ random: inout SeededGenerator
  ) {
    if random.below(100) < growth {
      let position = random.oneIn(3) ? array.count : random.below(array.count + 1)
      let element = random.below(1_000_000)
      list.insert(element, at: position)
      array.insert(element, at: position)
    } else if !array.isEmpty {
      let position = random.below(array.count)
      #expect(list.remove(at: position) == array.remove(at: position))
    }
    if !array.isEmpty {
      let position = random.below(array.count)
      #expect(list.replace(at: position, with: -1) == array[position])
      array[position] = -1
    }
  }

  // Finds a node that is changed in place although a copy of the list holds it too.
  @Test("leaves its copies alone")
  func copies() {
    var list = ChunkedList(0..<10_000)
    var copies: [(list: ChunkedList<Int>, array: [Int])] = []
    var random = SeededGenerator(seed: 7)
    for step in 0..<200 {
      copies.append((list, Array(list)))
      list.insert(step, at: random.below(list.count + 1))
      list.remove(at: random.below(list.count))
      list.update(at: random.below(list.count)) { $0 += 1 }
    }
    for copy in copies { #expect(copy.array.elementsEqual(copy.list)) }
  }

  // Finds a part that is left out or too small where the elements do not fill their chunks evenly.
  @Test("is built of a sequence of any length")
  func building() {
    for count in Array(0...400) + [6_143, 6_144, 6_145, 300_000] {
      let list = ChunkedList(0..<count)
      list.checkInvariants()
      #expect(list.elementsEqual(0..<count), "\(count) elements")
    }
  }

  // Finds a search that looks into the wrong child where the place lies between two leaves.
  @Test("finds the first position of equal elements", arguments: [0, 1, 100, 1_000, 50_000])
  func position(count: Int) {
    let list = ChunkedList((0..<count).map { $0 / 3 * 2 })
    let array = Array(list)
    for place in stride(from: -1, through: count, by: max(1, count / 500)) {
      let expected = array.firstIndex { $0 >= place } ?? count
      #expect(list.position { $0 < place } == expected)
    }
  }

  // Finds an edit of many rows that does something else than the same edit row by row.
  @Test("applies an edit as a whole or row by row", arguments: SeededGenerator.seeds(1, 2))
  func edits(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var list = ChunkedList(0..<3_000)
    for step in 0..<300 {
      let removals = list.indices(random.pick([0, 1, 5, 200]), &random)
      let left = list.count - removals.count
      let added = random.pick([0, 1, 5, 200])
      let insertions = ChunkedList(0..<left + added).indices(added, &random)
        .map { (position: $0, element: -step) }
      let edit = ListEdit(removals: removals, insertions: insertions)
      let expected = edit.applied(to: Array(list))
      list.apply(edit)
      list.checkInvariants()
      #expect(list.elementsEqual(expected), "seed \(seed), step \(step)")
    }
  }

  @Test("shows its elements as a collection")
  func elements() {
    let elements = LiveElements(0..<1_000)
    #expect(elements[300..<310].map { $0 } == Array(300..<310))
    #expect(elements.reversed().first == 999)
    #expect(elements == LiveElements(ChunkedList(0..<1_000)))
    #expect(elements != LiveElements(0..<999))
    #expect(LiveElements([1, 2]).description == "[1, 2]")
  }
}

extension WeightedList {
  /// Some positions of the list, ascending.
  fileprivate func indices(_ count: Int, _ random: inout SeededGenerator) -> [Int] {
    Array((0..<self.count).shuffled(using: &random).prefix(count)).sorted()
  }
}
