// Random databases of things and people, random indexes on them, and random queries.

import FoundationEssentials

@testable import Cambium

extension RandomConditions {
  /// The properties declared in databases, where values are of the declared types.
  static let properties = [
    "count", "weight", "title", "price", "made", "mark", "owner", "users",
    "tags", "isNew", "place.x",
  ]

  /// The properties that indexes may preview of the people that things refer to.
  static let previewed = ["owner.name", "owner.age", "owner.since"]

  /// Some properties that a query may select, often such as an index covers.
  mutating func selection() -> [PropertyPath] {
    var names = Self.properties + Self.previewed
    if !coverings.isEmpty, random.chance(oneIn: 2) {
      let index = random.pick(coverings)
      names = index.covered + (random.chance(oneIn: 2) ? [] : index.terms.map(\.property))
    }
    return (0...random.below(2)).map { _ in
      let name = random.pick(names)
      return name.hasPrefix("owner.")
        ? PropertyPath(hops: ["owner"], String(name.dropFirst(6))) : PropertyPath(name)
    }
  }

  /// A declaration of things with random indexes.
  mutating func thingDefinition() -> CollectionDefinition {
    var definition = CollectionDefinition()
    definition.properties = (Self.definitions[Self.things]?.properties ?? [])
      .filter { $0.name != "shares" && $0.name != "raw" }
    for _ in 0..<random.below(5) { definition.indexes.append(index()) }
    if random.chance(oneIn: 2) {
      definition.views.append(
        ViewDefinition(.groups(by: ["title"], [.count, .sum("count"), .maximum("made")])))
    }
    if random.chance(oneIn: 2) { definition.views.append(top()) }
    return definition
  }

  /// A view of the first things, which queries will ask for.
  private mutating func top() -> ViewDefinition {
    var names = Self.properties.filter { $0 != "users" && $0 != "tags" }
    let by = (0..<random.below(3)).map { _ in names.remove(at: random.below(names.count)) }
    let terms = (0...random.below(2)).map { _ in
      IndexDefinition.Term(
        names.remove(at: random.below(names.count)), isDescending: random.chance(oneIn: 2))
    }
    var view = ViewDefinition(.top(by: by, terms))
    if random.chance(oneIn: 3) {
      view.condition = Condition(.compare(PropertyPath("count"), .greater, .integer(0)))
    }
    tops.append((by, terms, view.condition?.test))
    return view
  }

  private mutating func index() -> IndexDefinition {
    var names = Self.properties
    var terms: [IndexDefinition.Term] = []
    var hasPlural = false
    for _ in 0...random.below(3) {
      let name = names.remove(at: random.below(names.count))
      if name == "users" || name == "tags" {
        if hasPlural { continue }
        hasPlural = true
      }
      let isText = name == "title" || name == "tags"
      terms.append(
        .init(
          name, isDescending: random.chance(oneIn: 3),
          collation: isText && random.chance(oneIn: 4)
            ? random.pick([.ignoringCase, .ignoringCaseAndDiacritics]) : .binary))
    }
    var index = IndexDefinition(terms)
    if random.chance(oneIn: 4) {
      index.condition = Condition(.compare(PropertyPath("count"), .greater, .integer(0)))
    }
    if random.chance(oneIn: 3) {
      let names = Self.properties + Self.previewed
      index.covered = (0..<3).map { _ in random.pick(names) }.reduce(into: []) {
        if !$0.contains($1) { $0.append($1) }
      }
      coverings.append(index)
    }
    return index
  }

  /// A thing that keeps to the declaration.
  mutating func thing() -> ValueMap {
    var record = ValueMap()
    for name in Self.properties where !random.chance(oneIn: 5) {
      var value = self.value(of: name)
      if name == "count", case .integer(1) = value { value = .integer(7) }  // 1 is not stored
      if name == "title", random.chance(oneIn: 40) {
        value = .string(String(repeating: "long", count: 126) + String(random.below(4)))
      }
      record[name] = value
    }
    if random.chance(oneIn: 3) { record["loose"] = anything() }
    return record
  }

  mutating func person() -> ValueMap {
    var record = ValueMap()
    for name in ["name", "age", "boss", "since"] where !random.chance(oneIn: 5) {
      record[name] = value(of: name)
    }
    return record
  }

