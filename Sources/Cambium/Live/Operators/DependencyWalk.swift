// From changed records up to the rows, role by role, the outermost first: so when a role's turn
// comes, everything that leads up to it has been found.

import LMDB

/// One walk from the changes of a step to the rows that they may concern.
struct DependencyWalk {
  /// Thrown where more would be read than may be.
  private struct TooMuch: Error {}

  /// Finds the rows that show changed records of a role; nil where that cannot be told.
  typealias Showing = (_ role: Int, _ changes: [NetChange]) throws -> [[UInt8]]?

  private let dependencies: Dependencies
  private let showing: Showing
  private let changes: [NodePath: [NetChange]]
  private let records: QueryRecords
  /// The number of records and entries that may still be read.
  private var left: Int
  /// By role, the keys of records through which a change may be seen.
  private var reached: [Set<[UInt8]>]

  init(
    _ dependencies: Dependencies, _ changes: [NetChange], _ records: QueryRecords, most: Int,
    showing: @escaping Showing
  ) {
    self.dependencies = dependencies
    self.showing = showing
    self.changes = Dictionary(grouping: changes, by: \.collection)
    self.records = records
    left = most
    reached = Array(repeating: [], count: dependencies.roles.count)
  }

  /// The keys of the rows; nil where finding them reads too much.
  mutating func candidates() throws -> Set<[UInt8]>? {
    do {
      for role in dependencies.roles.indices.reversed() where role > 0 { try ascend(from: role) }
    } catch is TooMuch {
      return nil
    }
    for change in try starts(0) { reached[0].insert(change.key) }
    return reached[0]
  }

  /// The changes that may be seen through a role.
  private func starts(_ role: Int) throws -> [NetChange] {
    guard let collection = dependencies.roles[role].collection else {
      return changes.values.flatMap(\.self)
    }
    return try (changes[collection] ?? []).filter { try dependencies.concerns($0, through: role) }
  }

  private mutating func count(_ read: Int = 1) throws {
    left -= read
    if left < 0 { throw TooMuch() }
  }

  // MARK: Edges

  /// Adds to the role above the records that lead to those that were reached, or changed.
  private mutating func ascend(from place: Int) throws {
    let role = dependencies.roles[place]
    guard let edge = role.edge, let upper = role.upper,
      let collection = dependencies.roles[upper].collection
    else { return }
    let starts = try starts(place)
    if starts.isEmpty && reached[place].isEmpty { return }
    // A record that is only shown matters to the rows that are kept. One that names its row need
    // not be searched for.
    if !role.decides, !(role.isInverse && upper == 0), reached[place].isEmpty,
      let roots = try showing(place, starts)
    {
      return reached[0].formUnion(roots)
    }
    let keys = reached[place].union(starts.map(\.key))
    let found: Set<[UInt8]> =
      switch edge {
      case .reference(let property): try referrers(collection, property, to: keys)
      case .path(let property): try holders(collection, property, of: paths(starts))
      case .inverse(let property): try named(by: values(property, place, starts))
      case .join(let edge):
        try matches(
          edge, collection, values: edge.inner.map { try values($0, place, starts) }, keys: keys)
      }
    reached[upper].formUnion(found)
  }

  private func paths(_ changes: [NetChange]) throws -> Set<NodePath> {
    var paths: Set<NodePath> = []
    for change in changes { paths.insert(try change.path) }
    return paths
  }

  /// The keys that some values name.
  private func named(by values: Set<[UInt8]>) throws -> Set<[UInt8]> {
    var keys: Set<[UInt8]> = []
    for value in values { keys.formUnion(try value.lend { try StoredKey.all(namedBy: $0) }) }
    return keys
  }

  /// The values of a property that the records of a role have, and had before they changed.
  private mutating func values(
    _ property: String, _ place: Int, _ starts: [NetChange]
  ) throws -> Set<[UInt8]> {
    guard let collection = dependencies.roles[place].collection,
      let value = try StoredProperty(property, of: collection, records)
    else { return [] }
    var values: Set<[UInt8]> = []
    for record in starts.flatMap({ [$0.old, $0.new] }).compactMap(\.self) {
      values.insert(try record.lend { try value.lend($0) { $0.array() } })
    }
    for key in reached[place] {
      try count()
      let found = try key.lend { key in
        try records.lend(collection, key) { try value.lend($0) { $0.array() } }
      }
      if let found { values.insert(found) }
    }
    values.remove([])
    return values
  }

  // MARK: References

  /// The records of a collection that refer to some keys by a property.
  private mutating func referrers(
    _ collection: NodePath, _ property: String, to keys: Set<[UInt8]>
  ) throws -> Set<[UInt8]> {
    guard let value = try StoredProperty(property, of: collection, records) else { return [] }
    if records.edge(collection, value.name) == nil {
      return try scan(collection) { _, record in
        try value.lend(record) { try StoredKey.all(namedBy: $0).contains(where: keys.contains) }
      }
    }
    var found: Set<[UInt8]> = []
    for key in keys {
      try count()
      try key.lend { key in
        try records.forEach(in: collection, value.name, refersTo: key) { own, _ in
          try count()
          found.insert(own.array())
          return true
        }
      }
    }
    return found
  }

