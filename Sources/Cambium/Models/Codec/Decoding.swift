// From a stored record to a model in memory: one loop over the binding's steps and the record's
// table, with typed stores at the properties' offsets. It is the same code for every model.

import FoundationEssentials

extension ModelSchema {
  /// The model that a stored record and its key are.
  ///
  /// - Parameters:
  ///   - record: The stored record.
  ///   - key: The stored key: tag and bytes.
  ///   - binding: The schema in the database.
  /// - Returns: The model.
  /// - Throws: ``PropertyError`` or ``DatabaseError/corrupt(reason:)``, naming path and property.
  @inlinable
  func decode(_ record: RawSpan, key: RawSpan, _ binding: Binding) throws -> M {
    var model = template
    try unsafe withUnsafeMutablePointer(to: &model) {
      try unsafe binding.decode(record, key: key, into: UnsafeMutableRawPointer($0))
    }
    if hasReadConditions { hideUnread(&model) }
    return model
  }

  /// The model that a node's version is, under a stored key.
  func decode(
    _ header: NodeHeader, _ version: RawSpan, key: RawSpan, _ binding: Binding
  ) throws -> M {
    var model = template
    try unsafe withUnsafeMutablePointer(to: &model) {
      try unsafe binding.decode(header, version, key: key, into: UnsafeMutableRawPointer($0))
    }
    if hasReadConditions { hideUnread(&model) }
    return model
  }

  /// As ``decode(_:key:_:)``, with the properties that are read under a condition that fails.
  func decodeWhole(_ record: RawSpan, key: RawSpan, _ binding: Binding) throws -> M {
    var model = template
    try unsafe withUnsafeMutablePointer(to: &model) {
      let base = UnsafeMutableRawPointer($0)
      if let union = core.sharing.codec {
        try unsafe union.decodeWhole(record, key, base, binding)
      } else {
        try unsafe binding.decode(record, key: key, into: base)
      }
    }
    return model
  }
}

extension Binding {
  /// Puts what a node's version holds into the model at `base`; a node that is only a place in the
  /// tree counts as a record without properties.
  func decode(
    _ header: NodeHeader, _ version: RawSpan, key: RawSpan, into base: UnsafeMutableRawPointer
  ) throws {
    switch header.kind {
    case .record:
      let record = version.extracting(droppingFirst: header.contentOffset)
      try unsafe decode(record, key: key, into: base)
    case .none: try [0, 0].lend { try unsafe decode($0, key: key, into: base) }
    case .scalar: throw core.located(ValueMismatch(reason: "it is no record"), key, -1)
    }
  }

  /// Puts what a stored record holds into the model at `base`, which must hold a value.
  ///
  /// - Complexity: O(properties of the model and of the record); about 10 ns a property.
  @usableFromInline
  func decode(
    _ record: RawSpan, key: RawSpan, into base: UnsafeMutableRawPointer
  ) throws {
    if let union = core.sharing.codec { return try unsafe union.decode(record, key, base, self) }
    var property = -1
    do {
      try unsafe decodeKey(key, into: base + core.layout.idOffset)
      var stored = try StoredProperties(record)
      for step in steps {
        property = Int(step.property)
        if stored.advance(to: step.name) {
          let value = unsafe StoredValue(try stored.value())
          try unsafe read(value, step, into: base + Int(step.offset))
        } else if step.flags & (Step.required | Step.filled) != 0 {
          try unsafe readAbsent(step, record, into: base + Int(step.offset))
        }
      }
      if !former.isEmpty || catalog != nil {
        try unsafe readFormer(record, key: key, into: base, &property)
      }
    } catch {
      throw core.located(error, key, property)
    }
  }

  @inline(__always)
  private func decodeKey(_ key: RawSpan, into place: UnsafeMutableRawPointer) throws {
    guard key.byteCount > 1 else { throw DatabaseError.corrupt(reason: "a stored key is empty") }
    let tag = try key.load(UInt8.self, at: 0)
    switch (core.layout.idForm, tag) {
    case (.uuid, KeyTag.uuid):
      let id = try key.uuid(at: 1)
      unsafe place.put(id)
    case (.string, KeyTag.text):
      let id = try key.string(1, key.byteCount - 1)
      unsafe place.put(id)
    case (.string, _):
      let id = try Key(key).description
      unsafe place.put(id)
    case (.int, KeyTag.integer):
      let id = Int(Int64(bitPattern: try key.bigEndian(at: 1) ^ (1 << 63)))
      unsafe place.put(id)
    default: throw ValueMismatch(reason: "the key is not of the kind '\(core.keyType.rawValue)'")
    }
  }

