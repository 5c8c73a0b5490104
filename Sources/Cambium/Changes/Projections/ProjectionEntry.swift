// The entries of an app's projection in the table `views`, after those of all views:
//
//     FFFFFFFF | name  → the table that is read, and the one that takes its place, if one is made:
//                        each number u32, version i64, position u64, 1 while it takes in what was
//                        there at the start, else 0; little-endian
//     FFFFFFFF         → the next number u32; numbers are never used again
//     8…, 9…, A… FFFFFFFE | path → a value of the table with this number
//
// None of it is compared by `verify`: how far a projection has come is not decided by the log.

import LMDB

/// A projection's tables.
struct ProjectionEntry: Equatable, Sendable {
  /// One table.
  struct Part: Equatable, Sendable {
    var number: UInt32
    var version: Int64
    /// The last transaction that is folded in.
    var position: UInt64
    /// True until it has taken in all that was there at the start.
    var isStarting: Bool
  }

  /// The table that is read.
  var serving: Part
  /// The table that takes its place when it has come as far.
  var coming: Part?

  /// The part that is folded into.
  var active: Part {
    get { coming ?? serving }
    set { if coming == nil { serving = newValue } else { coming = newValue } }
  }

  static let directory: UInt32 = 0xFFFF_FFFF
  /// The first number of an app's table; those of views are smaller.
  static let firstNumber: UInt32 = 0x8000_0000

  static func key(_ name: String) -> [UInt8] {
    var key = [UInt8](bigEndian: directory)
    key += Array(name.utf8)
    return key
  }

  /// Reads an entry, or nil where there is none.
  init?(_ name: String, _ access: Access, _ tables: StateTables) throws {
    let entry = try ProjectionEntry.key(name).lend { key in
      try access.get(tables.views, key) { try ProjectionEntry($0) }
    }
    guard let entry else { return nil }
    self = entry
  }

  init(serving: Part) { self.serving = serving }

  private init(_ bytes: RawSpan) throws {
    serving = try Part(bytes, at: 0)
    if bytes.byteCount > Part.bytesCount { coming = try Part(bytes, at: Part.bytesCount) }
  }

  /// The stored form.
  var stored: [UInt8] { serving.stored + (coming?.stored ?? []) }
}

extension ProjectionEntry.Part {
  fileprivate static let bytesCount = 21

  fileprivate init(_ bytes: RawSpan, at offset: Int) throws {
    number = try bytes.load(UInt32.self, at: offset)
    version = try bytes.load(Int64.self, at: offset + 4)
    position = try bytes.load(UInt64.self, at: offset + 12)
    isStarting = try bytes.load(UInt8.self, at: offset + 20) == 1
  }

  fileprivate var stored: [UInt8] {
    var bytes = [UInt8](littleEndian: number)
    bytes.append(littleEndian: version)
    bytes.append(littleEndian: position)
    bytes.append(isStarting ? 1 : 0)
    return bytes
  }
}
