// The form in which rows are kept for long: one piece of bytes for each, which the list in order
// and the set by roots share. A place ends with the keys that the row is made of, so that only
// their lengths are put behind it.
//
//     orderings … │ key │ 0 joined │ 0 joined │ lengths of joined │ of key │ count of joined
//     └────────────── place ──────────────────┘ └──────────── 2 bytes each ──────────────┘

import LMDB

/// A row that is kept, about 60 bytes besides its place.
struct KeptResult: Equatable, Sendable {
  private let bytes: [UInt8]

  init(_ row: PlacedResult) {
    let identity = row.identity
    let lengths = identity.joined.map(\.count) + [identity.key.count, identity.joined.count]
    var bytes: [UInt8] = []
    bytes.reserveCapacity(row.place.count + 2 * lengths.count)
    bytes += row.place
    // No key of the store has more than some hundred bytes.
    for length in lengths { bytes.append(littleEndian: UInt16(clamping: length)) }
    self.bytes = bytes
  }

  /// A number behind the place, counted from the last.
  private func number(_ index: Int) -> Int {
    let end = bytes.count - 2 * index
    return Int(bytes[end - 1]) << 8 | Int(bytes[end - 2])
  }

  private var placeCount: Int { bytes.count - 2 * (number(0) + 2) }

  /// The range of the key, and those of the joined keys behind it.
  private var key: Range<Int> {
    let end = placeCount - (0..<number(0)).reduce(0) { $0 + number($1 + 2) + 1 }
    return end - number(1)..<end
  }

  /// The row, as it was given.
  var result: PlacedResult {
    let key = key
    var (joined, start) = ([[UInt8]](), key.upperBound)
    for index in (0..<number(0)).reversed() {
      let count = number(index + 2)
      joined.append(Array(bytes[start + 1..<start + 1 + count]))
      start += 1 + count
    }
    return PlacedResult(
      place: Array(bytes[..<placeCount]),
      identity: ResultIdentity(key: Array(bytes[key]), joined: joined))
  }

  /// Lends the key of the record that is asked for.
  func lendKey<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try bytes.lend { try body($0.extracting(key)) }
  }

  /// Lends the bytes by which rows are ordered.
  func lendPlace<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try bytes.lend { try body($0.extracting(first: placeCount)) }
  }

  /// True if the row comes before a place.
  func precedes(_ place: [UInt8]) -> Bool {
    lendPlace { own in place.lend { own.precedes($0) } }
  }

  /// True if the row comes before another.
  func precedes(_ other: KeptResult) -> Bool {
    lendPlace { own in other.lendPlace { own.precedes($0) } }
  }

  /// True if this is the row at a place.
  func isAt(_ place: [UInt8]) -> Bool {
    lendPlace { own in place.lend { own.equals($0) } }
  }
}

/// The rows that are kept, by the keys of the records that they are asked for by.
struct RowsByRoot {
  /// A row that is found by its key: of each root, one.
  private struct Rooted: Hashable {
    let row: KeptResult

    static func == (a: Rooted, b: Rooted) -> Bool {
      a.row.lendKey { key in b.row.lendKey { key.equals($0) } }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(row.lendKey { Checksum.of($0) }) }

    init(_ row: KeptResult) { self.row = row }

    /// Stands for the row of a root.
    init(of root: [UInt8]) {
      row = KeptResult(PlacedResult(place: root, identity: ResultIdentity(key: root)))
    }
  }

  private var firsts: Set<Rooted> = []
  /// The other rows of roots that have several, as joins make them; in order.
  private var others: [Rooted: [KeptResult]] = [:]

  /// The number of rows.
  var count: Int { others.values.reduce(firsts.count) { $0 + $1.count } }

  func hasRows(of root: [UInt8]) -> Bool { firsts.contains(Rooted(of: root)) }

  func rows(of root: [UInt8]) -> [KeptResult] {
    guard let index = firsts.firstIndex(of: Rooted(of: root)) else { return [] }
    let first = firsts[index]
    return [first.row] + (others.isEmpty ? [] : others[first] ?? [])
  }

  mutating func insert(_ row: KeptResult) {
    let rooted = Rooted(row)
    if firsts.insert(rooted).inserted { return }
    let position = others[rooted]?.partitionPoint { $0.precedes(row) } ?? 0
    others[rooted, default: []].insert(row, at: position)
  }

  /// Removes a row that is there.
  mutating func remove(_ row: KeptResult) {
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