  /// Reads one property. Null leaves what cannot be nil as it is initially.
  @inline(__always)
  private func read(
    _ value: StoredValue, _ step: Step, into place: UnsafeMutableRawPointer
  ) throws {
    if value.tag == ValueTag.null { return try unsafe readNull(value, step, into: place) }
    switch step.form {
    case .int: try unsafe place.put(Int(value.integer()))
    case .intOrNil: try unsafe place.put(Int?(Int(value.integer())))
    case .double: try unsafe place.put(value.double())
    case .doubleOrNil: try unsafe place.put(Double?(value.double()))
    case .bool: try unsafe place.put(value.bool())
    case .boolOrNil: try unsafe place.put(Bool?(value.bool()))
    case .date: try unsafe place.put(value.date())
    case .dateOrNil: try unsafe place.put(Date?(value.date()))
    case .uuid: try unsafe place.put(value.uuid())
    case .uuidOrNil: try unsafe place.put(UUID?(value.uuid()))
    case .string: try unsafe place.put(value.string())
    case .stringOrNil: try unsafe place.put(String?(value.string()))
    case .custom, .customOrNil: try unsafe readCustom(value, step, into: place)
    }
  }

  @inline(never)
  private func readCustom(
    _ value: StoredValue, _ step: Step, into place: UnsafeMutableRawPointer
  ) throws {
    let shape = core.properties[Int(step.property)].shape
    try value.lend { try unsafe shape.read(place, $0, 0) }
  }

  @inline(never)
  private func readAbsent(
    _ step: Step, _ record: RawSpan, into place: UnsafeMutableRawPointer
  ) throws {
    if step.flags & Step.required != 0, try former(of: Int(step.property), in: record) == nil {
      throw ValueMismatch(reason: "it is required, and the record has none")
    }
    guard let fill = fills[Int(step.property)].ofAbsence else { return }
    try unsafe read(fill, step, into: place)
  }

  @inline(never)
  private func readNull(
    _ value: StoredValue, _ step: Step, into place: UnsafeMutableRawPointer
  ) throws {
    if step.flags & Step.required != 0 {
      throw ValueMismatch(reason: "it is required, and the record has null")
    }
    if let fill = fills[Int(step.property)].ofNull {
      return try unsafe read(fill, step, into: place)
    }
    guard step.form.isOptional else { return unsafe clear(step, place) }
    let shape = core.properties[Int(step.property)].shape
    try value.lend { try unsafe shape.read(place, $0, 0) }
  }

  private func read(
    _ stored: [UInt8], _ step: Step, into place: UnsafeMutableRawPointer
  ) throws {
    if stored == [ValueTag.null], !step.form.isOptional { return unsafe clear(step, place) }
    let shape = core.properties[Int(step.property)].shape
    try stored.lend { try unsafe shape.read(place, $0, 0) }
  }

  /// Takes the key from a reference; what is none stays as it is initially.
  private func clear(_ step: Step, _ place: UnsafeMutableRawPointer) {
    guard step.flags & Step.reference != 0 else { return }
    switch step.form {
    case .int: unsafe place.put(Int.min)
    case .string: unsafe place.put("")
    case .uuid: unsafe place.put(UUID._unassigned)
    default: break
    }
  }

  // MARK: Former names

  /// Reads what is stored under former names only, and makes what is computed of an older record.
  @inline(never)
  private func readFormer(
    _ record: RawSpan, key: RawSpan, into base: UnsafeMutableRawPointer, _ property: inout Int
  ) throws {
    for index in core.properties.indices {
      property = index
      let info = core.properties[index]
      let place = unsafe base + info.offset
      if let (former, value) = try former(of: index, in: record) {
        let bytes = record.extracting(value)
        if try bytes.load(UInt8.self, at: 0) == ValueTag.null { continue }
        if let read = unsafe info.older.names[former.index].read {
          try unsafe read(place, bytes)
        } else {
          try unsafe info.shape.read(place, bytes, 0)
        }
      } else if let computed = info.older.computed, let catalog, try !isStored(index, in: record) {
        let path = core.path.appending(try Key(key))
        let old = DynamicRecord(path, try ValueMap(stored: record, catalog))
        try unsafe computed.make(place, old)
      }
    }
  }

  /// True if a record has a property under its own name.
  private func isStored(_ property: Int, in record: RawSpan) throws -> Bool {
    let own = names[property]
    return try own != Binding.unknown && RecordTable(record).find(record, own) != nil
  }

  /// The place of a property's value under a former name, unless it has one under its own.
  func former(of property: Int, in record: RawSpan) throws -> (Former, Range<Int>)? {
    let own = names[property]
    let table = try RecordTable(record)
    if own != Binding.unknown, try table.find(record, own) != nil { return nil }
    for candidate in former where candidate.property == property && candidate.name != own {
      if let range = try table.find(record, candidate.name) { return (candidate, range) }
    }
    return nil
  }
}

extension SchemaCore {
  /// An error of reading, with the record's path and the property.
  func located(_ error: any Error, _ key: RawSpan, _ property: Int) -> any Error {
    let path = (try? Key(key)).map { self.path.appending($0) } ?? self.path
    let name = properties.indices.contains(property) ? properties[property].name : "id"
    switch error {
    case let error as ValueMismatch:
      return PropertyError(path: path, property: name, reason: error.reason)
    case DatabaseError.corrupt(let reason):
      return DatabaseError.corrupt(reason: "\(path), property \(name): \(reason)")
    case is DatabaseError: return error
    default: return PropertyError(path: path, property: name, reason: "\(error)")
    }
  }
}
