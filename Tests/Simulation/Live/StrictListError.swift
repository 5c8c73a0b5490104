/// The reason why a list view would refuse a batch of updates, or show something else than its data
/// source has.
package struct StrictListError: Error, Equatable, CustomStringConvertible {
  /// The rule that was broken, in the words of UIKit's exceptions where it has one.
  package let description: String

  init(_ description: String) { self.description = description }
}

/// Throws unless a rule is kept.
func require(_ isKept: Bool, _ rule: @autoclosure () -> String) throws(StrictListError) {
  if !isKept { throw StrictListError(rule()) }
}

/// Throws unless positions ascend, which also means that none is there twice.
func requireAscending<Position: Comparable>(
  _ positions: [Position], _ name: String
) throws(StrictListError) {
  for (position, next) in zip(positions, positions.dropFirst()) {
    try require(position != next, "multiple \(name) for the same index path (\(position))")
    try require(position < next, "\(name) are not ascending (\(position), \(next))")
  }
}
