// Four collections that refer to each other in every way, few records with few values, so that
// about every change of one is seen from others; and queries along all relations.

@testable import Cambium

/// Makes declarations, changes and queries from a seed.
struct RandomRelations {
  static let collections: [NodePath] = ["as", "bs", "cs", "ds"]
  /// The properties that refer.
  private static let relations = ["to", "via", "many", "by"]
  private static let keys = ["k0", "k1", "k2", "k3", "1", "2"]

  var random: FormatRandom
  private(set) var definitions: [NodePath: CollectionDefinition] = [:]

  init(seed: UInt64) {
    random = FormatRandom(seed: seed)
    for path in Self.collections { definitions[path] = definition() }
  }

  private mutating func definition() -> CollectionDefinition {
    var definition = CollectionDefinition()
    if random.chance(oneIn: 3) { definition.keys = .string }
    definition.properties = [
      PropertyDefinition("n", .integer), PropertyDefinition("t", .string),
      PropertyDefinition("to", .reference(random.pick(Self.collections))),
      PropertyDefinition("via", .reference(random.pick(Self.collections))),
      PropertyDefinition("many", .array(.reference(random.pick(Self.collections)))),
      PropertyDefinition("by", .keyed(by: random.pick(Self.collections), .integer)),
    ]
    if random.chance(oneIn: 2) { definition.properties[0].absence = .integer(1) }
    for name in ["n", "t"] where random.chance(oneIn: 3) {
      definition.indexes.append(
        IndexDefinition([.init(name, isDescending: random.chance(oneIn: 3))]))
    }
    return definition
  }

  /// The collection that a property refers to.
  private func target(_ collection: NodePath, _ property: String) -> NodePath? {
    definitions[collection]?[property]?.target
  }

  // MARK: Records

  mutating func path() throws -> NodePath {
    random.pick(Self.collections).appending(try Key(random.pick(Self.keys)))
  }

  mutating func record() -> ValueMap {
    var record = ValueMap()
    for name in ["n", "t"] + Self.relations where !random.chance(oneIn: 4) {
      record[name] = value(of: name)
    }
    return record
  }

  /// A record with one property changed.
  mutating func changing(_ record: ValueMap) -> ValueMap {
    var record = record
    let name = random.pick(["n", "t"] + Self.relations)
    record[name] = random.chance(oneIn: 5) ? nil : value(of: name)
    return record
  }

  private mutating func value(of name: String) -> Value {
    if random.chance(oneIn: 12) { return .null }
    switch name {
    case "n": return .integer(Int64(random.below(4)))
    case "t": return .string(random.pick(["", "a", "A", "ab", "k1", "1"]))
    case "many": return .array((0..<random.below(3)).map { _ in key() })
    case "by":
      return .map(
        ValueMap((0..<random.below(3)).map { _ in (name: random.pick(Self.keys), value: 1) }))
    default: return key()
    }
  }

  private mutating func key() -> Value { .string(random.pick(Self.keys)) }

  // MARK: Paths and tests

  /// A path along references, and the collection in which it ends.
  private mutating func path(
    from collection: NodePath, hops most: Int
  ) -> (path: PropertyPath, end: NodePath) {
    var (path, end) = (PropertyPath(nil), collection)
    for _ in 0..<random.below(most + 1) {
      let name = random.pick(["to", "via"])
      path.hops.append(name)
      end = target(end, name) ?? end
    }
    path.property = random.chance(oneIn: 8) ? nil : random.pick(["n", "n", "t", "t", "to", "via"])
    return (path, end)
  }

  mutating func test(_ collection: NodePath, depth: Int) -> Condition.Test {
    switch depth > 0 ? random.below(9) : 9 {
    case 0: return .not(test(collection, depth: depth - 1))
    case 1: return .any((0..<2).map { _ in test(collection, depth: depth - 1) })
    case 2, 3: return .all((0..<2).map { _ in test(collection, depth: depth - 1) })
    case 4, 5: return inverse(collection, depth)
    case 6: return elements(collection, depth)
    default: return plain(collection)
    }
  }

  private mutating func plain(_ collection: NodePath) -> Condition.Test {
    let path = value(from: collection, hops: 2)
    let comparison: Condition.Comparison = random.pick([
      .equal, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
    ])
    switch random.below(6) {
    case 0:
      return .compareProperties(path, comparison, value(from: collection, hops: 2))
    case 1: return .oneOf(path, (0..<random.below(3)).map { _ in constant(path) })
    case 2:
      return .text(
        PropertyPath(hops: path.hops, "t"), random.pick([.equals, .prefix]),
        random.pick(["a", "A", "k"]), random.pick([.binary, .ignoringCase]))
    default: return .compare(path, comparison, constant(path))
    }
  }

