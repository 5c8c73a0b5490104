// From a model in memory to a stored record, and to the difference of two models. The values are
// written into one buffer, the table into another, and joined: how many properties are absent is
// known only then.

import FoundationEssentials

/// The encoder that groups of writes use one after the other.
///
/// It is Sendable because one thread at a time uses it; see ``WritingBuffers``.
final class ModelBuffers: @unchecked Sendable {
  private let cell = Cell(ModelEncoder())

  var encoder: ModelEncoder {
    @inline(__always) _read { yield cell.value }
    @inline(__always) _modify { yield &cell.value }
  }
}

extension RunningTransaction {
  var modelBuffers: ModelBuffers {
    if let known = group.buffers.models as? ModelBuffers { return known }
    let made = ModelBuffers()
    group.buffers.models = made
    return made
  }
}

/// Encodes models, with memory that is used again.
struct ModelEncoder: ~Copyable {
  private var values = ValueWriter()
  private var table = ByteBuffer()
  /// The path and the record of the last model, whose memory the next one uses.
  private var last = (path: NodePath.root, record: [UInt8]())

  init() {}

  /// The operation that stores the model at `base` under a key.
  ///
  /// - Throws: As ``encode(_:_:)``; also if the record is too large.
  /// - Complexity: O(properties), and one allocation, unless somebody has kept the last operation.
  mutating func set(
    _ core: SchemaCore, _ key: Key, _ base: UnsafeRawPointer, _ binding: Binding
  ) throws -> Operation {
    last.path.become(core.path, appending: key)
    var record: [UInt8] = []
    swap(&record, &last.record)
    try unsafe encode(base, binding, into: &record)
    try Limits.check(record.count, last.path)
    if record.count <= ByteBuffer.keptMax { last.record = record }
    return .set(last.path, Content(kind: .record, bytes: record))
  }

  /// The stored record of the model at `base`.
  ///
  /// - Throws: ``DatabaseError/badValue(_:reason:)``, or what a type of the app's throws.
  /// - Complexity: O(properties), and one allocation.
  mutating func encode(_ base: UnsafeRawPointer, _ binding: Binding) throws -> [UInt8] {
    var record: [UInt8] = []
    try unsafe encode(base, binding, into: &record)
    return record
  }

  private mutating func encode(
    _ base: UnsafeRawPointer, _ binding: Binding, into record: inout [UInt8]
  ) throws {
    if let union = binding.core.sharing.codec {
      record = try unsafe union.encode(base, &self, binding)
      return
    }
    defer {
      values.clear()
      table.clearAndShrink()
    }
    if binding.isLarge {
      record = try unsafe encodeLarge(base, binding)
      return
    }
    table.append(0)
    table.append(0)
    for step in binding.steps {
      guard try unsafe write(step, base + Int(step.offset), binding) else { continue }
      if values.count > 0xFFFF {
        record = try unsafe encodeLarge(base, binding)
        return
      }
      table.append(littleEndian: step.name | UInt32(values.count) << 16)
    }
    table.store(UInt8((table.count - 2) / 4), at: 1)
    record.removeAll(keeping: table.count + values.count)
    table.lend { record.append($0) }
    values.buffer.lend { record.append($0) }
  }

  private mutating func encodeLarge(
    _ base: UnsafeRawPointer, _ binding: Binding
  ) throws -> [UInt8] {
    var builder = RecordBuilder()
    for step in binding.steps {
      values.clear()
      if try unsafe write(step, base + Int(step.offset), binding) {
        builder[step.name] = values.buffer.array()
      }
    }
    return builder.stored()
  }

  /// The updates to log for a model to become another one.
  ///
  /// - Complexity: O(properties), and two allocations for each that differs.
  mutating func difference<M: Model>(
    from old: M, to new: M, _ binding: Binding
  ) throws -> [Operation.PropertyUpdate] {
    var updates: [Operation.PropertyUpdate] = []
    try unsafe withUnsafePointer(to: old) { old in
      try unsafe withUnsafePointer(to: new) { new in
        if binding.core.sharing.codec != nil {
          updates = try unsafe differenceOfRecords(old, new, binding)
          return
        }
        for step in binding.steps {
          let place = unsafe UnsafeRawPointer(new) + Int(step.offset)
          if unsafe binding.areEqual(step, UnsafeRawPointer(old) + Int(step.offset), place) {
            continue
          }
          updates.append(try unsafe update(step, place, binding))
        }
      }
    }
    return updates
  }

