// The calls of a `MemoryStore`. They check in the order in which a database does it: first whether
// the model is there, then the app's rules, then those of the declaration.

extension MemoryState {
  /// The model with an id, or nil.
  func model<M: Model>(_ id: ModelID<M>) throws -> M? {
    let core = M.schema.core
    let key = try core.treeKey(of: id)
    return try record(core.path, key).map { try M.schema.decode($0, key, try binding(core)) }
  }

  mutating func create<M: Model>(_ model: M) throws -> M {
    var model = model
    let core = M.schema.core
    if !model.id.isAssigned {
      model.id = try ModelID.fresh {
        greatestKeys[core.path]
      }
    } else if record(core.path, try core.treeKey(of: model.id)) != nil {
      throw DatabaseError.exists(
        try core.path(of: model.id), reason: "there is such a \(M.self) already")
    }
    try M.schema.validate(&model)
    return try keep(model, instead: nil)
  }

  mutating func update<M: Model>(
    _ id: ModelID<M>, _ body: (inout M) throws -> Void
  ) throws -> M {
    guard id.isAssigned, let old = try model(id) else {
      throw DatabaseError.notFound(try id.path, reason: "there is no such \(M.self)")
    }
    var new = old
    try body(&new)
    guard new.id == id else {
      throw DatabaseError.misuse(reason: "an update of \(id) has changed its id to \(new.id)")
    }
    try M.schema.validate(&new)
    return try keep(new, instead: old)
  }

  private mutating func keep<M: Model>(_ model: M, instead old: M?) throws -> M {
    let core = M.schema.core
    let (key, binding) = (try core.treeKey(of: model.id), try binding(core))
    var encoder = ModelEncoder()
    let record: [UInt8]
    do {
      record = try encoder.record(of: model, binding)
      try Limits.check(record.count, try core.path(of: model.id))
    } catch let error as ValueMismatch {
      throw DatabaseError.badValue(try core.path(of: model.id), reason: error.reason)
    }
    let former = self.record(core.path, key)
    if former == record { return try M.schema.decode(record, key, binding) }
    try checkTargets(record, changedFrom: former, try plan(core.path))
    try put(core.path, key, record)
    return try M.schema.decode(record, key, binding)
  }

  /// Refuses references that lead nowhere and must not, of those that are set now.
  private func checkTargets(
    _ record: [UInt8], changedFrom former: [UInt8]?, _ plan: CollectionPlan
  ) throws {
    for property in plan.properties {
      guard property.definition.mustExist, let target = property.definition.target,
        let value = try record.value(of: property.name),
        try former?.value(of: property.name) != value
      else { continue }
      let isPlural = property.definition.type.isPlural
      for element in isPlural ? try value.lend({ try IndexEntry.elements($0) }) : [value] {
        let reference = try element.lend { try Value($0) }
        if reference == .null { continue }
        if let key = StoredKey.key(naming: reference), self.record(target, key) != nil { continue }
        throw DatabaseError.invalid([
          Violation(
            plan.path, property.definition.name,
            "refers to \(reference.text), which is not in \(target)")
        ])
      }
    }
  }

  // MARK: Deleting

  /// A property by which records of a collection refer.
  private typealias Edge = (collection: CollectionPlan, property: PropertyPlan)

  mutating func delete<M: Model>(_ id: ModelID<M>) throws -> Bool {
    let core = M.schema.core
    guard id.isAssigned, record(core.path, try core.treeKey(of: id)) != nil else { return false }
    let root = try core.path(of: id)
    var members = [root]
    var next = 0
    while next < members.count {
      try forEachReferrer(to: members[next], .cascade) { referrer, _ in
        if !members.contains(referrer) { members.append(referrer) }
      }
      next += 1
    }
    for member in members {
      try forEachReferrer(to: member, .deny) { referrer, edge in
        if members.contains(referrer) { return }
        throw DatabaseError.stillReferred(
          member, by: referrer, property: edge.property.definition.name)
      }
    }
    for member in members { try release(member, from: members) }
    for member in members.reversed() {
      if let collection = member.parent, let key = member.last { try put(collection, key, nil) }
    }
    return true
  }

  /// Takes references to a record away from those that stay.
  private mutating func release(_ member: Path, from members: [Path]) throws {
    guard let old = member.last else { return }
    var changed: [(collection: Path, key: Key, record: [UInt8])] = []
    try forEachReferrer(to: member, .nullify) { referrer, edge in
      guard !members.contains(referrer), let key = referrer.last,
        let record = record(edge.collection.path, key)
      else { return }
      let stored = try record.value(of: edge.property.name).map { try $0.lend { try Value($0) } }
      let definition = edge.property.definition
      var value = (stored ?? definition.absence).flatMap { Writing.replacing(old, by: nil, in: $0) }
      if value == nil, definition.hasDefault { value = .null }
      var builder = try record.lend { try RecordBuilder($0) }
      builder[edge.property.name] = try value?.stored()
      changed.append((edge.collection.path, key, builder.stored()))
    }
    for change in changed { try put(change.collection, change.key, change.record) }
  }

  private func forEachReferrer(
    to member: Path, _ rule: DeleteRule, _ body: (Path, Edge) throws -> Void
  ) throws {
    guard let collection = member.parent, let key = member.last else { return }
    for edge in catalog.collections.references(to: collection)
    where edge.property.definition.deleteRule == rule {
      for referrer in keys(edge.collection.path) {
        let refers = try key.stored.lend { key in
          try record(edge.collection.path, referrer)?.lend {
            try QueryRecords.refers($0, edge.property.name, edge.property.standIn, to: key)
          } ?? false
        }
        if refers { try body(edge.collection.path.appending(referrer), edge) }
      }
    }
  }
}

extension [UInt8] {
  /// The stored value of a property of the record that these bytes are.
  fileprivate func value(of name: Catalog.NameID) throws -> [UInt8]? {
    try lend { record in
      try RecordTable(record).find(record, name).map { record.extracting($0).array() }
    }
  }
}
