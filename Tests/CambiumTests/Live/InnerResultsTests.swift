import Simulation
import Testing

@testable import Cambium

// The goal: the inner results of an outer result's elements are shown one after the other, whatever
// changes in either. The method: random lists, one for each element of a random list; their steps
// come in any order, and the strict view applies what is made of them.
@Suite("Inner results")
struct InnerResultsTests {
  private struct Trial {
    var outer: RandomList
    var results = InnerResults<Item, Item, Int>()
    var view = StrictListView<Item, Int>([])
    var inner: [Int: RandomList] = [:]
    /// The inner result that an outer item has, by its id.
    var numbers: [Int: Int] = [:]
    var ended: [Int] = []

    init(seed: UInt64) throws {
      outer = RandomList(seed: seed, count: 12)
      try take(.appearing(LiveElements(outer.items), at: 0))
    }

    var expected: [Item] {
      outer.items.flatMap { item in numbers[item.id].flatMap { inner[$0]?.items } ?? [] }
    }

    /// Takes an outer step in, and the first differences of the inner results that begin.
    mutating func take(_ diff: LiveDiff<Item>) throws {
      let step = results.apply(diff) { $0.group }
      try view.apply(step.diff)
      for number in step.ended {
        #expect(inner.removeValue(forKey: number) != nil)
        ended.append(number)
      }
      for (number, element) in step.begun {
        numbers[element.id] = number
        let list = RandomList(seed: UInt64(number) + outer.random.next() % 1000, count: number % 5)
        inner[number] = list
        try show(results.apply(.appearing(LiveElements(list.items), at: 0), of: number))
      }
    }

    mutating func show(_ diff: LiveDiff<Item>?) throws {
      try view.apply(try #require(diff))
    }

    mutating func stepInner() throws {
      for number in inner.keys.sorted() where outer.random.oneIn(4) {
        guard var list = inner[number] else { continue }
        let diff = list.step()
        inner[number] = list
        try show(results.apply(diff, of: number))
      }
    }
  }

  // Finds an offset of the place before, an inner result that stays after its element, one that is
  // asked for again though nothing of it has changed, and one that is not though it has.
  @Test("follow their elements", arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func follow(seed: UInt64) throws {
    var trial = try Trial(seed: seed)
    for round in 0..<200 {
      let before = trial.numbers
      let diff = trial.outer.step()
      try trial.take(diff)
      for update in diff.updates {
        let isSame = before[update.old.id] == trial.numbers[update.new.id]
        #expect(isSame == (update.old.group == update.new.group), "seed \(seed), round \(round)")
      }
      try trial.stepInner()
      #expect(Array(trial.results.elements) == trial.expected, "seed \(seed), round \(round)")
      if let number = trial.ended.last {
        #expect(trial.results.apply(.nothing(LiveElements([]), at: 1), of: number) == nil)
      }
    }
  }

  // Finds places that are lost where many elements come at one place, so that tokens change.
  @Test("are found however many elements come at one place")
  func crowded() throws {
    var results = InnerResults<Int, Int, Bool>()
    var (outer, numbers) = ([-1, -2], [Int: Int]())
    func take(_ diff: LiveDiff<Int>) {
      for (number, element) in results.apply(diff, by: { _ in true }).begun {
        numbers[element] = number
        _ = results.apply(.appearing(LiveElements([element]), at: 1), of: number)
      }
    }
    take(.appearing(LiveElements(outer), at: 1))
    for element in 0..<200 {
      outer.insert(element, at: 1)
      take(
        LiveDiff(
          sequence: 1, elements: LiveElements(outer), deletions: [],
          insertions: [.init(position: 1, element: element, cause: .own)], moves: [], updates: []))
    }
    #expect(Array(results.elements) == outer)
    for element in [199, 7, 0, -2] {
      let number = try #require(numbers[element])
      let gone = LiveDiff(
        sequence: 2, elements: LiveElements<Int>([]),
        deletions: [.init(position: 0, element: element, cause: .own)], insertions: [], moves: [],
        updates: [])
      let place = try #require(results.elements.firstIndex(of: element))
      let diff = results.apply(gone, of: number)
      #expect(diff?.deletions.map(\.position) == [place])
    }
  }
}
