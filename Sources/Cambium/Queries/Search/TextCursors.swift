// Running a text query on a view's entries, one record after the other, in the order of their keys.
// Each part of a query is a cursor over the records that it finds; a part with several cursors
// moves the others to the record of one.

import LMDB

/// A walk over the records that a part of a query finds.
protocol TextCursor: AnyObject {
  /// The record at the cursor: its key as it is in entries' keys; nil after the last.
  var place: [UInt8]? { get }
  /// Goes to the first record at or after a place.
  func seek(_ wanted: [UInt8]) throws
}

extension TextCursor {
  /// Goes to the next record.
  func next() throws { if let place { try seek(place + [0]) } }
}

/// A cursor over the records with a term, with the term's places in each.
protocol PlacesCursor: TextCursor {
  /// The places of the term in the record at the cursor.
  func places() throws -> TermPlaces
  /// The number of records that have the term.
  var records: UInt64 { get }
}

/// The records with a term.
final class TermCursor: PlacesCursor {
  private let start: [UInt8]
  private var cursor: Cursor
  private(set) var place: [UInt8]?
  let records: UInt64

  init(_ number: UInt32, _ term: [UInt8], _ reader: StateReader) throws {
    start = TextEntry.termKey(number, term)
    cursor = try Cursor(reader.access, reader.tables.views)
    guard try cursor.seek(prefix: start) else {
      records = 0
      return
    }
    records = try cursor.withEntry { _, value in
      var offset = 0
      return try value.varint(at: &offset)
    }
    try take(cursor.next())
  }

  func seek(_ wanted: [UInt8]) throws {
    guard let place, place.lexicographicallyPrecedes(wanted) else { return }
    // The next one is wanted most often.
    try take(cursor.next())
    guard let near = self.place, near.lexicographicallyPrecedes(wanted) else { return }
    try take((start + wanted).lend { try cursor.seek($0) })
  }

  private func take(_ isThere: Bool) throws {
    guard isThere, cursor.isAt(prefix: start) else {
      place = nil
      return
    }
    place = cursor.withEntry { key, _ in key.extracting(droppingFirst: start.count).array() }
  }

  func places() throws -> TermPlaces { try cursor.withEntry { _, value in try TermPlaces(value) } }
}

/// The records with terms that begin alike: read at once, since their entries are adjacent, and put
/// in the order of the records.
final class PrefixCursor: PlacesCursor {
  private let found: [(place: [UInt8], places: TermPlaces)]
  private var index = 0

  init(_ number: UInt32, _ prefix: [UInt8], _ reader: StateReader) throws {
    let start = TextEntry.termsStart(number)
    var found: [[UInt8]: [TermPlaces]] = [:]
    try reader.access.forEach(reader.tables.views, startingWith: start + prefix) { key, value in
      let end = try key.end(ofTermFrom: start.count)
      if end == key.byteCount { return }
      let place = key.extracting(droppingFirst: end).array()
      found[place, default: []].append(try TermPlaces(value))
    }
    self.found = found.map { (place: $0.key, places: TermPlaces(merging: $0.value)) }
      .sorted { $0.place.lexicographicallyPrecedes($1.place) }
  }

  var place: [UInt8]? { index < found.count ? found[index].place : nil }
  var records: UInt64 { UInt64(found.count) }
  func places() throws -> TermPlaces { found[index].places }

  func seek(_ wanted: [UInt8]) throws {
    var high = found.count
    while index < high {
      let middle = (index + high) / 2
      if found[middle].place.lexicographicallyPrecedes(wanted) {
        index = middle + 1
      } else {
        high = middle
      }
    }
  }
}

/// The records in which terms occur in a row.
final class LeafCursor: TextCursor {
  private let leaf: TextLeaf
  private let parts: [any PlacesCursor]
  private(set) var place: [UInt8]?
  /// The number of times that the terms occur in a row in the record.
  private(set) var count = 0

