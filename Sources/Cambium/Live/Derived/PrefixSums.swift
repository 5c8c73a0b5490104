/// A list of counts, with the sum of those before any position.
///
/// A derived result that shows several elements for one, or none, finds their positions by it: the
/// elements of the source at position 7 begin at `sums.sum(before: 7)`.
///
/// It is a ``ChunkedList`` of the counts whose nodes add them up, so that each operation takes
/// O(log *n* + chunk). A copy shares all nodes that do not change.
typealias PrefixSums = WeightedList<CountWeight>

/// A count weighs what it is.
enum CountWeight: ElementWeight {
  static func of(_ count: Int) -> Int { count }
  static func sum(_ counts: ArraySlice<Int>) -> Int { counts.reduce(0, +) }
}

extension PrefixSums {
  /// The positions that the elements of one source have.
  func range(of position: Int) -> Range<Int> {
    let start = sum(before: position)
    return start..<start + self[position]
  }
}
