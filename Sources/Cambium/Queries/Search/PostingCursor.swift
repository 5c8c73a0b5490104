import LMDB

/// A walk over the postings of a list, block by block.
final class PostingCursor: PlacesCursor {
  private let start: [UInt8]
  private let reader: StateReader
  private var cursor: Cursor
  private var block = PostingReader()
  private(set) var place: [UInt8]?

  /// Goes to the first posting of a list.
  ///
  /// - Parameters:
  ///   - start: The bytes that the keys of its blocks begin with.
  ///   - reader: The state.
  /// - Throws: ``StorageError``, and ``DatabaseError/corrupt(reason:)``; so do the moves.
  init(_ start: [UInt8], _ reader: StateReader) throws {
    self.start = start
    self.reader = reader
    cursor = try Cursor(reader.access, reader.tables.views)
    if try cursor.seek(prefix: start) { try open() }
  }

  /// The number of postings: the blocks are walked, and not read.
  func records() throws -> UInt64 {
    var records = 0
    try reader.access.forEach(reader.tables.views, startingWith: start) { _, block in
      var offset = 0
      records += try PostingReader.count(in: block, &offset)
    }
    return UInt64(records)
  }

  func appendPlaces(to places: inout [TermPlace]) throws {
    try block.lendPayload { try TermPlaces.forEach(in: $0) { places.append($0) } }
  }

  func placesCount(of property: Int?) throws -> Int {
    try block.lendPayload { try TermPlaces.count(in: $0, of: property) }
  }

  /// Lends the payload of the posting at the cursor.
  func lendPayload<R>(_ body: (RawSpan) throws -> R) rethrows -> R { try block.lendPayload(body) }

  func next() throws {
    if place == nil { return }
    if try block.next() { take() } else { try openNext() }
  }

  func seek(_ wanted: [UInt8]) throws {
    guard let place, place.precedes(wanted) else { return }
    if try find(wanted) { return }
    try openNext()
    // The next one is wanted most often.
    guard let place = self.place, place.precedes(wanted) else { return }
    _ = try (start + wanted + [0]).lend { try cursor.seekBefore($0) }
    try open()
    if try wanted.lend({ !block.precedes($0) }) || find(wanted) { return }
    try openNext()
  }

  /// Goes to the first posting in the block at or after a place.
  ///
  /// - Returns: False if there is none.
  private func find(_ wanted: [UInt8]) throws -> Bool {
    guard try wanted.lend({ try block.seek($0) }) else { return false }
    take()
    return true
  }

  private func openNext() throws {
    place = nil
    if try cursor.next(), cursor.isAt(prefix: start) { try open() }
  }

  /// Reads the first posting of the block at the cursor.
  private func open() throws {
    try cursor.withEntry { key, value in
      try block.open(value, beginningAt: key.extracting(droppingFirst: start.count))
    }
    guard try block.next() else {
      throw DatabaseError.corrupt(reason: "a view has a block without records")
    }
    take()
  }

  private func take() { place = block.lendPlace { $0.array() } }
}
