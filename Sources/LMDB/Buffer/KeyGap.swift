/// A stretch of a table without keys: those that are put one after the other are mostly in one, so
/// that the second need not be looked for.
///
/// To find its ends costs more than to look for a key, and is in vain where keys come at random. So
/// that is tried the less often, the less it has helped.
struct KeyGap: ~Copyable {
  /// The keys at its ends; nil at the table's.
  private var ends: (before: [UInt8]?, behind: [UInt8]?)?
  private var helped = 0
  /// The number of absent keys until its ends are looked for.
  private var countdown = KeyGap.shortestPause
  private var pause = KeyGap.shortestPause

  /// True if it is certain that a key is in the stretch.
  @inline(__always)
  mutating func contains(_ key: UnsafeRawBufferPointer) -> Bool {
    guard let ends, unsafe KeyGap.isAfter(ends.before, key),
      unsafe KeyGap.isBefore(ends.behind, key)
    else { return false }
    helped += 1
    return true
  }

  @inline(__always)
  private static func isAfter(_ end: [UInt8]?, _ key: UnsafeRawBufferPointer) -> Bool {
    guard let end else { return true }
    return unsafe end.withUnsafeBytes { unsafe key.order(to: $0) > 0 }
  }

  @inline(__always)
  private static func isBefore(_ end: [UInt8]?, _ key: UnsafeRawBufferPointer) -> Bool {
    guard let end else { return true }
    return unsafe end.withUnsafeBytes { unsafe key.order(to: $0) < 0 }
  }

  /// Notes that a key is absent.
  mutating func note(
    _ key: UnsafeRawBufferPointer, absentFrom table: Table, _ access: Access
  ) throws {
    countdown -= 1
    if countdown > 0 { return }
    pause = helped > 2 * pause ? KeyGap.shortestPause : min(2 * pause, KeyGap.longestPause)
    (helped, countdown) = (0, pause)
    var cursor = try Cursor(access, table)
    let hasNext = try unsafe cursor.seek(key.bytes)
    let behind = hasNext ? cursor.withEntry { key, _ in key.array } : nil
    let hasPrevious = try hasNext ? cursor.previous() : cursor.last()
    ends = (hasPrevious ? cursor.withEntry { key, _ in key.array } : nil, behind)
  }

  private static let (shortestPause, longestPause) = (4, 1 << 10)
}

extension RawSpan {
  fileprivate var array: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }
}
