/// Binary search, in the one form that everything else follows from.
extension RandomAccessCollection {
  /// The index of the first element that is not before a place, or the end.
  ///
  /// The condition must hold for the first elements, those before the place, and for no other.
  func partitionPoint(where isBefore: (Element) throws -> Bool) rethrows -> Index {
    var (low, high) = (startIndex, endIndex)
    while low != high {
      let middle = index(low, offsetBy: distance(from: low, to: high) / 2)
      if try isBefore(self[middle]) { low = index(after: middle) } else { high = middle }
    }
    return low
  }
}