  /// As ``difference(from:to:_:)``, for what may have become another case: by the stored records.
  private mutating func differenceOfRecords(
    _ old: UnsafeRawPointer, _ new: UnsafeRawPointer, _ binding: Binding
  ) throws -> [Operation.PropertyUpdate] {
    let old = try unsafe encode(old, binding).lend { try RecordBuilder($0) }
    let new = try unsafe encode(new, binding).lend { try RecordBuilder($0) }
    return Set(old.names).union(new.names).sorted().compactMap { name in
      old[name] == new[name] ? nil : .init(name: name, value: new[name])
    }
  }

  /// The updates to log for one value to be stored: that of one property, or those of a nested
  /// value.
  ///
  /// - Parameters:
  ///   - value: The value to store.
  ///   - offset: The place of the property in the model.
  ///   - binding: The schema in the database.
  /// - Returns: The updates, by name.
  /// - Throws: As ``encode(_:_:)``.
  mutating func updates<V: PropertyValue>(
    _ value: V, at offset: Int, _ binding: Binding
  ) throws -> [Operation.PropertyUpdate] {
    let range = offset..<(offset + max(MemoryLayout<V>.size, 1))
    return try unsafe withUnsafePointer(to: value) { pointer in
      var updates: [Operation.PropertyUpdate] = []
      for step in binding.steps where range.contains(Int(step.offset)) {
        let place = unsafe UnsafeRawPointer(pointer) + (Int(step.offset) - offset)
        updates.append(try unsafe update(step, place, binding))
      }
      return updates
    }
  }

  private mutating func update(
    _ step: Binding.Step, _ place: UnsafeRawPointer, _ binding: Binding
  ) throws -> Operation.PropertyUpdate {
    defer { values.clear() }
    let isStored = try unsafe write(step, place, binding)
    return .init(name: step.name, value: isStored ? values.buffer.array() : nil)
  }

  /// A value's stored form.
  mutating func stored<V: PropertyValue>(_ value: V) throws -> [UInt8] {
    defer { values.clear() }
    try value.writeStored(to: &values)
    return values.buffer.array()
  }

  /// Writes one property's value.
  ///
  /// - Returns: True if there is something to store.
  @inline(__always)
  private mutating func write(
    _ step: Binding.Step, _ place: UnsafeRawPointer, _ binding: Binding
  ) throws -> Bool {
    do { return try unsafe writeValue(step, place, binding) } catch {
      throw binding.naming(step, error)
    }
  }

  @inline(__always)
  private mutating func writeValue(
    _ step: Binding.Step, _ place: UnsafeRawPointer, _ binding: Binding
  ) throws -> Bool {
    let start = values.count
    switch step.form {
    case .int:
      let value = unsafe place.load(as: Int.self)
      if step.flags & Binding.Step.reference != 0, value == .min { return writeNoKey(step) }
      values.write(integer: Int64(value))
    case .double: values.write(double: unsafe place.load(as: Double.self))
    case .bool: values.write(bool: unsafe place.load(as: Bool.self))
    case .date: try values.write(date: unsafe place.value(Date.self))
    case .string:
      let value = unsafe place.assumingMemoryBound(to: String.self)
      if step.flags & Binding.Step.reference != 0 {
        if unsafe value.pointee.isEmpty { return writeNoKey(step) }
        values.write(text: Key.composed(unsafe value.pointee))
      } else {
        values.write(text: unsafe value.pointee)
      }
    case .uuid:
      let value = unsafe place.value(UUID.self)
      if step.flags & Binding.Step.reference != 0, value == ._unassigned { return writeNoKey(step) }
      values.write(uuid: value)
    case .custom, .customOrNil: return try unsafe writeCustom(step, place, binding)
    default: return try unsafe writeOptional(step, place, binding)
    }
    if step.flags & Binding.Step.elided != 0 { return !isElided(step, start, binding) }
    return true
  }

  /// Writes a reference without a key: null where absence stands for another one.
  private mutating func writeNoKey(_ step: Binding.Step) -> Bool {
    if step.flags & Binding.Step.storesNull == 0 { return false }
    values.writeNull()
    return true
  }

  @inline(__always)
  private mutating func writeOptional(
    _ step: Binding.Step, _ place: UnsafeRawPointer, _ binding: Binding
  ) throws -> Bool {
    if step.flags != 0 { return try unsafe writeCustom(step, place, binding) }
    switch step.form {
    case .intOrNil:
      guard let value = unsafe place.load(as: Int?.self) else { return false }
      values.write(integer: Int64(value))
    case .doubleOrNil:
      guard let value = unsafe place.load(as: Double?.self) else { return false }
      values.write(double: value)
    case .boolOrNil:
      guard let value = unsafe place.load(as: Bool?.self) else { return false }
      values.write(bool: value)
    case .dateOrNil:
      guard let value = unsafe place.value(Date?.self) else { return false }
      try values.write(date: value)
    case .uuidOrNil:
      guard let value = unsafe place.value(UUID?.self) else { return false }
      values.write(uuid: value)
    case .stringOrNil:
      guard let value = unsafe place.value(String?.self) else { return false }
      values.write(text: value)
    default: return try unsafe writeCustom(step, place, binding)
    }
    return true
  }

