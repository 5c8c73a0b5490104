import Simulation
import Testing

@testable import Cambium

// The goal: the difference of a derived result makes, of what it was, what mapping, filtering,
// flattening or grouping the whole source makes, and tells no more than it must. The method: random
// lists whose items come, leave, move and change; the strict view applies each difference as a list
// view would; every third step is composed of several.
@Suite("A derived result")
struct DerivedStepsTests {
  private static let rounds = 300

  /// A child of an item, known by its key.
  private struct Child: Hashable {
    var item: Int
    var key: Int
    var text: Int
  }

  /// The children of an item: other ones, others' order, and the same key twice, as it changes.
  private static func children(_ item: Item) -> [Child] {
    let count = (item.version * 5 + item.group * 3) % 7
    return (0..<count).map { index in
      Child(
        item: item.id, key: (index * (item.group + 1)) % 5, text: item.version * index % 2)
    }
  }

  /// Checks a derivation against what is made of the whole source.
  private static func check<Step: LiveDerivation>(
    _ step: Step, seed: UInt64, _ expected: ([Item]) -> [Step.Element],
    also check: (LiveDiff<Item>, LiveDiff<Step.Element>, Comment) -> Void = { _, _, _ in }
  ) throws where Step.Source == Item, Step.Element: Equatable {
    var (step, list) = (step, RandomList(seed: seed, count: 60))
    _ = try step.apply(.appearing(LiveElements(list.items), at: 0))
    var view = StrictListView(expected(list.items))
    for round in 0..<rounds {
      var diff = list.step()
      let comment = Comment(rawValue: "seed \(seed), round \(round)")
      if round % 3 == 0 {
        for _ in 0...list.random.below(3) { diff = diff.composed(with: list.step()) }
      }
      let derived = try step.apply(diff)
      #expect(throws: Never.self, comment) { try view.apply(derived) }
      #expect(Array(derived.elements) == expected(list.items), comment)
      check(diff, derived, comment)
    }
  }

