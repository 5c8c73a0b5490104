import LMDB

/// The rows that are kept, by the keys of the records that they are asked for by.
struct RowsByRoot {
  /// A row that is found by its key: of each root, one.
  private struct Rooted: Hashable {
    let row: PlacedResult

    static func == (a: Rooted, b: Rooted) -> Bool {
      a.row.lendKey { key in b.row.lendKey { key.equals($0) } }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(row.lendKey { Checksum.of($0) }) }

    init(_ row: PlacedResult) { self.row = row }

    /// Stands for the row of a root.
    init(of root: [UInt8]) { row = PlacedResult(root: root) }
  }

  private var firsts: Set<Rooted> = []
  /// The other rows of roots that have several, as joins make them; in order.
  private var others: [Rooted: [PlacedResult]] = [:]

  /// The number of rows.
  var count: Int { others.values.reduce(firsts.count) { $0 + $1.count } }

  func hasRows(of root: [UInt8]) -> Bool { firsts.contains(Rooted(of: root)) }

  func rows(of root: [UInt8]) -> [PlacedResult] {
    guard let index = firsts.firstIndex(of: Rooted(of: root)) else { return [] }
    let first = firsts[index]
    return others.isEmpty ? [first.row] : [first.row] + (others[first] ?? [])
  }

  mutating func insert(_ row: PlacedResult) {
    let rooted = Rooted(row)
    if firsts.insert(rooted).inserted { return }
    let position = others[rooted]?.partitionPoint { $0.precedes(row) } ?? 0
    others[rooted, default: []].insert(row, at: position)
  }

  /// Removes a row that is there.
  mutating func remove(_ row: PlacedResult) {
    let rooted = Rooted(row)
    guard let count = others.isEmpty ? nil : others[rooted]?.count else {
      firsts.remove(rooted)
      return
    }
    if let index = firsts.firstIndex(of: rooted), firsts[index].row == row {
      if let next = others[rooted]?.removeLast() { firsts.update(with: Rooted(next)) }
    } else if let position = others[rooted]?.partitionPoint(where: { $0.precedes(row) }) {
      others[rooted]?.remove(at: position)
    }
    if count == 1 { others[rooted] = nil }
  }
}
