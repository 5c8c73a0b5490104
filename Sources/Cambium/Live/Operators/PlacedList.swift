/// Entries in the order of their places, which are bytes that no two of them share.
struct PlacedList<Payload: Sendable>: Sendable {
  /// An entry and the bytes that order it.
  struct Entry: Sendable {
    let place: [UInt8]
    var payload: Payload
  }

  private var entries = ChunkedList<Entry>()

  /// The number of entries.
  var count: Int { entries.count }

  /// The entry with the least place.
  var first: Entry? { entries.isEmpty ? nil : entries[0] }

  /// The entry at a position.
  subscript(position: Int) -> Entry { entries[position] }

  /// The number of entries before a place.
  ///
  /// - Complexity: O(log *n*).
  func position(of place: [UInt8]) -> Int {
    place.lend { place in
      entries.position { entry in entry.place.lend { $0.precedes(place) } }
    }
  }

  /// Puts an entry at its place, where there is none.
  ///
  /// - Complexity: O(log *n*).
  mutating func insert(_ payload: Payload, at place: [UInt8]) {
    entries.insert(Entry(place: place, payload: payload), at: position(of: place))
  }

  /// Replaces the content of the entry at a place.
  ///
  /// - Complexity: O(log *n*).
  mutating func replace(at place: [UInt8], with payload: Payload) {
    entries.update(at: position(of: place)) { $0.payload = payload }
  }

  /// Removes the entry at a place.
  ///
  /// - Complexity: O(log *n*).
  mutating func remove(at place: [UInt8]) {
    let removed = entries.remove(at: position(of: place))
    assert(removed.place == place, "no entry has this place")
  }

  /// Removes some entries and inserts others, which may have the places of those that are removed.
  ///
  /// - Parameters:
  ///   - removals: The positions before, ascending.
  ///   - arrivals: The others in the order of their places.
  /// - Complexity: O(*m* log *n*) for *m* entries, or O(*n*) for many.
  mutating func edit(removing removals: [Int], inserting arrivals: [Entry]) {
    let insertions = arrivals.enumerated().map { index, entry in
      let position = position(of: entry.place)
      return (position - removals.partitionPoint { $0 < position } + index, entry)
    }
    entries.apply(ListEdit(removals: removals, insertions: insertions))
  }
}
