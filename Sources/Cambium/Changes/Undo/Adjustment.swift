// Changes that say by how much, so that they can be taken back whatever was added since.

/// One change of a number, an array, a set or a dictionary.
enum Adjustment {
  case increment([UInt8])
  case inserted([UInt8], at: UInt64)
  case removed([UInt8], at: UInt64)
  /// An element was added to a set that did not have it.
  case included([UInt8])
  /// An element was removed from a set that had it.
  case excluded([UInt8])
  case entry(String, from: [UInt8]?, to: [UInt8]?)
  case incrementedEntry(String, by: [UInt8], from: [UInt8]?)

  /// The adjustment that a change made to the value before it; nil where it changed nothing.
  init?(_ change: ValueChange<[UInt8]>, met value: [UInt8]?, _ path: Path) throws {
    switch change {
    case .increment(let step): self = .increment(step)
    case .append(let element): self = .inserted(element, at: UInt64(try ArrayCoding.count(value)))
    case .insert(let element, let position): self = .inserted(element, at: position)
    case .removeElement(let position):
      self = .removed(try ArrayCoding.element(at: position, of: value) ?? [], at: position)
    case .include(let element):
      if try SetCoding.contains(element, in: value, path) { return nil }
      self = .included(element)
    case .exclude(let element):
      guard try SetCoding.contains(element, in: value, path) else { return nil }
      self = .excluded(element)
    case .setEntry(let key, let new):
      let old = try MapCoding.value(of: key, in: value, path)
      if old == new { return nil }
      self = .entry(key, from: old, to: new)
    case .incrementEntry(let key, let step):
      let old = try MapCoding.value(of: key, in: value, path)
      self = .incrementedEntry(key, by: step, from: old)
    }
  }

  /// The operation that takes it back, if one has to, and the value that is left then.
  ///
  /// - Returns: Nil where that is not possible: the element is not there any more, the number is
  ///   none, or the sum would not fit.
  func inverse(
    _ path: Path, _ target: Target, of value: [UInt8]
  ) throws -> (operation: Operation?, value: [UInt8])? {
    do {
      switch self {
      case .increment(let step):
        guard let opposite = try Arithmetic.opposite(step) else { return nil }
        return (
          .change(path, target, .increment(by: opposite)), try Arithmetic.sum(value, opposite, path)
        )
      case .inserted(let element, let position):
        guard try ArrayCoding.element(at: position, of: value) == element else { return nil }
        return (
          .change(path, target, .removeElement(at: position)),
          try ArrayCoding.removing(at: position, from: value, path)
        )
      case .removed(let element, let position):
        return (
          .change(path, target, .insert(element, at: position)),
          try ArrayCoding.inserting(element, at: position, into: value, path)
        )
      case .included, .excluded, .entry, .incrementedEntry:
        guard let edit = try inverseEdit(of: value, path) else { return nil }
        let left = try edit.applied(to: value, path) ?? value
        // A value that is already as it was before needs no operation.
        return (left == value ? nil : .change(path, target, edit), left)
      }
    } catch DatabaseError.badValue, DatabaseError.notFound {
      return nil
    }
  }

  /// The change of a part that takes it back; nil where the entry was changed since.
  private func inverseEdit(of value: [UInt8], _ path: Path) throws -> ValueChange<[UInt8]>? {
    switch self {
    case .included(let element): return .exclude(element)
    case .excluded(let element): return .include(element)
    case .entry(let key, let old, let new):
      let found = try MapCoding.value(of: key, in: value, path)
      return found == new || found == old ? .setEntry(key: key, old) : nil
    case .incrementedEntry(let key, let step, let old):
      guard let found = try MapCoding.value(of: key, in: value, path),
        let opposite = try Arithmetic.opposite(step)
      else { return nil }
      let sum = try Arithmetic.sum(found, opposite, path)
      let isGone = try old == nil && Arithmetic.isZero(sum)
      return isGone ? .setEntry(key: key, nil) : .incrementEntry(key: key, by: opposite)
    case .increment, .inserted, .removed: return nil
    }
  }
}

// Several changes of one part are taken back as one. Step by step would not do: a value that
// another has set since can equal one before or after a step, and would be taken back with it.
extension Adjustment {
  /// The part of a value that an adjustment changes.
  fileprivate enum Part: Hashable {
    case element([UInt8])
    case entry(String)
  }

  /// Nil for a number, and for an array, in which each position depends on the changes before.
  fileprivate var part: Part? {
    switch self {
    case .included(let element), .excluded(let element): .element(element)
    case .entry(let key, _, _), .incrementedEntry(let key, _, _): .entry(key)
    case .increment, .inserted, .removed: nil
    }
  }

