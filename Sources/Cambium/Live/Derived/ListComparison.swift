/// Two lists compared by the identities of their elements.
///
/// An identity that is there several times stands for as many elements: the first of it in one list
/// is the first of it in the other.
struct ListComparison {
  /// Positions before of the elements that are gone, ascending.
  private(set) var removed: [Int] = []
  /// Positions after of the elements that are new, ascending.
  private(set) var inserted: [Int] = []
  /// The elements that stay, ascending by position after.
  private(set) var kept: [ListMove] = []
  /// True if those that stay have kept their order.
  private(set) var isInOrder = true

  /// Compares, in O(*n*).
  init<ID: Hashable>(_ before: [ID], _ after: [ID]) {
    var places: [ID: [Int]] = [:]
    for index in before.indices.reversed() { places[before[index], default: []].append(index) }
    var stays = Array(repeating: false, count: before.count)
    for (index, id) in after.enumerated() {
      guard let place = places[id]?.popLast() else {
        inserted.append(index)
        continue
      }
      stays[place] = true
      if let last = kept.last, last.before > place { isInOrder = false }
      kept.append(ListMove(before: place, after: index))
    }
    removed = stays.indices.filter { !stays[$0] }
  }
}
