/// Compares values of any type: by `==` if they are `Equatable`, otherwise part by part.
///
/// A tuple is never `Equatable`, nor need a model be, and yet an element that was read again is
/// often the same. It is found out by reflection, which is slower than `==`.
enum StoredParts {
  /// True if two values of one type are surely equal. Classes, closures, and types that describe
  /// themselves otherwise than by their parts are not compared, and count as different.
  static func areEqual(_ one: Any, _ other: Any) -> Bool {
    if let one = one as? any Equatable { return one.equals(other) }
    if let one = one as? any Wrapping, let other = other as? any Wrapping {
      switch (one.wrapped, other.wrapped) {
      case (nil, nil): return true
      case (let one?, let other?): return areEqual(one, other)
      default: return false
      }
    }
    if let one = one as? [Any], let other = other as? [Any] {
      return one.count == other.count && zip(one, other).allSatisfy(areEqual)
    }
    return areEqual(Mirror(reflecting: one), Mirror(reflecting: other), of: one)
  }

  private static func areEqual(_ one: Mirror, _ other: Mirror, of value: Any) -> Bool {
    guard one.displayStyle == .tuple || one.displayStyle == .struct,
      one.subjectType == other.subjectType, !(value is any CustomReflectable)
    else { return false }
    return zip(one.children, other.children).allSatisfy { areEqual($0.value, $1.value) }
  }
}

extension Equatable {
  fileprivate func equals(_ other: Any) -> Bool { self == other as? Self }
}

/// An optional, whatever is in it.
private protocol Wrapping {
  var wrapped: Any? { get }
}

extension Optional: Wrapping {
  fileprivate var wrapped: Any? { self }
}