  /// Combines it with the next change of the same part; nil where they come to nothing.
  fileprivate func followed(by next: Adjustment, _ path: Path) throws -> Adjustment? {
    switch (self, next) {
    case (.entry(let key, let old, _), .entry(_, _, let new)):
      return old == new ? nil : .entry(key, from: old, to: new)
    case (.entry(let key, let old, let met), .incrementedEntry(_, let step, _)):
      let new = try Arithmetic.sum(met, step, path)
      return old == new ? nil : .entry(key, from: old, to: new)
    case (.incrementedEntry(let key, _, let old), .entry(_, _, let new)):
      return old == new ? nil : .entry(key, from: old, to: new)
    case (.incrementedEntry(let key, let first, let old), .incrementedEntry(_, let second, _)):
      let step = try Arithmetic.sum(first, second, path)
      let isNothing = try old != nil && Arithmetic.isZero(step)
      return isNothing ? nil : .incrementedEntry(key, by: step, from: old)
    // Of one element, each takes back the one before.
    default: return nil
    }
  }
}

extension [Adjustment] {
  /// One adjustment for each part, from the value before the first to the value after the last;
  /// none for a part that is as it was. Changes of numbers and arrays stay as they are.
  private func netted(_ path: Path) throws -> [Adjustment] {
    var net: [Adjustment?] = []
    var places: [Adjustment.Part: Int] = [:]
    for adjustment in self {
      guard let part = adjustment.part else { return self }
      guard let place = places[part] else {
        places[part] = net.count
        net.append(adjustment)
        continue
      }
      if let earlier = net[place] {
        net[place] = try earlier.followed(by: adjustment, path)
      } else {
        net[place] = adjustment
      }
    }
    return net.compactMap(\.self)
  }

  /// The operations that take all of them back, the last one first, and the value that they leave.
  func inverse(
    _ path: Path, _ target: Target, of value: [UInt8]
  ) throws -> (operations: [Operation], value: [UInt8])? {
    var operations: [Operation] = []
    var value = value
    let net: [Adjustment]
    do { net = try netted(path) } catch DatabaseError.badValue { return nil }
    for adjustment in net.reversed() {
      guard let (operation, next) = try adjustment.inverse(path, target, of: value) else {
        return nil
      }
      if let operation { operations.append(operation) }
      value = next
    }
    return (operations, value)
  }
}

extension Adjustment {
  /// The entry that it has added to.
  var count: String? { if case .incrementedEntry(let key, _, _) = self { key } else { nil } }
}

extension [Adjustment] {
  /// The empty set or dictionary that they change; nil for a number or an array.
  var emptyContainer: [UInt8]? {
    switch first {
    case .included, .excluded: [ValueTag.array]
    case .entry, .incrementedEntry: [ValueTag.map]
    case .increment, .inserted, .removed, nil: nil
    }
  }

  /// True if elements of an array were put in or taken out.
  var areOfArray: Bool {
    contains { if case .inserted = $0 { true } else if case .removed = $0 { true } else { false } }
  }

  /// True if only the history shows the value without them, beside changes of others: where an
  /// element is now, whether anybody still counts what has come to nothing, and the sum of doubles
  /// that were not rounded. `left` is the value that their inverse leaves, if there is one.
  func needHistory(_ left: [UInt8]?, _ path: Path) throws -> Bool {
    guard let left, left.count > 1 else { return true }
    if left.first == ValueTag.array { return areOfArray }
    if left.first != ValueTag.map { return try Arithmetic.isSlight(left) }
    return try compactMap(\.count).contains { key in
      try MapCoding.value(of: key, in: left, path).map { try Arithmetic.isSlight($0) } ?? true
    }
  }
}

extension Arithmetic {
  /// True if a stored number is zero, or one that may have been rounded.
  fileprivate static func isSlight(_ stored: [UInt8]) throws -> Bool {
    if case .integer(let number) = try stored.lend({ try Value($0) }) { number == 0 } else { true }
  }

  /// True if a stored number is zero, which is what an absent number counts as.
  fileprivate static func isZero(_ stored: [UInt8]) throws -> Bool {
    let value = try stored.lend { try Value($0) }
    return value == .integer(0) || value == .double(0)
  }

  /// A stored number with the other sign; nil where there is none in 64 bits.
  static func opposite(_ step: [UInt8]) throws -> [UInt8]? {
    switch try step.lend({ try Value($0) }) {
    case .integer(let number):
      return number == .min ? nil : try Value.integer(-number).stored()
    case .double(let number): return try Value.double(-number).stored()
    default: return nil
    }
  }
}

extension ArrayCoding {
  /// The number of elements in a stored array; zero where there is none.
  static func count(_ stored: [UInt8]?) throws -> Int {
    try stored.map { try elements($0, .root).count } ?? 0
  }

  /// An element of a stored array, or nil where there is none.
  static func element(at position: UInt64, of stored: [UInt8]?) throws -> [UInt8]? {
    guard let stored, stored.first == ValueTag.array else { return nil }
    let elements = try elements(stored, .root)
    return position < UInt64(elements.count) ? elements[Int(position)] : nil
  }
}