  /// Removes, moves or brings back much at once, now and then.
  mutating func upheave(_ database: Database) throws {
    switch random.below(14) {
    case 0: _ = try? database.undoLast(onConflict: .overwrite)
    case 1:
      let head = try database.head.rawValue
      _ = try? database.undo(
        SequenceNumber(1 + UInt64(random.below(Int(head)))), onConflict: .skipConflicts)
    case 2:
      let path: NodePath = random.pick(["things", "as", "bs"])
      _ = try database.write { try $0.remove(path) }
    case 3:
      let (from, to) = (random.below(60), 100 + random.below(60))
      _ = try? database.write { tx in
        try tx.move(
          RandomConditions.things.appending(.text("p\(from)")),
          to: RandomConditions.things.appending(.text("p\(to)")))
      }
    default: break
    }
  }

  /// A query whose condition often has what an index can use.
  mutating func query() -> QueryDescription {
    if random.chance(oneIn: 8), let query = firsts() { return query }
    var query = QueryDescription(Self.things)
    query.condition = condition()
    for _ in 0..<random.below(3) { query.orderings.append(ordering()) }
    if random.chance(oneIn: 6) { query.section(by: ordering().path) }
    if random.chance(oneIn: 2) { query.limit = random.below(12) }
    if random.chance(oneIn: 4) { query.offset = random.below(5) }
    return query
  }

  /// A query for the first things of a group.
  private mutating func firsts() -> QueryDescription? {
    guard !tops.isEmpty else { return nil }
    let (by, terms, condition) = random.pick(tops)
    var query = QueryDescription(Self.things)
    var tests: [Condition.Test] = by.map { name in
      let path = PropertyPath(name)
      return .compare(path, .equal, random.chance(oneIn: 6) ? .null : constant(for: path))
    }
    if let condition, !random.chance(oneIn: 5) { tests.append(condition) }
    if random.chance(oneIn: 4) { tests.append(simple()) }
    query.condition = tests.isEmpty ? nil : Condition(.all(tests))
    if random.chance(oneIn: 4) {
      query.orderings = by.map { Ordering(PropertyPath($0), isDescending: false) }
    }
    query.orderings += terms.map {
      Ordering(PropertyPath($0.property), isDescending: $0.isDescending)
    }
    query.limit = 1 + random.below(8)
    if random.chance(oneIn: 4) { query.offset = random.below(5) }
    return query
  }

  private mutating func ordering() -> Ordering {
    var path = PropertyPath(random.pick(Self.properties + ["loose"]))
    if random.chance(oneIn: 8) { path = PropertyPath(nil) }
    if random.chance(oneIn: 8) {
      path = PropertyPath(hops: ["owner"], random.pick(["name", "age"]))
    }
    return Ordering(
      path, isDescending: random.chance(oneIn: 2),
      nulls: random.chance(oneIn: 5) ? random.pick([.first, .last]) : nil,
      collation: random.chance(oneIn: 6) ? .ignoringCase : .binary)
  }

  private mutating func condition() -> Condition? {
    switch random.below(8) {
    case 0: return nil
    case 1, 2: return Condition(test(depth: 2))
    case 3: return Condition(.all([simple(), test(depth: 1)]))
    case 4:
      return Condition(
        .all([.compare(PropertyPath("count"), .greater, .integer(0)), simple(), simple()]))
    case 5: return Condition(simple())
    default: return Condition(.all((0...(1 + random.below(2))).map { _ in simple() }))
    }
  }

  /// A test of one property, as indexes like it.
  private mutating func simple() -> Condition.Test {
    let name = random.pick(Self.properties)
    let path = random.chance(oneIn: 12) ? PropertyPath(nil) : PropertyPath(name)
    switch random.below(6) {
    case 0: return .compare(path, .equal, constant(for: path))
    case 1: return .oneOf(path, (0..<random.below(4)).map { _ in constant(for: path) })
    case 2: return .contains(PropertyPath("tags"), .string(text()))
    case 3:
      return .text(
        PropertyPath("title"), random.pick([.prefix, .equals]), text(),
        random.pick([.binary, .ignoringCase, .ignoringCaseAndDiacritics]))
    default:
      return .compare(
        path, random.pick([.less, .lessOrEqual, .greater, .greaterOrEqual]), constant(for: path))
    }
  }
}
