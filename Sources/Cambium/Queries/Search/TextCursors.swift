// Running a text query on a view's entries, one record after the other, in the order of their keys.
// Each part of a query is a cursor over the records that it finds; a part with several cursors
// moves the others to the record of one.

import LMDB

/// A walk over the records that a part of a query finds.
protocol TextCursor: AnyObject {
  /// The record at the cursor: its key as it is in entries' keys; nil after the last.
  var place: [UInt8]? { get }
  /// Goes to the next record.
  func next() throws
  /// Goes to the first record at or after a place.
  func seek(_ wanted: [UInt8]) throws
}

/// A cursor over the records with a term, with the term's places in each.
protocol PlacesCursor: TextCursor {
  /// Adds the places of the term in the record at the cursor, in order.
  func appendPlaces(to places: inout [TermPlace]) throws
  /// The number of those places, of one property or of all.
  func placesCount(of property: Int?) throws -> Int
  /// The number of records that have the term.
  func records() throws -> UInt64
}

/// The records in which terms occur in a row.
final class LeafCursor: TextCursor {
  private let leaf: TextLeaf
  private let parts: [any PlacesCursor]
  /// The same, since an array that is converted for each record would be made anew.
  private let cursors: [any TextCursor]
  private(set) var place: [UInt8]?
  /// The places of each term in the record.
  private var places: [[TermPlace]]

  init(_ leaf: TextLeaf, _ number: UInt32, _ reader: StateReader) throws {
    self.leaf = leaf
    let last = leaf.terms.count - 1
    parts = try leaf.terms.enumerated().map { index, term -> any PlacesCursor in
      if leaf.isPrefix && index == last { return try PrefixCursor(number, term, reader) }
      return try PostingCursor(TextEntry.termStart(number, term), reader)
    }
    cursors = parts
    places = Array(repeating: [], count: parts.count)
    try settle()
  }

  /// The number of records that have the rarest of the terms.
  func records() throws -> UInt64 { try parts.map { try $0.records() }.min() ?? 0 }

  /// The number of times that the terms occur in a row in the record.
  func count() throws -> Int {
    if parts.count == 1 { return try parts[0].placesCount(of: leaf.property) }
    for (index, part) in parts.enumerated() {
      places[index].removeAll(keepingCapacity: true)
      try part.appendPlaces(to: &places[index])
    }
    return leaf.count(places)
  }

  func next() throws {
    if place == nil { return }
    try parts[0].next()
    try settle()
  }

  func seek(_ wanted: [UInt8]) throws {
    guard let place, place.precedes(wanted) else { return }
    try parts[0].seek(wanted)
    try settle()
  }

  private func settle() throws {
    while let common = try align(cursors) {
      // A record with the only term fits.
      if try parts.count == 1 && leaf.property == nil || count() > 0 {
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
  var agreed = 1
  var index = 1
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

  func next() throws {
    if place == nil { return }
    try parts[0].next()
    place = try align(parts)
  }

  func seek(_ wanted: [UInt8]) throws {
    guard let place, place.precedes(wanted) else { return }
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

  private var first: [UInt8]? { parts.compactMap(\.place).min { $0.precedes($1) } }

  func next() throws {
    guard let place else { return }
    for part in parts where part.place == place { try part.next() }
    self.place = first
  }

  func seek(_ wanted: [UInt8]) throws {
    guard let place, place.precedes(wanted) else { return }
    for part in parts { try part.seek(wanted) }
    self.place = first
  }
}

/// All records but those that a part finds; or all.
final class RestCursor: TextCursor {
  private let all: PostingCursor
  private let excluded: (any TextCursor)?

  init(_ number: UInt32, _ reader: StateReader, except excluded: (any TextCursor)?) throws {
    self.excluded = excluded
    all = try PostingCursor(TextEntry.recordsStart(number), reader)
    try settle()
  }

  var place: [UInt8]? { all.place }

  func next() throws {
    try all.next()
    try settle()
  }

  func seek(_ wanted: [UInt8]) throws {
    try all.seek(wanted)
    try settle()
  }

  private func settle() throws {
    guard let excluded else { return }
    while let place = all.place {
      try excluded.seek(place)
      if excluded.place != place { return }
      try all.next()
    }
  }
}
