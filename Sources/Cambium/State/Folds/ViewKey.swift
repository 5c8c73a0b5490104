// The keys of the table `views`.
//
//     number of the view u32, big-endian | part u8 | see the file of each kind of view
//
// LMDB's keys end at 511 bytes, so a part that may be long is cut to a room of its own: its first
// bytes, and 16 bytes of a digest of all of it. A cut part remains distinct from all others, and
// sorts among its neighbours by its first bytes; the entry's value then contains it whole.
//
//     not cut: shorter than room - 16        cut: room bytes

import LMDB

/// Makes keys of views' entries.
enum ViewKey {
  /// The kinds of entries of a view.
  enum Part: UInt8 {
    /// One entry for the view, or one for each group.
    case main = 0
    /// The values of a group in order; the records of a text view.
    case second = 1
    /// The terms of a text view.
    case third = 2
  }

  static let digestBytes = 16

  /// The room of a group, of a value in order, and of a record's key after both of them.
  static let groupRoom = 160
  static let orderRoom = 140
  static let recordRoom = 200
  /// The room of a record's key after a term.
  static let termRecordRoom = 376

  /// The first bytes of an entry's key.
  static func start(_ number: UInt32, _ part: Part) -> [UInt8] {
    var key: [UInt8] = []
    key.reserveCapacity(64)
    key.append(bigEndian: number)
    key.append(part.rawValue)
    return key
  }

  /// Adds a part that may be long.
  ///
  /// - Returns: True if it was cut.
  @discardableResult
  static func append(_ bytes: RawSpan, room: Int, to key: inout [UInt8]) -> Bool {
    if bytes.byteCount < room - digestBytes {
      key.append(bytes)
      return false
    }
    key.append(bytes.extracting(0..<(room - digestBytes)))
    key += Digest.of(bytes).prefix(digestBytes)
    return true
  }

  /// The bytes of a part that are stored unchanged in a key.
  static func shown(of bytes: [UInt8], room: Int) -> [UInt8] {
    bytes.count < room - digestBytes ? bytes : Array(bytes.prefix(room - digestBytes))
  }

  /// The first key after all that begin with these bytes, or nil if there is none.
  static func end(of start: [UInt8]) -> [UInt8]? {
    var end = start
    while let last = end.popLast() {
      if last < .max {
        end.append(last + 1)
        return end
      }
    }
    return nil
  }
}

extension Access {
  /// The first key that begins with these bytes.
  func firstKey(_ table: Table, _ prefix: [UInt8]) throws -> [UInt8]? {
    var cursor = try Cursor(self, table)
    guard try cursor.seek(prefix: prefix) else { return nil }
    return cursor.withEntry { key, _ in key.array() }
  }
}

extension Cursor {
  /// Goes to the first entry whose key begins with these bytes.
  mutating func seek(prefix: [UInt8]) throws -> Bool {
    guard try prefix.lend({ try seek($0) }) else { return false }
    return isAt(prefix: prefix)
  }

  /// Goes to the last entry whose key begins with these bytes.
  mutating func seekLast(prefix: [UInt8]) throws -> Bool {
    guard let end = ViewKey.end(of: prefix) else { return try last() && isAt(prefix: prefix) }
    return try end.lend { try seekBefore($0) } && isAt(prefix: prefix)
  }

  /// True if the key of the cursor's entry begins with these bytes.
  @inline(__always)
  func isAt(prefix: [UInt8]) -> Bool {
    prefix.lend { prefix in withEntry { key, _ in key.starts(with: prefix) } }
  }
}