  private mutating func constant(_ path: PropertyPath) -> Value {
    if path.referrers != nil { return .integer(Int64(random.below(3))) }
    return path.property.map { value(of: $0) } ?? key()
  }

  /// A path to a value, or to the number of records that refer to the one at its end.
  private mutating func value(from collection: NodePath, hops most: Int) -> PropertyPath {
    let (path, end) = path(from: collection, hops: most)
    guard random.chance(oneIn: 5), let (other, property) = referrer(to: end) else { return path }
    let condition = random.chance(oneIn: 2) ? Condition(test(other, depth: 0)) : nil
    return PropertyPath(
      counting: CountedReferrers(other, by: property, where: condition), of: path.hops)
  }

  private mutating func inverse(_ collection: NodePath, _ depth: Int) -> Condition.Test {
    guard let (other, property) = referrer(to: collection) else { return plain(collection) }
    return .related(
      .inverse(other, property: property), random.pick([.any, .all, .none]),
      test(other, depth: depth - 1))
  }

  /// A property of any collection that refers to one.
  private mutating func referrer(to collection: NodePath) -> (NodePath, String)? {
    var found: [(NodePath, String)] = []
    for other in Self.collections {
      for name in Self.relations where target(other, name) == collection {
        found.append((other, name))
      }
    }
    return found.isEmpty ? nil : random.pick(found)
  }

  private mutating func elements(_ collection: NodePath, _ depth: Int) -> Condition.Test {
    var (path, end) = path(from: collection, hops: 1)
    let name = random.pick(Self.relations)
    path.property = name
    guard let other = target(end, name) else { return plain(collection) }
    return .related(
      .elements(path), random.pick([.any, .all, .none]), test(other, depth: depth - 1))
  }

  // MARK: Queries

  mutating func query() -> QueryDescription {
    let collection = random.pick(Self.collections)
    var query = QueryDescription(collection)
    if !random.chance(oneIn: 4) { query.condition = Condition(test(collection, depth: 3)) }
    if random.chance(oneIn: 3) {
      for name in ["p", "q"].prefix(1 + random.below(2)) { add(name, &query) }
    }
    for _ in 0..<random.below(3) {
      query.orderings.append(
        Ordering(value(from: collection, hops: 2), isDescending: random.chance(oneIn: 2)))
    }
    switch random.below(4) {
    case 0:
      query.selection = (0...random.below(2)).map { _ in value(from: collection, hops: 2) }
    case 1 where random.chance(oneIn: 2):
      query.grouping = .init(
        [value(from: collection, hops: 1)],
        [.init(.count), .init(.maximum, path(from: collection, hops: 2).path)])
    default: break
    }
    if random.chance(oneIn: 3) { query.limit = 1 + random.below(4) }
    return query
  }

  private mutating func add(_ name: String, _ query: inout QueryDescription) {
    let other = random.pick(Self.collections)
    var outer = path(from: query.collection, hops: 1).path
    if let known = query.joins.last, random.chance(oneIn: 3) {
      outer = path(from: known.collection, hops: 1).path.changed {
        $0.hops.insert(known.name, at: 0)
      }
    }
    query.joins.append(
      .init(
        name, other, outer, inner: random.pick([nil, "n", "t", "to", "via"]),
        isLeft: random.chance(oneIn: 2),
        where: random.chance(oneIn: 4) ? Condition(test(other, depth: 1)) : nil))
    guard random.chance(oneIn: 2) else { return }
    let joined = plain(other).mapping { path in path.changed { $0.hops.insert(name, at: 0) } }
    query.condition = Condition(.all([joined] + (query.condition.map { [$0.test] } ?? [])))
  }

  /// Relations to be loaded along.
  mutating func loading(_ query: QueryDescription) -> [LoadedPath] {
    if query.selection != nil || query.isComputed { return [] }
    var loading: [LoadedPath] = []
    for _ in 0..<random.below(3) {
      var (path, end) = path(from: query.collection, hops: 1)
      if random.chance(oneIn: 2), let (other, property) = referrer(to: end) {
        path.property = nil
        var loaded = LoadedPath(path: path, collection: other, inverse: property)
        if random.chance(oneIn: 4) { loaded.isCount = true }
        loading.append(narrowed(loaded))
        continue
      }
      let name = random.pick(Self.relations)
      path.property = name
      guard let other = target(end, name) else { continue }
      loading.append(narrowed(LoadedPath(path: path, collection: other)))
    }
    return loading
  }

  /// A relation with a condition, or an order by which the first are loaded.
  private mutating func narrowed(_ loaded: LoadedPath) -> LoadedPath {
    var loaded = loaded
    if random.chance(oneIn: 3) { loaded.condition = Condition(test(loaded.collection, depth: 1)) }
    if random.chance(oneIn: 3), !loaded.isCount {
      loaded.orderings = [Ordering(value(from: loaded.collection, hops: 1))]
    }
    return loaded
  }
}
