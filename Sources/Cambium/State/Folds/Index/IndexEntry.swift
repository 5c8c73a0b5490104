// The entries of an index, as stored in the table `index`.
//
//     key    number u32 | ordered value of each term | the record's key
//     value  u16: the length of the record's key, with the top bit if the terms were cut;
//            then, if the index covers properties, a stored record of these; a property of a
//            referenced record has the name `carrier→name` in it
//
// The number is big-endian, the length little-endian. LMDB's keys end at 511 bytes, so the terms
// are cut if they and the record's key are longer; a reader of such an entry reads the record as
// well. A record's key is in its stored form, as in the tree's keys.

import LMDB

/// Writes and reads index entries.
enum IndexEntry {
  static let bytesMax = 511
  /// The least room for terms beside a key that is an integer or a UUID, and beside any key.
  static let roomOfFixedKeys = bytesMax - 17
  static let roomOfAnyKey = bytesMax - 1 - Key.textBytesMax
  /// The most bytes of a bound that are searched for if entries may be cut: every entry has as
  /// many, however long the record's key is.
  static let boundBytesMax = bytesMax - 1 - Key.textBytesMax
  private static let cutFlag: UInt16 = 0x8000

  /// Makes the key of an index's entry for a record with single values.
  ///
  /// - Parameters:
  ///   - index: The index.
  ///   - record: The stored record.
  ///   - key: The record's key.
  ///   - element: The value of the plural term, in its stored form.
  ///   - bytes: The buffer for the key; emptied first.
  /// - Returns: True if the terms had to be cut.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  @inline(__always)
  static func makeKey(
    _ index: IndexPlan, _ record: RawSpan, _ key: RawSpan, element: RawSpan? = nil,
    into bytes: inout ByteBuffer
  ) throws -> Bool {
    try makeTerms(index, record, element: element, into: &bytes)
    let room = bytesMax - key.byteCount
    let isCut = bytes.count > room
    if isCut { bytes.cut(to: room) }
    bytes.append(key)
    return isCut
  }

  /// Makes the part of the key before the record's key, without cutting it.
  @inline(__always)
  static func makeTerms(
    _ index: IndexPlan, _ record: RawSpan, element: RawSpan?, into bytes: inout ByteBuffer
  ) throws {
    bytes.clear()
    bytes.append(bigEndian: index.number)
    let table = try RecordTable(record)
    let terms = index.terms
    for place in terms.indices {
      let term = terms[place]
      if let element, place == index.plural {
        try append(element, term, to: &bytes)
      } else {
        try table.lend(record, term.name, or: term.standIn) { try append($0, term, to: &bytes) }
      }
    }
  }

  @inline(__always)
  private static func append(
    _ value: RawSpan, _ term: IndexPlan.Term, to bytes: inout ByteBuffer
  ) throws {
    try OrderedBytes.append(
      stored: value, as: term.type, term.collation, isDescending: term.isDescending, to: &bytes)
  }

  /// Makes the value of an entry.
  ///
  /// - Parameters:
  ///   - keyCount: The length of the record's key, in bytes.
  ///   - isCut: True if the terms had to be cut.
  ///   - copies: The stored copies, from ``copies(_:_:_:)``.
  ///   - bytes: The buffer for the value; emptied first.
  static func makeValue(
    keyCount: Int, isCut: Bool, copies: [UInt8], into bytes: inout ByteBuffer
  ) {
    bytes.clear()
    bytes.append(littleEndian: UInt16(keyCount) | (isCut ? cutFlag : 0))
    if !copies.isEmpty { bytes.append(array: copies) }
  }

  /// The stored record of the copies that a record's entries hold; empty if they hold none.
  ///
  /// - Parameters:
  ///   - index: The index.
  ///   - record: The stored record.
  ///   - reader: Reads the records that it refers to.
  /// - Returns: The bytes.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  static func copies(
    _ index: IndexPlan, _ record: RawSpan, _ reader: @autoclosure () throws -> StateReader
  ) throws -> [UInt8] {
    if !index.isCovering { return [] }
    let table = try RecordTable(record)
    var copy = RecordBuilder()
    for name in index.covered {
      if let range = try table.find(record, name) {
        copy[name] = try record.array(range.lowerBound, range.count)
      }
    }
    for preview in index.previews {
      copy[preview.name] = try reader().value(of: preview, record, table)
    }
    return copy.stored()
  }

  /// The place of the record's key in an entry's key, with a flag that is true if the terms were
  /// cut.
  @inline(__always)
  static func split(_ key: RawSpan, _ value: RawSpan) throws -> (record: Range<Int>, isCut: Bool) {
    let flags = try value.load(UInt16.self, at: 0)
    let start = key.byteCount - Int(flags & ~cutFlag)
    guard start >= 4, start < key.byteCount else {
      throw DatabaseError.corrupt(reason: "an entry of an index is damaged; rebuild the state")
    }
    return (start..<key.byteCount, flags & cutFlag != 0)
  }

  /// The bytes that the keys of an index's entries begin with.
  static func prefix(_ number: UInt32) -> [UInt8] {
    [UInt8](bigEndian: number)
  }

  /// The elements of a stored array, or the keys of a stored map, each in its stored form.
  static func elements(_ value: RawSpan) throws -> [[UInt8]] {
    guard value.byteCount > 0 else { return [] }
    let isMap = try value.load(UInt8.self, at: 0) == ValueTag.map
    guard try isMap || value.load(UInt8.self, at: 0) == ValueTag.array else { return [] }
    var elements: [[UInt8]] = []
    var offset = 1
    while offset < value.byteCount {
      let part = value.extracting(try value.part(at: &offset)).array()
      elements.append(isMap ? [ValueTag.string] + part : part)
      if isMap { _ = try value.part(at: &offset) }
    }
    return elements
  }
}

extension CollectionPlan {
  /// The least room that index entries have for their terms.
  var leastRoom: Int {
    switch definition.keys {
    case .integer, .uuid: IndexEntry.roomOfFixedKeys
    case .string, nil: IndexEntry.roomOfAnyKey
    }
  }
}
