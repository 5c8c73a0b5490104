/// A description whose methods return changed copies of it, one after the other.
protocol Refinable {}

extension Refinable {
  /// A copy with a change.
  func changed(_ change: (inout Self) throws -> Void) rethrows -> Self {
    var copy = self
    try change(&copy)
    return copy
  }
}
