// The effect of a change on a stored value, and the change that takes it back.

extension ValueChange<[UInt8]> {
  /// The value that results from applying the change to a stored one.
  ///
  /// - Returns: Nil if there was no value, and there is still none.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for a value of another type, or an impossible
  ///   sum; ``DatabaseError/notFound(_:reason:)`` for a position outside the array.
  func applied(to stored: [UInt8]?, _ path: NodePath) throws -> [UInt8]? {
    switch self {
    case .increment(let step): return try Arithmetic.sum(stored, step, path)
    case .append(let element):
      return try ArrayCoding.inserting(element, at: nil, into: stored, path)
    case .insert(let element, let position):
      return try ArrayCoding.inserting(element, at: position, into: stored, path)
    case .removeElement(let position):
      return try ArrayCoding.removing(at: position, from: stored, path)
    case .include, .exclude, .setEntry, .incrementEntry:
      return try appliedToPart(of: stored, path)
    }
  }

  /// Changes a part of a set or of a dictionary; null counts as empty as well.
  private func appliedToPart(of stored: [UInt8]?, _ path: NodePath) throws -> [UInt8]? {
    let present = stored == [ValueTag.null] ? nil : stored
    switch self {
    case .include(let element):
      return try SetCoding.including(element, in: present ?? [ValueTag.array], path)
    case .exclude(let element):
      return try present.map { try SetCoding.excluding(element, from: $0, path) } ?? stored
    case .setEntry(let key, let value):
      if value == nil, present == nil { return stored }
      return try MapCoding.setting(key, to: value, in: present ?? [ValueTag.map], path)
    case .incrementEntry(let key, let step):
      let sum = try Arithmetic.sum(try MapCoding.value(of: key, in: present, path), step, path)
      return try MapCoding.setting(key, to: sum, in: present ?? [ValueTag.map], path)
    case .increment, .append, .insert, .removeElement: return stored
    }
  }

  /// The change that takes this one back, which met a value; nil where it changed nothing.
  ///
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for a step that has no opposite.
  func inverse(met value: [UInt8]?, _ path: NodePath) throws -> ValueChange? {
    switch self {
    case .increment(let step): return .increment(by: try Arithmetic.opposite(step, path))
    case .append: return .removeElement(at: UInt64(try ArrayCoding.count(value, path)))
    case .insert(_, let position): return .removeElement(at: position)
    case .removeElement(let position):
      let element = try value.flatMap { try ArrayCoding.element(at: position, of: $0, path) }
      return element.map { .insert($0, at: position) }
    case .include(let element):
      return try SetCoding.contains(element, in: value, path) ? nil : .exclude(element)
    case .exclude(let element):
      return try SetCoding.contains(element, in: value, path) ? .include(element) : nil
    case .setEntry(let key, let new):
      let old = try MapCoding.value(of: key, in: value, path)
      return old == new ? nil : .setEntry(key: key, old)
    case .incrementEntry(let key, let step):
      return .incrementEntry(key: key, by: try Arithmetic.opposite(step, path))
    }
  }

  /// An array, a set or a dictionary of nothing but the added part; nil if it adds nothing.
  func added(_ path: NodePath) throws -> [UInt8]? {
    switch self {
    case .increment, .removeElement: nil
    case .insert(let element, _): try ValueChange.append(element).applied(to: nil, path)
    default: try applied(to: nil, path)
    }
  }
}
