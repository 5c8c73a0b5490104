import Simulation
import Testing

@testable import Cambium

// The goal: a diff makes the result after of the result before, and two diffs compose into one that
// does the same as both. The method: random lists of items with numbers, from which the expected
// entries can be told by comparing the lists; the strict view applies each diff as a list view
// would.
@Suite("A diff of a live result")
struct LiveDiffTests {
  // Finds an entry whose position counts the wrong list, and entries in the wrong order.
  @Test(
    "makes the elements after of those before, also in a strict view",
    arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func applying(seed: UInt64) throws {
    var list = RandomList(seed: seed, count: 80)
    var view = StrictListView(list.items)
    for round in 0..<500 {
      let before = list.items
      let diff = list.step()
      #expect(diff.applied(to: before) == list.items, "seed \(seed), round \(round)")
      #expect(diff.isEmpty == (before == list.items), "seed \(seed), round \(round)")
      try view.apply(diff)
    }
  }

  // Finds a composition that follows a row by a position of the wrong list, tells a row that came
  // and left, tells two updates, or loses the first state of a row that is deleted at last.
  @Test(
    "composed with the next one is the diff over both",
    arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func composing(seed: UInt64) throws {
    var list = RandomList(seed: seed, count: 40)
    for round in 0..<500 {
      let lists = (0...2).map { _ in (list.items, list.step()) }
      let (first, middle) = (lists[0].0, lists[1].0)
      let (one, two) = (lists[0].1, lists[1].1)
      let composed = one.composed(with: two)
      let last = two.applied(to: one.applied(to: first))
      let comment = Comment(rawValue: "seed \(seed), round \(round)")
      #expect(composed.applied(to: first) == last, comment)
      var view = StrictListView(first)
      try view.apply(composed)
      Self.check(composed, first, middle, last, comment)
      let three = composed.composed(with: lists[2].1)
      #expect(three.applied(to: first) == list.items, comment)
    }
  }

  /// Compares the entries with those that the items' numbers give.
  private static func check(
    _ diff: LiveDiff<Item>, _ first: [Item], _ middle: [Item], _ last: [Item], _ comment: Comment
  ) {
    let stays = Set(first.map(\.id)).intersection(middle.map(\.id)).intersection(last.map(\.id))
    let expected = RandomList.diff(
      first.filter { stays.contains($0.id) }, last.filter { stays.contains($0.id) }, touched: stays)
    #expect(diff.deletions.map(\.element) == first.filter { !stays.contains($0.id) }, comment)
    #expect(diff.insertions.map(\.element) == last.filter { !stays.contains($0.id) }, comment)
    #expect(diff.updates.map(\.old) == expected.updates.map(\.old), comment)
    #expect(diff.updates.map(\.new) == expected.updates.map(\.new), comment)
    #expect(
      diff.updates.map { Set($0.properties) } == expected.updates.map { Set($0.properties) },
      comment)
    #expect(diff.sequence > 1, comment)
  }

  // Finds a cause that is lost, and a property that is told with the value of the step between.
  @Test("keeps the first old value, the last new one, and its own cause")
  func merging() {
    func diff(
      _ old: Item, _ new: Item, _ properties: [PropertyUpdate], _ cause: LiveDiff<Item>.Cause
    )
      -> LiveDiff<Item>
    {
      LiveDiff(
        sequence: 1, elements: LiveElements([new]), deletions: [], insertions: [], moves: [],
        updates: [
          .init(before: 0, after: 0, old: old, new: new, properties: properties, cause: cause)
        ])
    }
    let items = (0...2).map { Item(id: 1, version: $0, group: 0) }
    let one = diff(
      items[0], items[1],
      [.init(name: "a", old: 1, new: 2), .init(name: "b", old: nil, new: 1)], .own)
    let two = diff(
      items[1], items[2],
      [.init(name: "a", old: 2, new: nil), .init(name: "b", old: 1, new: nil)], .related)
    let both = one.composed(with: two).updates
    #expect(both.map(\.properties) == [[.init(name: "a", old: 1, new: nil)]])
    #expect(both.map(\.old) == [items[0]])
    #expect(both.map(\.cause) == [.own])
    let unknown = one.composed(with: diff(items[1], items[2], [], .related))
    #expect(unknown.updates.map(\.properties) == [[]], "it may have changed in other ways")
    let back = one.composed(with: diff(items[1], items[0], [], .related))
    #expect(back.updates.isEmpty, "the element is what it was")
  }
}
