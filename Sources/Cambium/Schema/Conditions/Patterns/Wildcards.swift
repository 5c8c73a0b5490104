/// Patterns of which some steps take one element, and wildcards take any number.
package enum Wildcards {
  /// Matches all elements against a pattern.
  ///
  /// Where an element does not fit, the newest wildcard takes one more: that is enough, since
  /// whatever an earlier one could take, the newest can too.
  ///
  /// - Parameters:
  ///   - stepCount: The number of steps.
  ///   - count: The number of elements.
  ///   - isWildcard: True for a step that takes any number of elements.
  ///   - fits: True if another step takes an element.
  /// - Returns: True if the pattern matches.
  /// - Throws: Any error that `fits` throws.
  /// - Complexity: O(steps × elements).
  @inline(__always)
  package static func match(
    _ stepCount: Int, _ count: Int, isWildcard: (_ step: Int) -> Bool,
    fits: (_ step: Int, _ index: Int) throws -> Bool
  ) rethrows -> Bool {
    var (step, index) = (0, 0)
    // The last wildcard, and the place behind what it takes.
    var last: (step: Int, index: Int)?
    while index < count {
      if step < stepCount, isWildcard(step) {
        last = (step, index)
        step += 1
      } else if step < stepCount, try fits(step, index) {
        step += 1
        index += 1
      } else if let wildcard = last {
        last = (wildcard.step, wildcard.index + 1)
        (step, index) = (wildcard.step + 1, wildcard.index + 1)
      } else {
        return false
      }
    }
    while step < stepCount, isWildcard(step) { step += 1 }
    return step == stepCount
  }
}
