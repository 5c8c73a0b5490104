// Taking back changes that say by how much, whatever was added to the value since.

extension ValueChange<[UInt8]> {
  /// The part of a set or a dictionary that it changes; nil for a number, and for an array, in
  /// which each position depends on the changes before.
  private enum Part: Hashable {
    case element([UInt8])
    case entry(String)
  }

  private var part: Part? {
    switch self {
    case .include(let element), .exclude(let element): .element(element)
    case .setEntry(let key, _), .incrementEntry(let key, _): .entry(key)
    case .increment, .append, .insert, .removeElement: nil
    }
  }

  /// True if it puts an element into an array or takes one out.
  fileprivate var isOfArray: Bool {
    switch self {
    case .append, .insert, .removeElement: true
    default: false
    }
  }

  /// Combines it with the next change of the same part, which has led from a value to another; nil
  /// where they come to nothing.
  private func followed(
    by next: ValueChange, from met: [UInt8]?, to left: [UInt8]?, _ path: Path
  ) throws -> ValueChange? {
    // Of one element, each takes back the one before.
    guard let key = next.key else { return nil }
    let (old, new) = try (
      MapCoding.value(of: key, in: met, path), MapCoding.value(of: key, in: left, path)
    )
    if case (.incrementEntry(_, let first), .incrementEntry(_, let second)) = (self, next) {
      let step = try Arithmetic.sum(first, second, path)
      return try old != nil && Arithmetic.isZero(step) ? nil : .incrementEntry(key: key, by: step)
    }
    return old == new ? nil : .setEntry(key: key, new)
  }

  /// The changes from a value, each with its inverse. Several changes of one part come as one: what
  /// another has set since can be equal to what one of them met or left, and would go with it.
  fileprivate static func pairs(
    _ changes: [ValueChange], from met: [UInt8]?, _ path: Path
  ) throws -> [(change: ValueChange, inverse: ValueChange)] {
    let areParts = changes.allSatisfy { $0.part != nil }
    var net: [(change: ValueChange, inverse: ValueChange?)?] = []
    var places: [Part: Int] = [:]
    var value = met
    for change in changes {
      let inverse = areParts ? nil : try change.inverse(met: value, path)
      value = try change.applied(to: value, path)
      let part = areParts ? change.part : nil
      if let part, let place = places[part] {
        let both =
          if let earlier = net[place]?.change {
            try earlier.followed(by: change, from: met, to: value, path)
          } else { Optional(change) }
        net[place] = both.map { ($0, nil) }
      } else {
        if let part { places[part] = net.count }
        net.append((change, inverse))
      }
    }
    return try net.compactMap { pair in
      guard let pair, let inverse = try pair.inverse ?? pair.change.inverse(met: met, path) else {
        return nil
      }
      return (pair.change, inverse)
    }
  }

  /// The inverse as it takes the change back from a value that others may have changed since; nil
  /// where what the change has left is not there any more.
  fileprivate func inverse(
    _ inverse: ValueChange, met: [UInt8]?, of value: [UInt8], _ path: Path
  ) throws -> ValueChange? {
    switch self {
    case .append(let element), .insert(let element, _):
      let found = try ArrayCoding.element(at: inverse.position ?? 0, of: value, path)
      return found == element ? inverse : nil
    case .setEntry(let key, let new):
      let found = try MapCoding.value(of: key, in: value, path)
      return found == new || found == inverse.payload ? inverse : nil
    case .incrementEntry(let key, _):
      guard let found = try MapCoding.value(of: key, in: value, path), let step = inverse.payload
      else { return nil }
      let isNew = try MapCoding.value(of: key, in: met, path) == nil
      let isZero = try Arithmetic.isZero(Arithmetic.sum(found, step, path))
      return isNew && isZero ? .setEntry(key: key, nil) : inverse
    case .increment, .removeElement, .include, .exclude: return inverse
    }
  }
}

extension [ValueChange<[UInt8]>] {
  /// The changes that take all of them back, the last one first, and the value that they leave.
  ///
  /// - Parameters:
  ///   - met: The value that the first of them met.
  ///   - found: The value that is there now.
  ///   - path: The node, for errors.
  /// - Returns: Nil where that is not possible: the element is not there any more, the number is
  ///   none, or the sum would not fit.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  func inverse(
    met: [UInt8]?, of found: [UInt8], _ path: Path
  ) throws -> (changes: [ValueChange<[UInt8]>], value: [UInt8])? {
    var (changes, value) = ([ValueChange<[UInt8]>](), found)
    do {
      for (change, inverse) in try ValueChange.pairs(self, from: met, path).reversed() {
        guard let back = try change.inverse(inverse, met: met, of: value, path) else { return nil }
        let left = try back.applied(to: value, path) ?? value
        // A part that is already as it was before needs no change.
        if left != value || change.isOfArray || change.name == .increment { changes.append(back) }
        value = left
      }
    } catch DatabaseError.badValue, DatabaseError.notFound {
      return nil
    }
    return (changes, value)
  }

  /// The empty set or dictionary that they change; nil for a number or an array.
  var emptyContainer: [UInt8]? {
    switch first {
    case .include, .exclude: [ValueTag.array]
    case .setEntry, .incrementEntry: [ValueTag.map]
    case .increment, .append, .insert, .removeElement, nil: nil
    }
  }

  /// True if elements of an array were put in or taken out.
  var areOfArray: Bool { contains(where: \.isOfArray) }

  /// True if only the history can tell what is left without them, beside changes of others: where
  /// an element is now, whether anybody still counts what has come to nothing, and the sum of
  /// doubles that were not rounded. `left` is the value that their inverse leaves, if there is one.
  func needHistory(_ left: [UInt8]?, _ path: Path) throws -> Bool {
    guard let left, left.count > 1 else { return true }
    if left.first == ValueTag.array { return areOfArray }
    if left.first != ValueTag.map { return try Arithmetic.isSlight(left) }
    return try filter(\.name.isStep).compactMap(\.key).contains { key in
      try MapCoding.value(of: key, in: left, path).map { try Arithmetic.isSlight($0) } ?? true
    }
  }
}

extension Arithmetic {
  /// True if a stored number is zero, or one that may have been rounded.
  fileprivate static func isSlight(_ stored: [UInt8]) throws -> Bool {
    if case .integer(let number) = try stored.lend({ try Value($0) }) { number == 0 } else { true }
  }
}
