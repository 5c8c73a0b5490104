// Taking back changes that say by how much, whatever was added to the value since.

extension ValueChange<[UInt8]> {
  /// The element of a set or the key of a dictionary that it changes; nil for a number, and for an
  /// array, in which each position depends on the changes before.
  fileprivate var part: [UInt8]? {
    switch self {
    case .increment, .append, .insert, .removeElement: nil
    case .include(let element), .exclude(let element): element
    case .setEntry(let key, _), .incrementEntry(let key, _): Array(key.utf8)
    }
  }

  /// True if it puts an element into an array or takes one out.
  fileprivate var isOfArray: Bool {
    switch self {
    case .append, .insert, .removeElement: true
    default: false
    }
  }

  /// One for several changes of one part, which have led from a value to another; nil where they
  /// come to nothing.
  private static func net(
    _ changes: [ValueChange], from met: [UInt8]?, to left: [UInt8]?, _ path: NodePath
  ) throws -> ValueChange? {
    guard let key = changes.first?.key else {
      // Of one element, each takes back the one before.
      return changes.count % 2 == 0 ? nil : changes.first
    }
    let old = try MapCoding.value(of: key, in: met, path)
    let new = try MapCoding.value(of: key, in: left, path)
    guard changes.allSatisfy(\.name.isStep) else {
      return old == new ? nil : .setEntry(key: key, new)
    }
    let step = try changes.compactMap(\.payload).reduce(nil) { try Arithmetic.sum($0, $1, path) }
    guard let step, try old == nil || !Arithmetic.isZero(step) else { return nil }
    return .incrementEntry(key: key, by: step)
  }

  /// The changes that have led from a value to another, each with its inverse. Several changes of
  /// one part come as one: what another has set since can be equal to what one of them met or left,
  /// and would go with it.
  fileprivate static func pairs(
    _ changes: [ValueChange], from met: [UInt8]?, to left: [UInt8]?, _ path: NodePath
  ) throws -> [(change: ValueChange, inverse: ValueChange)] {
    if changes.allSatisfy({ $0.part != nil }) {
      let parts = Dictionary(grouping: changes, by: \.part)
      var seen: Set<[UInt8]?> = []
      return try changes.compactMap { change in
        guard seen.insert(change.part).inserted, let changes = parts[change.part],
          let net = try net(changes, from: met, to: left, path),
          let inverse = try net.inverse(met: met, path)
        else { return nil }
        return (net, inverse)
      }
    }
    var value = met
    return try changes.compactMap { change in
      let inverse = try change.inverse(met: value, path)
      value = try change.applied(to: value, path)
      return inverse.map { (change, $0) }
    }
  }

  /// The inverse as it takes the change back from a value that others may have changed since; nil
  /// where what the change has left is not there any more.
  fileprivate func inverse(
    _ inverse: ValueChange, met: [UInt8]?, of value: [UInt8], _ path: NodePath
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
  ///   - left: The value that the last of them left.
  ///   - found: The value that is there now.
  ///   - path: The node, for errors.
  /// - Returns: Nil where that is not possible: the element is not there any more, the number is
  ///   none, or the sum would not fit.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  func inverse(
    met: [UInt8]?, left: [UInt8]?, of found: [UInt8], _ path: NodePath
  ) throws -> (changes: [ValueChange<[UInt8]>], value: [UInt8])? {
    var (changes, value) = ([ValueChange<[UInt8]>](), found)
    do {
      for (change, inverse) in try ValueChange.pairs(self, from: met, to: left, path).reversed() {
        guard let back = try change.inverse(inverse, met: met, of: value, path) else { return nil }
        let next = try back.applied(to: value, path) ?? value
        // A part that is already as it was before needs no change.
        if next != value || change.part == nil { changes.append(back) }
        value = next
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
  func needHistory(_ left: [UInt8]?, _ path: NodePath) throws -> Bool {
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
