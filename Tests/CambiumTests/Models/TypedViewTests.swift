import Foundation
import Synchronization
import Testing

@testable import Cambium

/// Goal: what the lines of a schema keep is what typed queries read. Method: each kind of line is
/// asked for; the answer is that of the models in memory, and the plan names the view.
@Suite("A typed view")
struct TypedViewTests {
  struct Sale: Cambium.Model {
    var id = ID()
    var shop = ""
    var price = 0
    var isPaid = false

    static let schema = ModelSchema<Sale>("sales") {
      Count()
      Count(by: \.shop)
      Average(\.price, by: \.shop)
      Minimum(\.price, by: \.shop)
      Maximum(\.price, by: \.shop)
      Sum(\.price).where { $0.isPaid }
      Count(by: \.isPaid).where { $0.isPaid == true }
      Top(\.price.descending, by: \.shop)
      Top(\.isPaid, \.price.descending, by: \.shop)
      Top(\.shop, \.price)
    }
  }

  private func withSales(_ body: (Database, [Sale]) throws -> Void) throws {
    let database = try Database.inMemory(for: Sale.self)
    let sales = (0..<300).map {
      Sale(shop: ["north", "south", "west"][$0 % 3], price: $0 * 37 % 101, isPaid: $0 % 4 == 0)
    }
    try database.write { tx in for sale in sales { try tx.insert(sale) } }
    try body(database, sales)
    try expectSound(database)
    try database.close()
  }

  @Test("keeps all aggregates of the same groups together")
  func together() {
    let contents = Sale.schema.definition.views.map(\.content)
    #expect(
      contents == [
        .groups(by: [], [.count]),
        .groups(by: ["shop"], [.count, .average("price"), .minimum("price"), .maximum("price")]),
        .groups(by: [], [.count, .sum("price")]), .groups(by: ["isPaid"], [.count]),
        .top(by: ["shop"], [.init("price", isDescending: true)]),
        .top(by: ["shop"], [.init("isPaid"), .init("price", isDescending: true)]),
        .top(by: [], [.init("shop"), .init("price")]),
      ])
  }

  /// Threads that use a model first at once all evaluate its lines; one of Swift's own mistakes
  /// made the second evaluation crash.
  @Test("is declared as often as it is asked for, on any thread")
  func declaredAgain() throws {
    let lines: [SchemaItem<Sale>] = [
      Count(by: \.shop, \.isPaid).item, Sum(\.price, by: \.shop).item,
      Top(\.price, \.isPaid, by: \.shop).item, TextIndex(\.shop).item,
      Index(\.shop, \.price).covering(\.isPaid).item,
    ]
    let declared: @Sendable () -> CollectionDefinition? = {
      var definition = CollectionDefinition()
      for line in lines where (try? line.define?(&definition)) == nil { return nil }
      return definition
    }
    let first = try #require(declared())
    let differing = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<50 where declared() != first { differing.withLock { $0 += 1 } }
    }
    #expect(differing.withLock { $0 } == 0)
  }

  @Test("answers groups with several aggregates")
  func groups() throws {
    try withSales { database, sales in
      let groups = database.query(Sale.self).group(by: \.shop)
      let found = try groups.select {
        (
          $0.count, $0.sum($0.price), $0.average($0.price), $0.minimum($0.price),
          $0.maximum($0.price)
        )
      }
      #expect(found.map(\.0) == ["north", "south", "west"])
      for (shop, count, sum, average, least, greatest) in found {
        let prices = sales.filter { $0.shop == shop }.map(\.price)
        #expect(count == prices.count && sum == prices.reduce(0, +))
        #expect(average == Double(prices.reduce(0, +)) / Double(prices.count))
        #expect(least == prices.min() && greatest == prices.max())
      }
      let words = try groups.aggregates { ($0.count, $0.average($0.price)) }.explain()
      #expect(words == "read the groups that a view of sales keeps, by shop")
    }
  }

  @Test("answers counts, of all and of one group, and aggregates of all")
  func counts() throws {
    try withSales { database, sales in
      let query = database.query(Sale.self)
      let (all, west) = (try query.count(), try query.where { $0.shop == "west" }.count())
      let none = try query.where { $0.shop == "east" }.count()
      #expect((all, west, none) == (300, 100, 0))
      let dear = try query.where {
        $0.shop == "west"
        $0.price > 50
      }.count()
      #expect(dear == sales.count { $0.shop == "west" && $0.price > 50 })
      // A view whose group and condition say the same stands for one test, not for two.
      let both = try query.where {
        $0.isPaid == true
        $0.price == 37
      }.count()
      #expect(both == sales.count { $0.isPaid && $0.price == 37 })
      let sum = try query.where { $0.isPaid == true }.sum(\.price)
      #expect(sum == sales.filter(\.isPaid).map(\.price).reduce(0, +))
    }
  }

  @Test("answers aggregates of one group")
  func oneGroup() throws {
    try withSales { database, sales in
      let west = database.query(Sale.self).where { $0.shop == "west" }
      let prices = sales.filter { $0.shop == "west" }.map(\.price)
      let aggregates = (try west.minimum(\.price), try west.maximum(\.price))
      #expect(aggregates == (prices.min(), prices.max()))
      let average = try west.average(\.price)
      #expect(average == Double(prices.reduce(0, +)) / Double(prices.count))
      let groups = west.group(by: \.shop)
      let words = try groups.aggregates { $0.average($0.price) }.explain()
      #expect(words == "read the groups that a view of sales keeps, by shop")
      let found = try groups.select { $0.count }
      #expect(found.map(\.0) == ["west"] && found.map(\.1) == [100])
      let none = database.query(Sale.self).where { $0.shop == "east" }
      let nothing = (try none.average(\.price), try none.group(by: \.shop).select { $0.count })
      #expect(nothing.0 == nil && nothing.1.isEmpty)
    }
  }

  @Test("gives the first of a group")
  func first() throws {
    try withSales { database, sales in
      let query = database.query(Sale.self).where { $0.shop == "south" }
        .order(by: \.price.descending).limit(5)
      let expected = sales.filter { $0.shop == "south" }.map(\.price).sorted(by: >).prefix(5)
      let found = try query.fetch().map(\.price)
      #expect(found == Array(expected))
      let start = "take the first of the view (-price by shop) of sales"
      let (whole, selected) = (try query.explain(), try query.select(\.price).explain())
      #expect(whole.hasPrefix(start) && selected.hasPrefix(start))
      let paidLast = database.query(Sale.self).where { $0.shop == "west" }
        .order(by: \.isPaid, \.price.descending).limit(90)
      let places = try paidLast.fetch().map { [$0.isPaid ? 1 : 0, -$0.price] }
      let wanted = sales.filter { $0.shop == "west" }.map { [$0.isPaid ? 1 : 0, -$0.price] }
        .sorted { $0.lexicographicallyPrecedes($1) }
      #expect(places == Array(wanted.prefix(90)))
      #expect(
        try paidLast.explain().hasPrefix("take the first of the view (isPaid, -price by shop)"))
      let filtered = try query.filter { $0.isPaid }.explain()
      #expect(filtered.hasPrefix(start) && filtered.contains("the filter in Swift"))
    }
  }
}

