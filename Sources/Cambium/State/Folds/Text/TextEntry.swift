// The entries of a text view:
//
//     number | 0                       -> the number of records with words, then the number of
//     words
//                                         of each property (varints)
//     number | 1 | record              -> the number of words of the record in each property
//                                         (varints); if the record's key is cut, the key
//     number | 2 | term | 00           -> the number of records with the term (varint)
//     number | 2 | term | 00 | record  -> the places of the term; see RecordTerms.swift
//
// A term has no byte 00, and a record's key is never empty. All entries of a term are adjacent, the
// terms in order, so that those with a common prefix are adjacent as well.

/// Keys and values of a text view's entries.
enum TextEntry {
  static func totalsKey(_ number: UInt32) -> [UInt8] { ViewKey.start(number, .main) }

  /// The bytes that the keys of all records begin with.
  static func recordsStart(_ number: UInt32) -> [UInt8] { ViewKey.start(number, .second) }

  /// The bytes that the keys of all terms begin with.
  static func termsStart(_ number: UInt32) -> [UInt8] { ViewKey.start(number, .third) }

  /// The key of the number of records with a term, with which the keys of those records begin.
  static func termKey(_ number: UInt32, _ term: [UInt8]) -> [UInt8] {
    var key = termsStart(number)
    key += term
    key.append(0)
    return key
  }

  /// A record's key as part of an entry's key.
  static func place(of record: RawSpan) -> [UInt8] {
    var place: [UInt8] = []
    ViewKey.append(record, room: ViewKey.termRecordRoom, to: &place)
    return place
  }

  /// The value of a record's entry: its lengths, then its key if that is cut.
  static func stored(_ lengths: [UInt64], _ record: RawSpan, _ place: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    for length in lengths { bytes.append(varint: length) }
    if place.count == ViewKey.termRecordRoom { bytes.append(record) }
    return bytes
  }
}

/// The numbers of records and words of a text view.
struct TextTotals: Equatable {
  var records: UInt64 = 0
  var lengths: [UInt64]

  /// The totals of no records.
  init(_ plan: TextPlan) { lengths = Array(repeating: 0, count: plan.properties.count) }

  /// Reads the stored form.
  init(_ plan: TextPlan, _ bytes: RawSpan) throws {
    var offset = 0
    records = try bytes.varint(at: &offset)
    lengths = []
    for _ in plan.properties { lengths.append(try bytes.varint(at: &offset)) }
  }

  /// The stored form.
  var stored: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(varint: records)
    for length in lengths { bytes.append(varint: length) }
    return bytes
  }

  /// Adds a record.
  mutating func add(_ record: RecordTerms) {
    if record.isEmpty { return }
    records += 1
    for index in lengths.indices { lengths[index] += record.lengths[index] }
  }

  /// Removes a record.
  mutating func remove(_ record: RecordTerms) {
    if record.isEmpty { return }
    records &-= 1
    for index in lengths.indices { lengths[index] &-= record.lengths[index] }
  }
}
