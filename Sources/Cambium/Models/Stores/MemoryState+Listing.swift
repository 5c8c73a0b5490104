// Listings in memory: every record of the collection is looked at. What a condition finds behind
// references is read from the other collections.

extension MemoryState {
  func list<M: Model>(_ listing: Listing<M>) throws -> [M] {
    let core = M.schema.core
    let (plan, binding) = (try plan(core.path), try binding(core))
    let scope = ConditionScope(catalog, plan.definition) { [catalog] in
      catalog.collections[$0]?.definition
    }
    let condition = try listing.condition.map { try ConditionProgram($0, in: scope) }
    let order = try MemoryOrder(listing.orderings, in: scope)
    var found: [(place: [UInt8], key: Key, record: [UInt8])] = []
    for (key, record) in records[core.path] ?? [:] {
      try record.lend { bytes in
        try key.stored.lend { stored in
          guard try condition?.accepts(bytes, key: stored, self) ?? true else { return }
          found.append((try order.place(of: bytes, stored, self), key, record))
        }
      }
    }
    found.sort { $0.place.lexicographicallyPrecedes($1.place) }
    return try found.dropFirst(listing.offset).prefix(listing.limit ?? .max).map {
      try M.schema.decode($0.record, $0.key, binding)
    }
  }
}

/// The sort key of a listing, as bytes: the values of the orderings, then the key.
private struct MemoryOrder {
  private let orderings: [Ordering]
  private let types: [PropertyType]
  private let program: ConditionProgram

  init(_ orderings: [Ordering], in scope: ConditionScope) throws {
    self.orderings = orderings
    types = try orderings.map { try scope.resolve($0.path).orderedType }
    program = try ConditionProgram(reading: orderings.map(\.path), in: scope)
  }

  func place(of record: RawSpan, _ key: RawSpan, _ state: MemoryState) throws -> [UInt8] {
    var bytes = ByteBuffer()
    for (index, ordering) in orderings.enumerated() {
      try program.lend(
        program.operands[index], record, try RecordTable(record), key, state
      ) { value in
        if let nulls = ordering.nulls {
          let isNull = try value.byteCount == 0 || value.load(UInt8.self, at: 0) == ValueTag.null
          bytes.append(isNull == (nulls == .first) ? 0 : 1)
        }
        try OrderedBytes.append(
          stored: value, as: types[index], ordering.collation,
          isDescending: ordering.isDescending, to: &bytes)
      }
    }
    bytes.append(key)
    return bytes.array()
  }
}

extension MemoryState: RelatedRecords {
  func lend<R>(_ collection: Path, _ key: RawSpan, _ body: (RawSpan) throws -> R) throws -> R? {
    try record(collection, try Key(key))?.lend { try body($0) }
  }

  func lend<R>(at path: Path, _ body: (RawSpan, RawSpan) throws -> R) throws -> R? {
    guard let collection = path.parent, let key = path.last else { return nil }
    return try key.stored.lend { stored in
      try record(collection, key)?.lend { try body(stored, $0) }
    }
  }

  func forEach(
    in collection: Path, _ property: Catalog.NameID, refersTo key: RawSpan,
    _ body: (RawSpan, RawSpan) throws -> Bool
  ) throws {
    let standIn = catalog.collections[collection]?.property(property)?.standIn ?? .null
    for referrer in keys(collection) {
      guard let record = record(collection, referrer) else { continue }
      let goesOn = try record.lend { record in
        guard try QueryRecords.refers(record, property, standIn, to: key) else { return true }
        return try referrer.stored.lend { try body($0, record) }
      }
      if !goesOn { return }
    }
  }
}
