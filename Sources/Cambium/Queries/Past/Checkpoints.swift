/// Moments at equal distances, and the last one of all.
///
/// Invariant: there is at least one, and no two are the same. `init` and `halve` make it so.
struct Checkpoints: Sendable {
  let first: UInt64
  let last: UInt64
  private var distance: UInt64

  /// Checkpoints from a moment to another, no more than a number, which is at least two.
  init(from first: UInt64, to last: UInt64, most: Int) {
    (self.first, self.last) = (first, last)
    let gaps = UInt64(most - 1)
    distance = max(1, (last - first + gaps - 1) / gaps)
  }

  var count: Int { index(from: last) + 1 }

  func moment(_ index: Int) -> UInt64 { min(first + UInt64(index) * distance, last) }

  /// The first checkpoint at or after a moment; the last one where there is none.
  func index(from moment: UInt64) -> Int {
    moment <= first ? 0 : Int((min(moment, last) - first + distance - 1) / distance)
  }

  /// The checkpoints around a moment: the one at or before it, then the one after it, if there is
  /// one. None for a moment before the first.
  func indexes(around moment: UInt64) -> [Int] {
    if moment < first { return [] }
    let next = index(from: moment)
    if moment >= self.moment(next) { return [next] }
    return [next - 1, next]
  }

  /// Leaves out every second one. Half of an index, rounded up, is the index of the next checkpoint
  /// that remains.
  mutating func halve() { distance *= 2 }
}