  /// Writes a property by its type's own code, or one whose absence has a meaning.
  @inline(never)
  private mutating func writeCustom(
    _ step: Binding.Step, _ place: UnsafeRawPointer, _ binding: Binding
  ) throws -> Bool {
    let start = values.count
    let shape = binding.core.properties[Int(step.property)].shape
    let isAbsent = unsafe shape.isAbsent(place)
    if isAbsent {
      if step.flags & Binding.Step.storesNull == 0, step.flags & Binding.Step.elided == 0 {
        return false
      }
      values.writeNull()
    } else {
      try unsafe shape.write(place, &values)
    }
    if step.flags & Binding.Step.elided != 0 { return !isElided(step, start, binding) }
    return true
  }

  /// Removes the value that was written if absence stands for it.
  private mutating func isElided(
    _ step: Binding.Step, _ start: Int, _ binding: Binding
  ) -> Bool {
    guard let elided = binding.elided[Int(step.property)] else { return false }
    let isSame = values.buffer.lend { written in
      elided.lend { $0.equals(written.extracting(start..<written.byteCount)) }
    }
    if isSame { values.cut(to: start) }
    return isSame
  }
}

extension Binding {
  /// An error of writing a value, with the property's name.
  @inline(never)
  fileprivate func naming(_ step: Step, _ error: any Error) -> any Error {
    core.properties[Int(step.property)].naming(error)
  }

  /// True if two values of a property would be stored as the same bytes.
  @inline(__always)
  fileprivate func areEqual(_ step: Step, _ a: UnsafeRawPointer, _ b: UnsafeRawPointer) -> Bool {
    switch step.form {
    case .int, .double: unsafe a.load(as: UInt64.self) == b.load(as: UInt64.self)
    case .bool: unsafe a.load(as: Bool.self) == b.load(as: Bool.self)
    case .intOrNil: unsafe a.load(as: Int?.self) == b.load(as: Int?.self)
    case .boolOrNil: unsafe a.load(as: Bool?.self) == b.load(as: Bool?.self)
    case .doubleOrNil:
      unsafe a.load(as: Double?.self)?.bitPattern == b.load(as: Double?.self)?.bitPattern
    case .date:
      unsafe a.value(Date.self).microseconds == b.value(Date.self).microseconds
    case .dateOrNil:
      unsafe a.value(Date?.self)?.microseconds == b.value(Date?.self)?.microseconds
    case .uuid: unsafe a.value(UUID.self) == b.value(UUID.self)
    case .uuidOrNil: unsafe a.value(UUID?.self) == b.value(UUID?.self)
    case .string: unsafe ByteOrder.areEqual(a.value(String.self), b.value(String.self))
    case .stringOrNil: unsafe areEqual(a.value(String?.self), b.value(String?.self))
    case .custom, .customOrNil: unsafe core.properties[Int(step.property)].shape.isEqual(a, b)
    }
  }

  private func areEqual(_ a: String?, _ b: String?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return ByteOrder.areEqual(a, b)
  }
}

extension SchemaCore {
  /// The properties in which two models differ, all where there is only one.
  func differences<M: Model>(_ old: M?, _ new: M?) -> [PropertyInfo] {
    if let union = sharing.codec { return union.differences(old, new) }
    guard let old, let new else { return old == nil && new == nil ? [] : properties }
    return properties.filter { !$0.isEqual(in: old, and: new) }
  }
}

extension SchemaCore {
  /// Puts every property into its domain, and checks that required values are there.
  ///
  /// - Returns: One error for each property that fails, or for each of its elements.
  func checked<M: Model>(_ model: inout M) -> [ValidationError] {
    unsafe withUnsafeMutablePointer(to: &model) { pointer in
      var problems: [ValidationError] = []
      for index in guarded {
        let info = properties[index]
        let place = unsafe UnsafeMutableRawPointer(pointer) + info.offset
        if let message = unsafe info.rules.check?.run(place) {
          problems.append(ValidationError(property: info.name, message))
          continue
        }
        for check in info.rules.elementChecks {
          for problem in unsafe check.run(place) {
            problems.append(
              ValidationError(property: info.name, element: problem.element, problem.message))
          }
        }
        if info.rules.isRequiredToWrite, unsafe info.shape.isAbsent(place) {
          problems.append(ValidationError(property: info.name, "is required"))
        }
      }
      return problems
    }
  }
}
