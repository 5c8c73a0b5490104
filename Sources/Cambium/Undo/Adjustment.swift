// Changes that say by how much, so that they can be taken back whatever was added since.

/// One change of a number or an array.
enum Adjustment {
  case increment([UInt8])
  case inserted([UInt8], at: UInt64)
  case removed([UInt8], at: UInt64)

  /// The operation that takes it back, and the value that it leaves.
  ///
  /// - Returns: Nil where that is not possible: the element is not there any more, the number is
  ///   none, or the sum would not fit.
  func inverse(
    _ path: Path, _ target: Target, of value: [UInt8]
  ) throws -> (operation: Operation, value: [UInt8])? {
    do {
      switch self {
      case .increment(let step):
        guard let opposite = try Arithmetic.opposite(step) else { return nil }
        return (
          .increment(path, target, by: opposite), try Arithmetic.sum(value, opposite, path)
        )
      case .inserted(let element, let position):
        guard try ArrayCoding.element(at: position, of: value) == element else { return nil }
        return (
          .removeElement(path, target, at: position),
          try ArrayCoding.removing(at: position, from: value, path)
        )
      case .removed(let element, let position):
        return (
          .insert(path, target, at: position, element),
          try ArrayCoding.inserting(element, at: position, into: value, path)
        )
      }
    } catch DatabaseError.badValue, DatabaseError.notFound {
      return nil
    }
  }
}

extension [Adjustment] {
  /// The operations that take all of them back, the last one first, and the value that they leave.
  func inverse(
    _ path: Path, _ target: Target, of value: [UInt8]
  ) throws -> (operations: [Operation], value: [UInt8])? {
    var operations: [Operation] = []
    var value = value
    for adjustment in reversed() {
      guard let (operation, next) = try adjustment.inverse(path, target, of: value) else {
        return nil
      }
      operations.append(operation)
      value = next
    }
    return (operations, value)
  }
}

extension Arithmetic {
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
  /// How many elements a stored array has; absent counts as empty.
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
