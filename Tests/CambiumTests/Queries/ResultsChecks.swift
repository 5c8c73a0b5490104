// Random questions with their answers in Swift, and the check of all ways to take results.

import FoundationEssentials
import Simulation
import Testing

@testable import Cambium

extension ResultsTests {
  struct Owner: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var name = ""
    var items: Many<Item> { many(\.owner) }

    static let schema = ModelSchema<Owner>("owners")
  }

  struct Item: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var shop = ""
    var price: Int?
    var owner: Owner.ID?

    static let schema = ModelSchema<Item>("items") {
      Index(\.owner)
      Index(\.shop, \.price)
      Index(\.shop).covering(\.price)
      Count(by: \.shop)
      Top(\.price.descending, by: \.shop)
    }
  }

  /// All items and owners, in the order of their keys.
  struct World {
    var items: [Item] = []
    var owners: [Owner] = []

    func owner(_ item: Item) -> Owner? { owners.first { $0.id == item.owner } }
  }

  /// A query, and the same in Swift.
  struct Question {
    var name = ""
    var text = "items"
    var query: ModelQuery<Item>
    var items: [Item]
    var isFiltered = false
    var isOrdered = false
    var window: (count: Int, offset: Int)?

    init(_ query: ModelQuery<Item>, _ items: [Item], _ random: inout FormatRandom) {
      self.query = query
      self.items = items
      narrow(&random)
      order(&random)
      guard isOrdered, random.chance(oneIn: 2) else { return }
      window = (random.pick([0, 1, 9, 300]), random.pick([0, 0, 4, 2_000]))
      name += " limit \(window?.count ?? 0) offset \(window?.offset ?? 0)"
    }

    private mutating func narrow(_ random: inout FormatRandom) {
      if random.chance(oneIn: 2) {
        query = query.where { $0.shop == "south" }
        text += " where shop = \"south\""
        items = items.filter { $0.shop == "south" }
      }
      if random.chance(oneIn: 2) { filter { $0.id.key % 3 != 0 } }
      if random.chance(oneIn: 4) { filter { $0.price ?? 0 > 20 } }
    }

    private mutating func filter(_ passes: @escaping @Sendable (Item) -> Bool) {
      name += " filter"
      isFiltered = true
      query = query.filter(passes)
      items = items.filter(passes)
    }

    private mutating func order(_ random: inout FormatRandom) {
      isOrdered = true
      func key(_ number: Int?, nilAt: Int) -> [Int] { [number ?? nilAt] }
      switch random.below(5) {
      case 0: isOrdered = false
      case 1:
        query = query.order(by: \.id.descending)
        text += " sort -id"
        items.reverse()
      case 2:
        query = query.order(by: \.shop, \.price, \.id)
        text += " sort shop, price, id"
        sort { [$0.shop.utf8.first.map(Int.init) ?? 0, $0.price ?? -999] }
      case 3:
        query = query.order(by: \.price.descending, \.id)
        text += " sort -price, id"
        sort { [$0.price.map { -$0 } ?? 999] }
      default:
        query = query.order(by: \.price.nullsLast, \.id)
        text += " sort price nulls last, id"
        sort { [$0.price ?? 999] }
      }
      name = text + name
    }

    /// Sorts by numbers, and by the id among equals.
    private mutating func sort(_ numbers: (Item) -> [Int]) {
      items = items.map { (numbers($0) + [$0.id.key], $0) }
        .sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
    }

    func limited<T>(_ all: [T]) -> [T] {
      guard let window else { return all }
      return Array(all.dropFirst(window.offset).prefix(window.count))
    }

    func limited<R: Results>(_ results: R) -> R {
      window.map { results.limit($0.count, offset: $0.offset) } ?? results
    }
  }
}

// MARK: Checking

protocol CheckedShape {
  func check() throws
  func checkInBackground() async throws
}

/// Results of one shape and what they must be, as texts.
struct Checked<R: Results>: CheckedShape where R.Element: Sendable {
  let results: R
  let wanted: [String]
  let text: (R.Element) -> String
  /// False where any order will do.
  let isOrdered: Bool
  let comment: Comment

  private func expect(_ found: [R.Element], _ way: String) {
    let found = found.map(text)
    let isRight = isOrdered ? found == wanted : found.sorted() == wanted.sorted()
    #expect(isRight, "\(comment), \(way): \(found.count) of \(wanted.count)")
  }

  func check() throws {
    expect(try results.fetch(), "fetch")
    var found: [R.Element] = []
    try results.forEach { found.append($0) }
    expect(found, "forEach")
    let first = try results.first().map(text)
    #expect(isOrdered ? first == wanted.first : wanted.contains(first ?? "") || wanted.isEmpty)
    #expect(try results.count() == wanted.count, comment)
    #expect(try results.exists() == !wanted.isEmpty, comment)
    #expect(try results.explain().contains("items"), comment)
    expect(try results.withSequence { Array($0) }, "sequence")
    #expect(try results.withSequence { Array($0.prefix(3)).count } == min(3, wanted.count), comment)
    var visited = 0
    try results.walk { _ in
      visited += 1
      return visited < 5
    }
    #expect(visited == min(5, wanted.count), comment)
    try checkPages()
  }

  private func checkPages() throws {
    var found: [R.Element] = []
    try results.batches(of: 61) {
      #expect(!$0.isEmpty && $0.count <= 61, comment)
      found += $0
    }
    expect(found, "batches")
    guard results.request.description.limit == nil else { return }
    var page = try results.limit(97).page()
    found = page.results
    while let next = page.next.flatMap({ QueryCursor($0.description) }) {
      #expect(page.results.count == 97, comment)
      page = try results.limit(97).after(next).page()
      found += page.results
    }
    expect(found, "pages")
  }

  func checkInBackground() async throws {
    expect(try await results.inBackground { try $0.fetch() }, "fetched in the background")
    var found: [R.Element] = []
    for try await element in results.inBackground { found.append(element) }
    expect(found, "in the background")
  }
}
