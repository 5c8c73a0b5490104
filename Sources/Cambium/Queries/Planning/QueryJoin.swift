import LMDB

/// Puts records of another collection beside each: by their key, by an index on the property, or by
/// a table made in memory.
struct QueryJoin {
  /// The access path to the joined records.
  private enum Way {
    case key
    case index(IndexPlan)
    case hash
  }

  let description: QueryDescription.Join
  private let way: Way
  private let outer: QueryPaths
  private let inner: QueryPaths?
  private let type: PropertyType
  private let condition: ConditionProgram?

  init(
    _ description: QueryDescription.Join, _ records: QueryRecords, _ scope: ConditionScope
  ) throws {
    self.description = description
    outer = try QueryPaths([description.outer], in: scope)
    condition = try description.condition.map {
      try ConditionProgram($0, in: records.scope(of: description.collection))
    }
    let collection = records.catalog.collections[description.collection]
    guard let property = description.inner else {
      (way, inner, type) = (.key, nil, .any)
      return
    }
    inner = try QueryPaths(
      [PropertyPath(property)], in: records.scope(of: description.collection))
    type = collection?.definition[property]?.type ?? .any
    let indexes = collection.map { records.catalog.collections.indexes(of: $0) }
    let index = indexes?.first { index in
      index.definition.condition == nil && index.plural == nil
        && index.definition.terms[0].property == property && index.terms[0].collation == .binary
    }
    way = records.snapshot.moment == nil ? index.map { .index($0) } ?? .hash : .hash
  }

  /// The join in words.
  var words: String {
    let side = description.isLeft ? "left join" : "join"
    let name = ConditionText.collection(description.collection)
    let rest = description.condition.map { " where \($0.test.brief)" } ?? ""
    return switch way {
    case .key: "\(side) \(name) by key\(rest)"
    case .index(let index): "\(side) \(name) by the index \(index.name)\(rest)"
    case .hash: "\(side) \(name) by a table in memory\(rest)"
    }
  }

  /// True if a record that was found may be put beside one.
  func accepts(_ record: RawSpan, key: RawSpan, _ records: QueryRecords) throws -> Bool {
    try condition?.accepts(record, key: key, records) ?? true
  }

  /// The keys of the records to be put beside one, ascending; empty where there are none.
  func keys(
    _ record: RawSpan, key: RawSpan, _ records: QueryRecords, _ table: inout JoinTable?
  ) throws -> [[UInt8]] {
    try outer.lend(0, record, key: key, records) { value in
      if try value.isNull { return [] }
      switch way {
      case .key: return try StoredKey.bytes(naming: value).map { [$0] } ?? []
      case .index(let index): return try lookUp(value, index, records)
      case .hash:
        let made = try table ?? makeTable(records)
        table = made
        return try JoinedValue.bytes(value, type).flatMap { made.keys[$0] } ?? []
      }
    }
  }

  private func lookUp(
    _ value: RawSpan, _ index: IndexPlan, _ records: QueryRecords
  ) throws -> [[UInt8]] {
    var term = ByteBuffer(capacity: 64)
    try OrderedBytes.append(
      stored: value, as: type, isDescending: index.terms[0].isDescending, to: &term)
    let bound = IndexEntry.prefix(index.number) + term.array()
    let start = Array(bound.prefix(IndexEntry.boundBytesMax))
    var keys: [[UInt8]] = []
    let reader = records.reader
    try reader.access.forEach(reader.tables.index, startingWith: start) { entry, stored in
      keys.append(entry.extracting(try IndexEntry.split(entry, stored).record).array())
    }
    // The index may have more terms, which order those of one value.
    keys.sort { $0.lexicographicallyPrecedes($1) }
    if bound.count <= IndexEntry.boundBytesMax { return keys }
    // The bound was cut, so the records have the last word.
    let wanted = try JoinedValue.bytes(value, type)
    return try keys.filter { key in
      try key.lend { key in
        try records.lend(description.collection, key) { record in
          try inner?.lend(0, record, key: key, records) {
            try JoinedValue.bytes($0, type) == wanted
          } ?? false
        }
      } ?? false
    }
  }

  private func makeTable(_ records: QueryRecords) throws -> JoinTable {
    var table = JoinTable()
    let run = try QueryRun(QueryDescription(description.collection), records)
    try run.forEach { key, record in
      try inner?.lend(0, record, key: key, records) { value in
        if let bytes = try JoinedValue.bytes(value, type) { try table.add(bytes, key.array()) }
      }
      return true
    }
    return table
  }
}

/// Values as joins compare them.
enum JoinedValue {
  /// The ordered bytes of a value; nil for null, which equals nothing here.
  static func bytes(_ value: RawSpan, _ type: PropertyType) throws -> [UInt8]? {
    if try value.isNull { return nil }
    var bytes = ByteBuffer(capacity: 64)
    try OrderedBytes.append(stored: value, as: type, to: &bytes)
    return bytes.array()
  }
}

/// The keys of a collection's records by the value of a property.
struct JoinTable {
  /// More is refused rather than kept.
  private static let bytesMax = 256 << 20

  fileprivate var keys: [[UInt8]: [[UInt8]]] = [:]
  private var bytesCount = 0

  fileprivate mutating func add(_ value: [UInt8], _ key: [UInt8]) throws {
    bytesCount += value.count + key.count + 64
    if bytesCount > JoinTable.bytesMax {
      throw QueryError("the joined collection is too large without an index on the property")
    }
    keys[value, default: []].append(key)
  }
}
