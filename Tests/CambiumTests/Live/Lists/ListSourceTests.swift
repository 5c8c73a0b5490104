// Goal: a view that is driven by a source shows what the live result is, at each step, with
// sections and without. Method: random steps, and a view that keeps its cells itself and takes from
// the source only the elements that a batch inserts or reloads.

import Simulation
import Testing

@testable import Cambium

@Suite("The source of a list")
struct ListSourceTests {
  /// Cells that only change as a table view's would.
  private final class Cells: ListView {
    let source: LiveListSource<Item>
    private(set) var sections: [[Item]]
    private var gone: [SectionedPosition] = []
    private var come: [SectionedPosition] = []
    private var moved: [(from: SectionedPosition, to: SectionedPosition)] = []
    private var goneSections: [Int] = []
    private var comeSections: [Int] = []
    private var movedSections: [(from: Int, to: Int)] = []
    private var isOpen = false

    init(_ source: LiveListSource<Item>) {
      self.source = source
      sections = (0..<source.numberOfSections).map { _ in [] }
    }

    func beginUpdates() {
      #expect(!isOpen)
      isOpen = true
      (gone, come, moved) = ([], [], [])
      (goneSections, comeSections, movedSections) = ([], [], [])
    }

    func deleteSections(_ positions: [Int]) { goneSections += positions }
    func insertSections(_ positions: [Int]) { comeSections += positions }
    func moveSection(_ from: Int, to: Int) { movedSections.append((from, to)) }
    func delete(_ positions: [SectionedPosition]) { gone += positions }
    func insert(_ positions: [SectionedPosition]) { come += positions }
    func move(_ from: SectionedPosition, to: SectionedPosition) { moved.append((from, to)) }

    func endUpdates() {
      #expect(isOpen)
      isOpen = false
      let carried = moved.map { (to: $0.to, item: sections[$0.from.section][$0.from.item]) }
      for position in (gone + moved.map(\.from)).sorted().reversed() {
        sections[position.section].remove(at: position.item)
      }
      let carriedSections = movedSections.map { (to: $0.to, cells: sections[$0.from]) }
      for position in (goneSections + movedSections.map(\.from)).sorted().reversed() {
        sections.remove(at: position)
      }
      let new = comeSections.map { (to: $0, cells: all(in: $0)) }
      for (to, cells) in (carriedSections + new).sorted(by: { $0.to < $1.to }) {
        sections.insert(cells, at: to)
      }
      let cells = carried + come.map { (to: $0, item: source[$0]) }
      for (to, item) in cells.sorted(by: { $0.to < $1.to }) {
        sections[to.section].insert(item, at: to.item)
      }
      #expect(sections.count == source.numberOfSections)
      for (section, cells) in sections.enumerated() {
        #expect(cells.count == source.numberOfElements(in: section))
        #expect(cells.map(\.id) == all(in: section).map(\.id))
      }
    }

    func reload(_ positions: [SectionedPosition]) {
      #expect(!isOpen)
      for position in positions { sections[position.section][position.item] = source[position] }
    }

    private func all(in section: Int) -> [Item] {
      (0..<source.numberOfElements(in: section)).map {
        source[SectionedPosition(section: section, item: $0)]
      }
    }
  }

  private static func stream<T: Sendable>(_ elements: [T]) -> AsyncStream<T> {
    AsyncStream { continuation in
      for element in elements { continuation.yield(element) }
      continuation.finish()
    }
  }

  @Test("drives a view without sections", arguments: SeededGenerator.seeds(1, 2, 3))
  func plain(_ seed: UInt64) async throws {
    var list = RandomList(seed: seed, count: 0)
    let diffs = (0..<200).map { _ in list.step() }
    let source = LiveListSource(Self.stream(diffs))
    #expect(source.numberOfSections == 1 && source.numberOfElements(in: 0) == 0)
    let cells = Cells(source)
    try await source.drive(cells)
    #expect(cells.sections == [list.items], "seed \(seed)")
    #expect(source.title(of: 0) == nil)
  }

  @Test("drives a view with sections", arguments: SeededGenerator.seeds(1, 2, 3))
  func sectioned(_ seed: UInt64) async throws {
    var list = RandomList(seed: seed, count: 0)
    var sectioning = try Sectioning(
      LiveElements<Item>(EmptyCollection()), at: 0, by: { $0.group }, order: .ascending)
    var diffs: [SectionedDiff<Item, Int>] = []
    for _ in 0..<200 { diffs.append(try sectioning.apply(list.step())) }
    let source = LiveListSource(Self.stream(diffs)) { "group \($0)" }
    #expect(source.numberOfSections == 0)
    let cells = Cells(source)
    try await source.drive(cells)
    #expect(cells.sections == sectioning.sections.map { Array($0.elements) }, "seed \(seed)")
    let titles = (0..<source.numberOfSections).map { source.title(of: $0) }
    #expect(titles == sectioning.sections.map { "group \($0.key)" })
  }

  @Test("answers with the state before until a batch is applied, and leaves out empty ones")
  func states() async throws {
    let first = RandomList.diff([], [Item(id: 1, version: 0, group: 0)], touched: [])
    let none = RandomList.diff(Array(first.elements), Array(first.elements), touched: [])
    let second = RandomList.diff(Array(first.elements), [], touched: [])
    let source = LiveListSource(Self.stream([first, none, second]))
    var batches = source.batches.makeAsyncIterator()
    var next = try await batches.next()
    var batch = try #require(next)
    #expect(source.numberOfElements(in: 0) == 0)
    source.apply(batch)
    #expect(source.numberOfElements(in: 0) == 1)
    next = try await batches.next()
    batch = try #require(next)
    #expect(batch.deletions == [SectionedPosition(section: 0, item: 0)])
    #expect(source.numberOfElements(in: 0) == 1)
    source.apply(batch)
    #expect(source.numberOfElements(in: 0) == 0)
    let end = try await batches.next()
    #expect(end?.sequence == nil)
  }
}
