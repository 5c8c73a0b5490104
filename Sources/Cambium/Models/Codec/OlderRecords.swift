// From a record of an older form to a model, and back into the record: value by value, as a
// migration needs it once. Reads that are repeated go through Decoding.swift.

extension SchemaCore {
  /// The model that a record of an older form is, as far as it can be read. The properties that a
  /// step makes may be unreadable, or missing.
  func read<M: Model>(
    _ old: DynamicRecord, into template: M, steps: [String]
  ) throws -> M {
    var model = template
    guard let key = old.key, let own = M.Key(_treeKey: key) else {
      throw PropertyError(
        path: old.path, property: "id", reason: "the key is not of the kind '\(keyType.rawValue)'")
    }
    model.id = ModelID(own)
    for info in properties {
      do { try read(info, old, &model) } catch {
        if evolution.changes(info, in: steps) { continue }
        let reason = (error as? ValueMismatch)?.reason ?? "\(error)"
        throw PropertyError(path: old.path, property: info.name, reason: reason)
      }
    }
    return model
  }

  /// Reads a property under its own name, a former one, or computes it.
  private func read<M: Model>(
    _ info: PropertyInfo, _ old: DynamicRecord, _ model: inout M
  ) throws {
    try unsafe withUnsafeMutablePointer(to: &model) { pointer in
      let place = unsafe UnsafeMutableRawPointer(pointer) + info.offset
      if let value = old.values[info.name] {
        if value == .null && !info.shape.form.isOptional { return }
        return try value.stored().lend { try unsafe info.shape.read(place, $0, 0) }
      }
      for former in info.older.names where former.name != info.name {
        guard let value = old.values[former.name] else { continue }
        if value == .null { return }
        return try value.stored().lend { stored in
          if let read = unsafe former.read { return try unsafe read(place, stored) }
          try unsafe info.shape.read(place, stored, 0)
        }
      }
      if let computed = info.older.computed { return try unsafe computed.make(place, old) }
      // An absent value means the declared default, which the template need not have.
      guard let value = old[info.name], value != .null || info.shape.form.isOptional else { return }
      try value.stored().lend { try unsafe info.shape.read(place, $0, 0) }
    }
  }

  /// Puts a model's properties into a record, and takes out what the schema says is gone.
  /// Everything else in the record stays.
  ///
  /// - Parameters:
  ///   - model: The model whose properties are written.
  ///   - record: The record that they are written into.
  ///   - whole: Properties that are stored even where they are as they are by default.
  func write<M: Model>(_ model: M, into record: inout DynamicRecord, whole: Set<String> = []) {
    for name in evolution.removed { record[name] = nil }
    for info in properties {
      for former in info.older.names { record[former.name] = nil }
    }
    for info in properties {
      let value: Value? =
        info.isAbsent(in: model)
        ? info.defaults.storesNull || info.defaults.absence != nil || whole.contains(info.name)
          ? .some(.null) : nil
        : info.value(in: model)
      let isOmitted = value == info.defaults.absence && !whole.contains(info.name)
      record[info.name] = isOmitted ? nil : value
    }
  }
}
