// Rows as live queries keep and compare them: one piece of bytes for each. A place mostly ends with
// the keys that the row is made of, so that only their lengths are put behind it.
//
//     orderings … │ key │ 0 joined │ 0 joined │ lengths of joined │ of key │ count of joined
//     └────────────── place ──────────────────┘ └──────────── 2 bytes each ──────────────┘

import LMDB

/// A row of a live query's result: a record, and those that are joined to it. It takes about 60
/// bytes besides its place.
struct PlacedResult: Equatable, Sendable {
  /// The bit of the last number that says that the keys lie behind the place, and not in it.
  private static let areKeysApart = 0x8000

  private let bytes: [UInt8]

  /// - Parameters:
  ///   - place: The bytes by which rows are ordered: no two rows of a result have the same.
  ///   - identity: The records that the row is made of.
  init(place: [UInt8], identity: ResultIdentity) {
    let keys = identity.bytes
    let isShared = place.count >= keys.count && place.suffix(keys.count).elementsEqual(keys)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(
      place.count + (isShared ? 0 : keys.count) + 2 * (identity.joined.count + 2))
    bytes += place
    if !isShared { bytes += keys }
    for key in identity.joined { bytes.append(littleEndian: PlacedResult.number(key.count)) }
    bytes.append(littleEndian: PlacedResult.number(identity.key.count))
    let flag = isShared ? 0 : PlacedResult.areKeysApart
    bytes.append(littleEndian: PlacedResult.number(identity.joined.count | flag))
    self.bytes = bytes
  }

  /// Stands for a row by the key of the record that is asked for; it has no place.
  init(root: [UInt8]) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(root.count + 4)
    bytes.append(contentsOf: root)
    let length = PlacedResult.number(root.count)
    bytes.append(UInt8(truncatingIfNeeded: length))
    bytes.append(UInt8(truncatingIfNeeded: length >> 8))
    bytes.append(0)
    bytes.append(UInt8(PlacedResult.areKeysApart >> 8))
    self.bytes = bytes
  }

  /// The row whose place ends with the keys of its records.
  ///
  /// - Parameters:
  ///   - place: The bytes of the place. More is put behind them.
  ///   - key: The key of the record that is asked for.
  ///   - joined: The keys of those that are joined to it.
  init(endingWithKeys place: inout ByteBuffer, key: RawSpan, joined: [[UInt8]]) {
    for key in joined { place.append(littleEndian: PlacedResult.number(key.count)) }
    place.append(littleEndian: PlacedResult.number(key.byteCount))
    place.append(littleEndian: PlacedResult.number(joined.count))
    bytes = place.array()
  }

  /// A number as it is stored: no key of the store has more than some hundred bytes, and no query
  /// as many joins.
  private static func number(_ count: Int) -> UInt16 { UInt16(clamping: count) }

  // MARK: Parts

  /// A number at the end, counted from the last.
  private func number(_ index: Int) -> Int {
    let end = bytes.count - 2 * index
    return Int(bytes[end - 1]) << 8 | Int(bytes[end - 2])
  }

  private var joinedCount: Int { number(0) & (PlacedResult.areKeysApart - 1) }

  /// The ranges of the place and of the key; the joined keys lie behind that.
  private var parts: (placeCount: Int, key: Range<Int>) {
    let joinedCount = joinedCount
    let end = bytes.count - 2 * (joinedCount + 2)
    var keyEnd = end
    for index in 0..<joinedCount { keyEnd -= number(index + 2) + 1 }
    let key = keyEnd - number(1)..<keyEnd
    return (number(0) & PlacedResult.areKeysApart == 0 ? end : key.lowerBound, key)
  }

  /// The bytes by which rows are ordered.
  var place: [UInt8] { lendPlace { $0.array() } }

  /// The key of the record that is asked for.
  var key: [UInt8] { lendKey { $0.array() } }

  /// The keys of the records that are joined to it.
  var joined: [[UInt8]] {
    var (joined, start) = ([[UInt8]](), parts.key.upperBound)
    for index in (0..<joinedCount).reversed() {
      let count = number(index + 2)
      joined.append(Array(bytes[start + 1..<start + 1 + count]))
      start += 1 + count
    }
    return joined
  }

  /// The records that the row is made of.
  var identity: ResultIdentity { ResultIdentity(key: key, joined: joined) }

  /// Lends the key of the record that is asked for.
  func lendKey<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try bytes.lend { try body($0.extracting(parts.key)) }
  }

  /// Lends the bytes by which rows are ordered.
  func lendPlace<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
    try bytes.lend { try body($0.extracting(first: parts.placeCount)) }
  }

  // MARK: Order

  /// True if the row comes before a place.
  func precedes(_ place: [UInt8]) -> Bool {
    lendPlace { own in place.lend { own.precedes($0) } }
  }

  /// True if the row comes before another.
  func precedes(_ other: PlacedResult) -> Bool {
    lendPlace { own in other.lendPlace { own.precedes($0) } }
  }

  /// True if the row has the place of another, and so is made of the same records.
  func isAt(_ other: PlacedResult) -> Bool {
    lendPlace { own in other.lendPlace { own.equals($0) } }
  }
}

/// The records that a row is made of. A row keeps its identity wherever it moves.
struct ResultIdentity: Hashable, Sendable {
  /// The key of the record that is asked for, in its stored form: the root.
  let key: [UInt8]
  /// The keys of the records that are joined to it; an empty one where there is none.
  var joined: [[UInt8]] = []
}

extension ResultIdentity {
  /// The keys in one piece, in the order in which rows come that nothing orders.
  var bytes: [UInt8] { joined.isEmpty ? key : key + joined.joinedPlace }

  /// The order in which a run that is given some keys hands out rows.
  func precedes(_ other: ResultIdentity) -> Bool {
    if key != other.key { return key.lexicographicallyPrecedes(other.key) }
    return joined.lexicographicallyPrecedes(other.joined) { $0.lexicographicallyPrecedes($1) }
  }
}