  /// The records of a collection that have some paths in a property.
  private mutating func holders(
    _ collection: NodePath, _ property: String, of paths: Set<NodePath>
  ) throws -> Set<[UInt8]> {
    guard let value = try StoredProperty(property, of: collection, records) else { return [] }
    func isHeld(_ value: RawSpan) throws -> Bool {
      guard value.byteCount > 0 else { return false }
      switch try value.load(UInt8.self, at: 0) {
      case ValueTag.reference:
        guard case .reference(let path) = try Value(value) else { return false }
        return paths.contains(path)
      case ValueTag.array:
        return try IndexEntry.elements(value).contains { try $0.lend(isHeld) }
      default: return false
      }
    }
    return try scan(collection) { _, record in try value.lend(record, isHeld) }
  }

  /// The keys of a collection's records that pass, where no index finds them.
  private mutating func scan(
    _ collection: NodePath, _ passes: (_ key: RawSpan, _ record: RawSpan) throws -> Bool
  ) throws -> Set<[UInt8]> {
    // Not begun where it would be given up.
    if try records.presentCount(collection) > left { throw TooMuch() }
    var found: Set<[UInt8]> = []
    try records.forEach(in: collection) { key, record in
      try count()
      if try passes(key, record) { found.insert(key.array()) }
      return true
    }
    return found
  }

  // MARK: Joins

  /// The records of a collection beside which a join puts records with some keys or values.
  private mutating func matches(
    _ edge: DependencyRole.JoinEdge, _ collection: NodePath, values: Set<[UInt8]>?,
    keys: Set<[UInt8]>
  ) throws -> Set<[UInt8]> {
    if edge.outer == PropertyPath(nil) {
      guard let values else { return keys }
      return Set(try values.compactMap { try $0.lend(JoinedValue.key) })
    }
    guard let values else {
      return try scan(collection, edge) { value in
        try StoredKey.bytes(naming: value).map(keys.contains) ?? false
      }
    }
    let wanted = Set(try values.compactMap { try $0.lend { try JoinedValue.bytes($0, edge.type) } })
    if let index = JoinedValue.index(edge, collection, records) {
      return try entries(index, wanted)
    }
    return try scan(collection, edge) { value in
      try JoinedValue.bytes(value, edge.type).map(wanted.contains) ?? false
    }
  }

  private mutating func scan(
    _ collection: NodePath, _ edge: DependencyRole.JoinEdge,
    _ passes: (_ value: RawSpan) throws -> Bool
  ) throws -> Set<[UInt8]> {
    let outer = try QueryPaths([edge.outer], in: records.scope(of: collection))
    let records = records
    return try scan(collection) { key, record in
      try outer.lend(0, record, key: key, records) { value in
        try value.byteCount > 0 && passes(value)
      }
    }
  }

  /// The records whose entries in an index begin with some values: also a few others, where values
  /// are so long that entries are cut.
  private mutating func entries(
    _ index: IndexPlan, _ values: Set<[UInt8]>
  ) throws -> Set<[UInt8]> {
    var found: Set<[UInt8]> = []
    let reader = records.reader
    for value in values {
      let term = index.terms[0].isDescending ? value.map { ~$0 } : value
      let bound = Array(
        (IndexEntry.prefix(index.number) + term).prefix(IndexEntry.boundBytesMax))
      try count()
      try reader.access.forEach(reader.tables.index, startingWith: bound) { entry, stored in
        found.insert(entry.extracting(try IndexEntry.split(entry, stored).record).array())
        try count()
      }
    }
    return found
  }
}

/// A property as conditions read it: with the value that absence stands for.
struct StoredProperty {
  let name: NameID
  private let standIn: StandIn

  /// Nil where no record has it.
  init?(_ property: String, of collection: NodePath, _ records: QueryRecords) throws {
    guard let name = records.catalog.id(of: property) else { return nil }
    self.name = name
    standIn = try StandIn(records.definition(of: collection)?[property])
  }

  /// Lends the value of a record; empty where there is none.
  func lend<R>(_ record: RawSpan, _ body: (RawSpan) throws -> R) throws -> R {
    try RecordTable(record).lend(record, name, or: standIn, body)
  }
}

extension JoinedValue {
  /// The only key that may equal a value.
  static func key(_ value: RawSpan) throws -> [UInt8]? {
    guard value.byteCount > 0 else { return nil }
    if let key = try StoredKey.bytes(naming: value) { return key }
    let number: Int64? =
      switch try Value(value) {
      case .double(let number): Int64(exactly: number)
      case .decimal(let number): OrderedDecimal(number).wholeNumber
      default: nil
      }
    return number.map { Key.integer($0).stored }
  }

  /// The index of a collection that has the values by which a join finds its records; nil for none.
  static func index(
    _ edge: DependencyRole.JoinEdge, _ collection: NodePath, _ records: QueryRecords
  ) -> IndexPlan? {
    guard let property = edge.outer.property, edge.outer.function == nil,
      records.snapshot.moment == nil, let plan = records.catalog.collections[collection]
    else { return nil }
    return records.catalog.collections.indexes(of: plan).first { index in
      index.definition.condition == nil && index.plural == nil
        && index.definition.terms[0].property == property
        && index.terms[0].collation == .binary && form(index.terms[0].type) == form(edge.type)
    }
  }

  /// Types of one form give values the same ordered bytes.
  private static func form(_ type: PropertyType) -> Int {
    switch type {
    case .reference: 1
    case .decimal: 2
    default: 0
    }
  }
}

extension NetChange {
  /// The record's path.
  fileprivate var path: NodePath {
    get throws { collection.appending(try key.lend { try Key($0) }) }
  }
}
