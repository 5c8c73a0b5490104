// The entries of a text view:
//
//     number | 0                        -> the number of records with words, then the number of
//                                          words of each property (varints)
//     number | 1                        -> the first block of the list of records with words
//     number | 1 | record               -> the block that begins with a record
//     number | 2 | term | 00            -> the first block of the list of records with a term
//     number | 2 | term | 00 | record   -> the block that begins with a record
//
// The lists' blocks are described in PostingBlock.swift. The payload of a record with words is the
// number of words in each property (varints) and, if the record's key is cut, the key; that of a
// record with a term is the places of the term, see TermPlaces.swift.
//
// A term has no byte 00, and a record's key is never empty. All entries of a list are adjacent, the
// terms in order, so that those with a common prefix are adjacent as well.

/// Keys and values of a text view's entries.
enum TextEntry {
  static func totalsKey(_ number: UInt32) -> [UInt8] { ViewKey.start(number, .main) }

  /// The bytes that the keys of the list of records begin with.
  static func recordsStart(_ number: UInt32) -> [UInt8] { ViewKey.start(number, .second) }

  /// The bytes that the keys of all terms begin with.
  static func termsStart(_ number: UInt32) -> [UInt8] { ViewKey.start(number, .third) }

  /// The bytes that the keys of a term's list begin with.
  static func termStart(_ number: UInt32, _ term: [UInt8]) -> [UInt8] {
    var key: [UInt8] = []
    term.lend { appendTermKey(number, $0, to: &key) }
    return key
  }

  static func appendTermKey(_ number: UInt32, _ term: RawSpan, to key: inout [UInt8]) {
    key.append(bigEndian: number)
    key.append(ViewKey.Part.third.rawValue)
    key.append(term)
    key.append(0)
  }

  /// The payload of a record in the list of records; with its key, if that is cut.
  static func stored(_ lengths: [UInt64], _ key: RawSpan?) -> [UInt8] {
    var bytes: [UInt8] = []
    for length in lengths { bytes.append(varint: length) }
    if let key { bytes.append(key) }
    return bytes
  }
}
