import Simulation
import Testing

@testable import Cambium

// The goal: after each step the sections are those that a division made afresh gives, and a strict
// list view accepts the diff and then shows them. The method: random steps of a list whose items
// often change their group, under each order, with new keys and orders in between.
@Suite("Sections of a live result")
struct SectioningTests {
  enum Order: CaseIterable {
    case firstAppearance
    case ascending
    case descending
    case largestFirst
    case firstVersion

    var order: SectionOrder<Item, Int> {
      switch self {
      case .firstAppearance: .firstAppearance
      case .ascending: .ascending
      case .descending: .descending
      case .largestFirst: .sorted { $0.count > $1.count }
      case .firstVersion: .sorted { $0.elements[0].version < $1.elements[0].version }
      }
    }

    func isBefore(_ a: [Item], _ b: [Item], _ key: (Item) -> Int) -> Bool {
      switch self {
      case .firstAppearance: false
      case .ascending: key(a[0]) < key(b[0])
      case .descending: key(a[0]) > key(b[0])
      case .largestFirst: a.count > b.count
      case .firstVersion: a[0].version < b[0].version
      }
    }
  }

  static let keys: [@Sendable (Item) -> Int] = [
    { $0.group }, { $0.group % 2 }, { $0.version }, { $0.id % 7 }, { _ in 0 }, { $0.id },
  ]

  /// The sections, made afresh.
  private static func division(
    _ items: [Item], by key: (Item) -> Int, _ order: Order
  ) -> [[Item]] {
    var keys: [Int] = []
    for item in items where !keys.contains(key(item)) { keys.append(key(item)) }
    let sections = keys.map { wanted in items.filter { key($0) == wanted } }
    return sections.enumerated().sorted { a, b in
      if order.isBefore(a.element, b.element, key) { return true }
      return !order.isBefore(b.element, a.element, key) && a.offset < b.offset
    }.map(\.element)
  }

  // Finds a row that is looked for at its place after in the sections before, a section that stays
  // when it is empty or whose place is not looked at again, an element that is not replaced where
  // it lies, and each of the rules of list views broken.
  @Test(
    "are those of a division made afresh, in a strict view as well",
    arguments: Order.allCases, SeededGenerator.seeds(1, 2, 3, 4))
  func follow(order: Order, seed: UInt64) throws {
    var list = RandomList(seed: seed, count: 50)
    var (key, order) = (Self.keys[0], order)
    var sectioning = try Sectioning(LiveElements(list.items), at: 0, by: key, order: order.order)
    var view = StrictListView(sectioning.sections)
    for round in 0..<400 {
      let comment = Comment(rawValue: "seed \(seed), round \(round), \(order)")
      let diff: SectionedDiff<Item, Int>
      if list.random.oneIn(20) {
        if list.random.oneIn(2) { key = list.random.pick(Self.keys) }
        if list.random.oneIn(2) { order = list.random.pick(Order.allCases) }
        diff = try sectioning.resection(by: key, order: order.order)
      } else {
        diff = try sectioning.apply(list.step())
      }
      #expect(throws: Never.self, comment) { try view.apply(diff) }
      let expected = Self.division(list.items, by: key, order)
      #expect(diff.sections.map { Array($0.elements) } == expected, comment)
      let keys = diff.sections.map { section in section.elements.map(key) }
      #expect(
        keys == diff.sections.map { Array(repeating: $0.key, count: $0.count) }, comment)
      let gone = Set(diff.deletions.map(\.element.id))
      #expect(gone.isDisjoint(with: diff.insertions.map(\.element.id)), comment)
      sectioning.checkInvariants(comment)
    }
  }

  // Finds a composition that sections cannot follow.
  @Test("follow a composition of several steps", arguments: SeededGenerator.seeds(1, 2))
  func composed(seed: UInt64) throws {
    var list = RandomList(seed: seed, count: 50)
    var sectioning = try Sectioning(LiveElements(list.items), at: 0, by: Self.keys[0])
    var view = StrictListView(sectioning.sections)
    for round in 0..<200 {
      var diff = list.step()
      for _ in 0..<list.random.below(4) { diff = diff.composed(with: list.step()) }
      try view.apply(try sectioning.apply(diff))
      let expected = Self.division(list.items, by: Self.keys[0], .firstAppearance)
      #expect(
        sectioning.sections.map { Array($0.elements) } == expected, "seed \(seed), round \(round)")
    }
  }

  // Finds rows that are changed before the key has been asked for all of them.
  @Test("stay as they are if a key cannot be told")
  func failingKey() throws {
    struct NoKey: Error {}
    let items = (0..<10).map { Item(id: $0, version: 0, group: $0 % 3) }
    var sectioning = try Sectioning(LiveElements(items), at: 0) { item in
      if item.version == 9 { throw NoKey() }
      return item.group
    }
    let before = sectioning.sections.map { Array($0.elements) }
    var after = items
    after.remove(at: 0)
    after[4].version = 9
    let diff = RandomList.diff(items, after, touched: [])
    #expect(throws: NoKey.self) { try sectioning.apply(diff) }
    #expect(throws: NoKey.self) { try sectioning.resection(by: { _ in throw NoKey() }) }
    #expect(sectioning.sections.map { Array($0.elements) } == before)
    after[4].version = 1
    let next = try sectioning.apply(RandomList.diff(items, after, touched: []))
    #expect(next.deletions.map(\.position) == [SectionedPosition(section: 0, item: 0)])
  }

  // Finds tokens that are spread in the list of rows, and not in the sections.
  @Test("follow thousands of insertions at one place")
  func onePlace() throws {
    var items = [Item(id: 0, version: 0, group: 0), Item(id: 1, version: 0, group: 1)]
    var sectioning = try Sectioning(LiveElements(items), at: 0, by: { $0.group })
    for id in 2..<2_000 {
      let before = items
      items.insert(Item(id: id, version: 0, group: id % 3), at: id % 5 == 0 ? id / 2 : 1)
      _ = try sectioning.apply(RandomList.diff(before, items, touched: []))
      if id % 250 == 0 { sectioning.checkInvariants("\(id) items") }
    }
    let expected = Self.division(items, by: { $0.group }, .firstAppearance)
    #expect(sectioning.sections.map { Array($0.elements) } == expected)
  }
}

