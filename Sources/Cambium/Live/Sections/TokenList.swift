/// A list whose entries have tokens that ascend with their positions.
///
/// A position changes with every insertion before it; a token stays, and leads back to the
/// position in O(log *n*). So a row can be listed in two places, in the result and in its section,
/// and be found in either from the other.
///
/// A new entry takes the token midway between its neighbours'. Where they leave no room, the
/// tokens around it are spread out: over twice as many entries until there is enough room, where
/// more entries need more room for each. So tokens change O(log *n*) times for each insertion, at
/// the worst place and amortized; with 2³² between neighbours at first, hardly ever. (M. Bender and
/// others, *Two simplified algorithms for maintaining order in a list*, 2002.)
///
/// Invariant: tokens ascend, and lie between 0 and the greatest number, exclusive. Proved by
/// construction, and by the tests.
struct TokenList<Payload> {
  struct Entry {
    fileprivate(set) var token: UInt64
    fileprivate(set) var payload: Payload
  }

  /// An entry whose token has changed, to make room.
  struct Spread {
    let payload: Payload
    let old: UInt64
    let new: UInt64
  }

  private(set) var entries = ChunkedList<Entry>()

  init(_ payloads: some Collection<Payload>) {
    let first = Self.middle - Self.step * UInt64(payloads.count / 2)
    entries = ChunkedList(
      payloads.enumerated().map { Entry(token: first + Self.step * UInt64($0), payload: $1) })
  }

  private static var middle: UInt64 { 1 << 63 }
  private static var step: UInt64 { 1 << 32 }

  var count: Int { entries.count }

  subscript(position: Int) -> Entry { entries[position] }

  func position(of token: UInt64) -> Int { entries.position { $0.token < token } }

  mutating func remove(at position: Int) -> Entry { entries.remove(at: position) }

  mutating func update<Result>(at position: Int, _ change: (inout Payload) -> Result) -> Result {
    entries.update(at: position) { change(&$0.payload) }
  }

  /// Inserts an entry; returns its token, and the entries around it whose tokens have changed.
  mutating func insert(
    _ payload: Payload, at position: Int
  ) -> (token: UInt64, spread: [Spread]) {
    if let token = freeToken(at: position) {
      entries.insert(Entry(token: token, payload: payload), at: position)
      return (token, [])
    }
    let spread = makeRoom(at: position)
    let token = freeToken(at: position) ?? 0
    assert(token != 0, "spreading has made no room")
    entries.insert(Entry(token: token, payload: payload), at: position)
    return (token, spread)
  }

  private func tokens(around range: Range<Int>) -> (low: UInt64, high: UInt64) {
    (
      range.lowerBound == 0 ? 0 : entries[range.lowerBound - 1].token,
      range.upperBound == count ? .max : entries[range.upperBound].token
    )
  }

  private func freeToken(at position: Int) -> UInt64? {
    let (low, high) = tokens(around: position..<position)
    if high - low < 2 { return nil }
    let half = (high - low) / 2
    // At the ends, a fixed step: half of what is left would soon use it up.
    if position == count && position > 0 { return low + Swift.min(Self.step, half) }
    if position == 0 && count > 0 { return high - Swift.min(Self.step, half) }
    return low + half
  }

  private mutating func makeRoom(at position: Int) -> [Spread] {
    var (width, needed) = (32, 65_536.0)
    while true {
      let range = Swift.max(0, position - width)..<Swift.min(count, position + width)
      let (low, high) = tokens(around: range)
      let gap = (high - low) / UInt64(range.count + 1)
      if Double(gap) >= needed || range.count == count { return spread(range, after: low, gap) }
      width *= 2
      needed *= 1.5
    }
  }

  private mutating func spread(_ range: Range<Int>, after low: UInt64, _ gap: UInt64) -> [Spread] {
    range.map { position in
      let new = low + gap * UInt64(position - range.lowerBound + 1)
      return entries.update(at: position) { entry in
        defer { entry.token = new }
        return Spread(payload: entry.payload, old: entry.token, new: new)
      }
    }
  }
}

extension TokenList: Sendable where Payload: Sendable {}
extension TokenList.Entry: Sendable where Payload: Sendable {}