  // Finds an update that maps to the same and is told, an old value that is the new one's, and a
  // move that is told with the element before.
  @Test("of mapping", arguments: SeededGenerator.seeds(1, 2, 3))
  func mapping(seed: UInt64) throws {
    try Self.check(ElementMapping<Item, Int> { $0.version / 2 }, seed: seed) {
      $0.map { $0.version / 2 }
    } also: { diff, derived, comment in
      #expect(derived.updates.allSatisfy { $0.old != $0.new }, comment)
      #expect(derived.moves.map(\.to) == diff.moves.map(\.to), comment)
      #expect(
        derived.updates.count
          == diff.updates.filter { $0.old.version / 2 != $0.new.version / 2 }
          .count, comment)
    }
  }

  // Finds a position that counts hidden elements, an update that is not told as coming or leaving,
  // and a move past hidden elements alone that is told.
  @Test("of filtering", arguments: SeededGenerator.seeds(1, 2, 3))
  func filtering(seed: UInt64) throws {
    try Self.check(ElementFilter<Item> { $0.group % 3 == 0 }, seed: seed) {
      $0.filter { $0.group % 3 == 0 }
    } also: { diff, derived, comment in
      let came = Set(derived.insertions.map(\.element.id))
      #expect(
        came.isDisjoint(with: derived.deletions.map(\.element.id))
          || !Set(diff.insertions.map(\.element.id)).isDisjoint(
            with: diff.deletions.map(\.element.id)),
        comment)
      #expect(derived.moves.count <= diff.moves.count, comment)
    }
    var filter = ElementFilter<Int> { $0 > 0 }
    _ = try filter.apply(.appearing(LiveElements([1, -1, -2, 2]), at: 0))
    let moved = try filter.apply(
      LiveDiff(
        sequence: 1, elements: LiveElements([-1, -2, 1, 2]), deletions: [], insertions: [],
        moves: [.init(from: 0, to: 2, element: 1)], updates: []))
    #expect(moved.isEmpty)
  }

  // Finds children that stay where their element moved, a child that is deleted and inserted though
  // it stays, and positions of an element whose number of children changes.
  @Test("of flattening", arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func flattening(seed: UInt64) throws {
    try Self.check(
      ElementFlattening<Item, Child, Int>(by: { $0.key }) { Self.children($0) }, seed: seed
    ) {
      $0.flatMap(Self.children)
    } also: { diff, derived, comment in
      for update in derived.updates {
        #expect(update.old != update.new && update.old.key == update.new.key, comment)
      }
      let gone = Set(diff.deletions.map(\.element.id))
      let stayed = derived.deletions.filter { !gone.contains($0.element.item) }
      #expect(stayed.count <= diff.updates.count * 6, comment)
    }
    try Self.check(
      ElementFlattening<Item, Child, Child>(by: { $0 }) { Self.children($0) }, seed: seed
    ) {
      $0.flatMap(Self.children)
    } also: { _, derived, comment in
      #expect(derived.updates.isEmpty, comment)
    }
  }

  // Finds a list comparison that deletes and inserts what stays.
  @Test("keeps the children that an element keeps")
  func keeping() throws {
    let before = Item(id: 1, version: 0, group: 0)
    var flattening = ElementFlattening<Item, Child, Int>(by: { $0.key }) { item in
      (item.version == 0 ? [0, 1, 2, 3] : [3, 1, 4, 2]).map {
        Child(item: 1, key: $0, text: $0 == 1 ? item.version : 0)
      }
    }
    _ = try flattening.apply(.appearing(LiveElements([before]), at: 0))
    let after = Item(id: 1, version: 1, group: 0)
    let diff = try flattening.apply(RandomList.diff([before], [after], touched: []))
    #expect(diff.deletions.map(\.element.key) == [0])
    #expect(diff.insertions.map(\.element.key) == [4])
    #expect(diff.moves.map(\.element.key) == [3])
    #expect(diff.updates.map(\.new.key) == [1])
  }

  /// The content of a group.
  private struct Group: Equatable {
    var key: Int
    var items: [Item]

    init(_ section: LiveSection<Item, Int>) {
      (key, items) = (section.key, Array(section.elements))
    }

    init(_ key: Int, _ items: [Item]) {
      self.key = key
      self.items = items.filter { $0.group == key }
    }
  }

  /// Groups, and what each of them holds.
  private struct Groups: LiveDerivation {
    var groups: ElementGrouping<Item, Int>
    var contents = ElementMapping<LiveSection<Item, Int>, Group> { Group($0) }

    mutating func apply(_ diff: LiveDiff<Item>) throws -> LiveDiff<Group> {
      try contents.apply(try groups.apply(diff))
    }
  }

  // Finds a group whose change of elements is not told, at its place after.
  @Test("of grouping", arguments: SeededGenerator.seeds(1, 2, 3))
  func grouping(seed: UInt64) throws {
    try Self.check(
      Groups(groups: ElementGrouping(by: { $0.group }, order: .ascending)), seed: seed
    ) { items in
      Set(items.map(\.group)).sorted().map { Group($0, items) }
    }
    try Self.check(
      Groups(groups: ElementGrouping(by: { $0.group }, order: .sorted { $0.count > $1.count })),
      seed: seed
    ) { items in
      var keys: [Int] = []
      for item in items where !keys.contains(item.group) { keys.append(item.group) }
      return keys.map { Group($0, items) }.enumerated().sorted {
        ($1.element.items.count, $0.offset) < ($0.element.items.count, $1.offset)
      }.map(\.element)
    }
    var grouping = ElementGrouping<Item, Int>(by: { $0.group })
    let items = (0..<6).map { Item(id: $0, version: 0, group: $0 % 2) }
    _ = try grouping.apply(.appearing(LiveElements(items), at: 0))
    #expect(grouping[1]?.elements.map(\.id) == [1, 3, 5] && grouping[2] == nil)
  }

  /// Several, one on top of the other.
  private struct Stack: LiveDerivation {
    var filter = ElementFilter<Item> { $0.group % 2 == 0 }
    var flattening = ElementFlattening<Item, Child, Int>(by: { $0.key }) {
      DerivedStepsTests.children($0)
    }
    var mapping = ElementMapping<Child, Int> { $0.key + $0.text }
    var last = ElementFilter<Int> { $0 != 2 }

    mutating func apply(_ diff: LiveDiff<Item>) throws -> LiveDiff<Int> {
      try last.apply(try mapping.apply(try flattening.apply(try filter.apply(diff))))
    }
  }

  // Finds a difference that the next derivation cannot follow.
  @Test("of one that is derived itself", arguments: SeededGenerator.seeds(1, 2, 3))
  func stacked(seed: UInt64) throws {
    try Self.check(Stack(), seed: seed) { items in
      items.filter { $0.group % 2 == 0 }.flatMap(Self.children).map { $0.key + $0.text }
        .filter { $0 != 2 }
    }
  }

  // Finds differences of a derived result that do not compose as those of a source do.
  @Test("composes", arguments: SeededGenerator.seeds(1, 2))
  func composing(seed: UInt64) throws {
    var (stack, list) = (Stack(), RandomList(seed: seed, count: 40))
    let first = try stack.apply(.appearing(LiveElements(list.items), at: 0))
    var view = StrictListView(first.elements)
    for _ in 0..<100 {
      var diff = try stack.apply(list.step())
      for _ in 0..<3 { diff = diff.composed(with: try stack.apply(list.step())) }
      try view.apply(diff)
    }
  }

  // Finds a derivation that has taken half of a difference in when its closure fails.
  @Test("stays as it is where its closure fails")
  func failing() throws {
    struct Failure: Error {}
    let fails = Toggle()
    @Sendable func check() throws { if fails.isOn { throw Failure() } }
    func run<Step: LiveDerivation>(_ step: Step) throws
    where Step.Source == Item, Step.Element: Equatable {
      var (step, list) = (step, RandomList(seed: 5, count: 30))
      var view = StrictListView(
        try step.apply(.appearing(LiveElements(list.items), at: 0)).elements)
      for _ in 0..<50 {
        let diff = list.step()
        fails.isOn = true
        // One that only deletes and moves does not call the closure.
        let derived = try? step.apply(diff)
        fails.isOn = false
        try view.apply(try derived ?? step.apply(diff))
      }
    }
    try run(
      ElementMapping { (item: Item) in
        try check(); return item.version
      })
    try run(
      ElementFilter { (item: Item) in
        try check(); return item.version > 0
      })
    try run(
      ElementFlattening<Item, Child, Int>(by: { $0.key }) {
        try check(); return Self.children($0)
      })
  }

  // Finds a sum that is not brought up to date on the path to a count, or by a split or merge.
  @Test("has its places by sums of counts", arguments: SeededGenerator.seeds(1, 2))
  func sums(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed, 17)
    var counts = (0..<2_000).map { $0 % 5 }
    var sums = PrefixSums(counts)
    for round in 0..<6_000 {
      // It shrinks to nothing, and grows again.
      let shrinks = round % 3_000 < 1_500
      let position = random.below(counts.count + 1)
      if position == counts.count || random.below(10) < (shrinks ? 1 : 7) {
        counts.insert(round % 7, at: position)
        sums.insert(round % 7, at: position)
      } else if random.oneIn(4) {
        counts[position] = round % 3
        sums.replace(at: position, with: round % 3)
      } else {
        counts.remove(at: position)
        sums.remove(at: position)
      }
      if round % 100 > 0 { continue }
      sums.checkInvariants()
      let place = random.below(counts.count + 1)
      #expect(sums.sum(before: place) == counts[..<place].reduce(0, +), "round \(round)")
      #expect(sums.count == counts.count && sums.root.sum == counts.reduce(0, +), "round \(round)")
      #expect(counts.indices.allSatisfy { sums[$0] == counts[$0] }, "round \(round)")
    }
  }
}
