// The rows of a live query that are made of several records: groups or distinct values. All of
// them are kept in the order of the query, as nothing could refill a window.
//
// Per row: about 200 bytes, besides its place, its identity, and its values.

/// The rows that a step changed in a list of computed rows, ordered by their identities.
struct ComputedChanges: Sendable {
  /// A row and its position in the whole list, without offset and limit.
  struct Element: Sendable {
    let position: Int
    let place: [UInt8]
    let values: [Value]
  }

  /// A row before and after a step: `before` is nil for one that arrived, `after` for one that
  /// left.
  struct Change: Sendable {
    let id: [UInt8]
    let before: Element?
    let after: Element?
  }

  var changes: [Change] = []
}

/// All computed rows in order.
struct ComputedRows: Sendable {
  /// A row: the bytes that order it, which no other row has, its identity, and its values.
  struct Element: Equatable, Sendable {
    let place: [UInt8]
    let id: [UInt8]
    let values: [Value]
  }

  private var list = PlacedList<(id: [UInt8], values: [Value])>()
  /// The place of each row by its identity.
  private var places: [[UInt8]: [UInt8]] = [:]

  /// The number of rows.
  var count: Int { list.count }

  /// The row at a position.
  subscript(position: Int) -> Element {
    let entry = list[position]
    return Element(place: entry.place, id: entry.payload.id, values: entry.payload.values)
  }

  /// The values of the row with an identity; nil if there is none.
  func values(of id: [UInt8]) -> [Value]? { places[id].map { position(of: $0).values } }

  /// Replaces rows: all departures and arrivals at once, so that positions before are those before
  /// all of them, and positions after those after all.
  ///
  /// - Parameter rows: The rows by their identities, each of which occurs once; nil for one that is
  ///   not in the list any longer.
  /// - Returns: The changes, without rows that are as they were.
  /// - Complexity: O(*k* log *n*) for *k* rows.
  mutating func replace(_ rows: [(id: [UInt8], row: Element?)]) -> ComputedChanges {
    var changed: [(id: [UInt8], before: ComputedChanges.Element?, after: Element?)] = []
    for (id, row) in rows {
      let before = places[id].map { position(of: $0) }
      if before?.place == row?.place && before?.values == row?.values { continue }
      changed.append((id, before, row))
    }
    for (_, before, after) in changed {
      guard let after, after.place == before?.place else { continue }
      list.replace(at: after.place, with: (after.id, after.values))
    }
    let moved = changed.filter { $0.before?.place != $0.after?.place }
    for (id, _, after) in moved { places[id] = after?.place }
    list.edit(
      removing: moved.compactMap(\.before?.position).sorted(),
      inserting: moved.compactMap(\.after).sorted { $0.place.precedes($1.place) }
        .map { PlacedList.Entry(place: $0.place, payload: ($0.id, $0.values)) })
    changed.sort { $0.id.precedes($1.id) }
    return ComputedChanges(
      changes: changed.map { id, before, after in
        .init(id: id, before: before, after: after.map { position(of: $0.place) })
      })
  }

  private func position(of place: [UInt8]) -> ComputedChanges.Element {
    let position = list.position(of: place)
    return ComputedChanges.Element(
      position: position, place: place, values: list[position].payload.values)
  }
}