  init(_ leaf: TextLeaf, _ number: UInt32, _ reader: StateReader) throws {
    self.leaf = leaf
    let last = leaf.terms.count - 1
    parts = try leaf.terms.enumerated().map { index, term -> any PlacesCursor in
      if leaf.isPrefix && index == last { return try PrefixCursor(number, term, reader) }
      return try TermCursor(number, term, reader)
    }
    try settle()
  }

  /// The number of records that have the rarest of the terms.
  var records: UInt64 { parts.map(\.records).min() ?? 0 }

  func seek(_ wanted: [UInt8]) throws {
    guard let place, place.lexicographicallyPrecedes(wanted) else { return }
    try parts[0].seek(wanted)
    try settle()
  }

  private func settle() throws {
    while let common = try align(parts) {
      count = leaf.count(try parts.map { try $0.places() })
      if count > 0 {
        place = common
        return
      }
      try parts[0].next()
    }
    place = nil
  }
}

/// Moves cursors to the first record that all of them have.
private func align(_ cursors: [any TextCursor]) throws -> [UInt8]? {
  guard var wanted = cursors.first?.place else { return nil }
  var agreed = 0
  var index = 0
  while agreed < cursors.count {
    let cursor = cursors[index % cursors.count]
    try cursor.seek(wanted)
    guard let place = cursor.place else { return nil }
    agreed = place == wanted ? agreed + 1 : 1
    wanted = place
    index += 1
  }
  return wanted
}

/// The records that all parts find.
final class AllCursor: TextCursor {
  private let parts: [any TextCursor]
  private(set) var place: [UInt8]?

  init(_ parts: [any TextCursor]) throws {
    self.parts = parts
    place = try align(parts)
  }

  func seek(_ wanted: [UInt8]) throws {
    guard let place, place.lexicographicallyPrecedes(wanted) else { return }
    try parts[0].seek(wanted)
    self.place = try align(parts)
  }
}

/// The records that a part finds.
final class AnyCursor: TextCursor {
  private let parts: [any TextCursor]
  private(set) var place: [UInt8]?

  init(_ parts: [any TextCursor]) {
    self.parts = parts
    place = first
  }

  private var first: [UInt8]? {
    parts.compactMap(\.place).min { $0.lexicographicallyPrecedes($1) }
  }

  func seek(_ wanted: [UInt8]) throws {
    guard let place, place.lexicographicallyPrecedes(wanted) else { return }
    for part in parts { try part.seek(wanted) }
    self.place = first
  }
}

/// All records but those that a part finds; or all.
final class RestCursor: TextCursor {
  private let start: [UInt8]
  private var cursor: Cursor
  private let excluded: (any TextCursor)?
  private(set) var place: [UInt8]?

  init(_ number: UInt32, _ reader: StateReader, except excluded: (any TextCursor)?) throws {
    start = TextEntry.recordsStart(number)
    self.excluded = excluded
    cursor = try Cursor(reader.access, reader.tables.views)
    try settle(cursor.seek(prefix: start))
  }

  func seek(_ wanted: [UInt8]) throws {
    guard let place, place.lexicographicallyPrecedes(wanted) else { return }
    try settle((start + wanted).lend { try cursor.seek($0) })
  }

  private func settle(_ isThere: Bool) throws {
    var isThere = isThere
    place = nil
    while isThere, cursor.isAt(prefix: start) {
      let found = cursor.withEntry { key, _ in key.extracting(droppingFirst: start.count).array() }
      try excluded?.seek(found)
      if excluded?.place != found {
        place = found
        return
      }
      isThere = try cursor.next()
    }
  }
}

extension RawSpan {
  /// Where a term that begins at a place ends, with the byte 00 behind it.
  fileprivate func end(ofTermFrom start: Int) throws -> Int {
    var end = start
    while try load(UInt8.self, at: end) != 0 { end += 1 }
    return end + 1
  }
}