/// Goal: previews are declared in a line, and read by typed queries without the other records.
@Suite("A typed preview")
struct TypedPreviewTests {
  struct Shop: Cambium.Model, Equatable {
    typealias Key = String
    var id = ID()
    var name = ""
    var city: String?
    static let schema = ModelSchema<Shop>("shops")
  }

  struct Sale: Cambium.Model, Equatable {
    typealias Key = Int
    var id = ID()
    var shop: Shop.ID?
    var price = 0

    static let schema = ModelSchema<Sale>("sales") {
      Property(\.shop).onDelete(.nullify).preview(\.name, \.city)
      Index(\.price.descending).covering(\.shop.name)
      Index(\.shop)
    }
  }

  @Test("is in the index on the reference, and in others that cover it")
  func declared() {
    var shop = IndexDefinition([.init("shop")])
    shop.covered = ["shop.name", "shop.city"]
    var price = IndexDefinition([.init("price", isDescending: true)])
    price.covered = ["shop.name"]
    #expect(Sale.schema.definition.indexes == [shop, price])
  }

  @Test("is what the other model has, and read without it")
  func read() throws {
    let database = try Database.inMemory(for: Shop.self, Sale.self)
    try database.write { tx in
      for name in ["north", "south"] {
        try tx.insert(
          Shop(id: .init(name), name: "The \(name)", city: name == "north" ? "Oslo" : nil))
      }
      for price in 1...40 {
        try tx.insert(
          Sale(
            id: .init(price),
            shop: price % 5 == 0 ? nil : [.init("north"), .init("south")][price % 2], price: price))
      }
    }
    let dear = database.query(Sale.self).where { $0.price > 35 }
      .order(by: \.price.descending).select(\.price, \.shop.name.orNil)
    #expect(try dear.explain().contains("alone"))
    #expect(try dear.explain().contains("0 records read"))
    #expect(try dear.fetch().map(\.1) == [nil, "The south", "The north", "The south", "The north"])
    try database.write { tx in
      try tx.update(Shop.ID("south")) { $0.name = "Le sud" }
      try tx.delete(Shop.ID("north"))
    }
    #expect(try dear.fetch().map(\.1) == [nil, "Le sud", nil, "Le sud", nil])
    let cities = database.query(Sale.self).where { $0.shop.city == nil }.select(
      \.shop.name.orNil)
    #expect(try cities.count() == 40)
    try database.undoLast()
    #expect(try cities.count() == 24)
    #expect(try dear.fetch().map(\.1) == [nil, "The south", "The north", "The south", "The north"])
    try expectSound(database)
    try database.close()
  }
}