// Single steps, whose diffs are told in full.
extension SectioningTests {
  /// The diff from a list to another one, written as item.version/group.
  private static func step(
    _ before: [Item], _ after: [Item], touched: Set<Int>, _ order: Order = .ascending
  ) throws -> SectionedDiff<Item, Int> {
    var sectioning = try Sectioning(
      LiveElements(before), at: 0, by: { $0.group }, order: order.order)
    var view = StrictListView(sectioning.sections)
    let diff = try sectioning.apply(RandomList.diff(before, after, touched: touched))
    try view.apply(diff)
    return diff
  }

  private static func items(_ groups: [Int]) -> [Item] {
    groups.enumerated().map { Item(id: $0, version: 0, group: $1) }
  }

  private static func position(_ section: Int, _ item: Int) -> SectionedPosition {
    SectionedPosition(section: section, item: item)
  }

  // Finds a move that is told from a section that goes, or into one that comes.
  @Test("tell a row that leaves a deleted section or joins an inserted one as one entry")
  func hiddenSections() throws {
    let before = Self.items([0, 1, 1, 2, 2])
    var after = before
    after[0].group = 2
    after[1].group = 3
    let diff = try Self.step(before, after, touched: [])
    #expect(diff.sectionDeletions.map(\.key) == [0])
    #expect(diff.sectionInsertions.map(\.key) == [3])
    #expect(diff.insertions.map(\.element.id) == [0])
    #expect(diff.deletions.map(\.element.id) == [1])
    #expect(diff.deletions.map(\.element.group) == [1])
    #expect(diff.moves.isEmpty && diff.updates.isEmpty)
  }

  // Finds a change that a move hides.
  @Test("tell a row that moved and changed twice, as a move and as an update")
  func movedAndChanged() throws {
    let before = Self.items([0, 0, 0, 1])
    var after = before
    after.insert(after.remove(at: 0), at: 2)
    after[2].version = 1
    after[0].group = 1
    let diff = try Self.step(before, after, touched: [0])
    #expect(diff.moves.map(\.from) == [Self.position(0, 0), Self.position(0, 1)])
    #expect(diff.moves.map(\.to) == [Self.position(0, 1), Self.position(1, 0)])
    #expect(diff.updates.map(\.after) == diff.moves.map(\.to))
    #expect(diff.updates.map(\.before) == diff.moves.map(\.from))
    #expect(diff.updates.map { $0.properties.map(\.name) } == [["version"], ["group"]])
    #expect(diff.deletions.isEmpty && diff.insertions.isEmpty)
  }

  // Finds a section that is told to move although its rows change.
  @Test("let the neighbours of a section move around it if its rows change")
  func neighbours() throws {
    let before = Self.items([0, 1, 1, 1, 1, 1])
    let after = [Item(id: 9, version: 0, group: 1)] + before
    let diff = try Self.step(before, after, touched: [], .firstAppearance)
    #expect(diff.sectionMoves.map(\.key) == [0])
    #expect(diff.insertions.map(\.position) == [Self.position(0, 0)])
    #expect(diff.sectionDeletions.isEmpty && diff.sectionInsertions.isEmpty)
  }

  // Finds weights that are not the cost of the cells.
  @Test("are deleted and inserted where more neighbours would have to move")
  func redrawn() throws {
    let before = Self.items([0, 1, 2, 3, 4, 5])
    let after = [Item(id: 9, version: 0, group: 5)] + before
    let diff = try Self.step(before, after, touched: [], .firstAppearance)
    #expect(diff.sectionMoves.isEmpty && diff.insertions.isEmpty)
    #expect(diff.sectionDeletions.map(\.position) == [5])
    #expect(diff.sectionInsertions.map(\.position) == [0])
  }

  // Finds a new order that is told by deletions and insertions.
  @Test("move when their order is changed, with the fewest moves")
  func reordered() throws {
    let items = Self.items([3, 1, 2, 0, 1])
    var sectioning = try Sectioning(LiveElements(items), at: 7, by: { $0.group })
    let diff = try sectioning.resection(order: .ascending)
    #expect(diff.sectionMoves.map(\.key) == [0, 3])
    #expect(diff.sequence == 7)
    #expect(diff.deletions.isEmpty && diff.insertions.isEmpty && diff.sectionDeletions.isEmpty)
    #expect(try sectioning.resection(order: .ascending).isEmpty)
  }
}

extension Sectioning {
  /// Records an issue for each invariant that does not hold.
  fileprivate func checkInvariants(_ comment: Comment) {
    var iterators = [Int: ChunkedList<UInt64>.Iterator]()
    for section in sections { iterators[section.id] = section.tokens.makeIterator() }
    for (row, next) in zip(rows.entries, rows.entries.dropFirst()) {
      #expect(row.token < next.token, comment)
    }
    for row in rows.entries { #expect(iterators[row.payload]?.next() == row.token, comment) }
    for (position, section) in sections.enumerated() {
      #expect(iterators[section.id]?.next() == nil && section.count > 0, comment)
      #expect(section.count == section.tokens.count, comment)
      #expect(numbers[section.key] == section.id && index(of: section.id) == position, comment)
    }
    #expect(numbers.count == sections.count && tokens.count == sections.count, comment)
  }
}
