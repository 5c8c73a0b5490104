import LMDB

/// The records with terms that begin alike.
///
/// The postings of all those terms are read at once, since their blocks are adjacent. Each list is
/// in the order of its records; merged, two at a time, they are in one order.
///
/// - Complexity: O(postings · log terms), and memory for all of them.
final class PrefixCursor: PlacesCursor {
  private struct Posting {
    let place: Range<Int>
    let payload: Range<Int>
  }

  private var bytes: [UInt8] = []
  private var postings: [Posting] = []
  /// The first posting of the record at the cursor.
  private var index = 0
  /// The place behind its last one.
  private var end = 0
  private var recordsCount = 0
  private(set) var place: [UInt8]?

  init(_ number: UInt32, _ prefix: [UInt8], _ reader: StateReader) throws {
    var starts: [Int] = []
    let termsStart = TextEntry.termsStart(number)
    var block = PostingReader()
    var list: [UInt8] = []
    let table = reader.tables.views
    try reader.access.forEach(table, startingWith: termsStart + prefix) { key, value in
      let start = try key.extracting(0..<key.end(ofTermFrom: termsStart.count))
      if !list.lend({ $0.equals(start) }) {
        list = start.array()
        starts.append(postings.count)
      }
      try block.open(value, beginningAt: key.extracting(droppingFirst: list.count))
      while try block.next() { add(block) }
    }
    merge(starts + [postings.count])
    recordsCount = countRecords()
    take()
  }

  private func add(_ block: borrowing PostingReader) {
    let start = bytes.count
    block.lendPlace { bytes.append($0) }
    let middle = bytes.count
    block.lendPayload { bytes.append($0) }
    postings.append(Posting(place: start..<middle, payload: middle..<bytes.count))
  }

  /// Merges neighboring runs until one is left.
  ///
  /// - Parameter starts: Where the runs begin, and where the last one ends.
  private func merge(_ starts: [Int]) {
    var starts = starts
    while starts.count > 2 {
      var (merged, ends) = ([Posting](), [0])
      merged.reserveCapacity(postings.count)
      for run in stride(from: 0, to: starts.count - 1, by: 2) {
        let (middle, end) = (starts[run + 1], starts[min(run + 2, starts.count - 1)])
        var (one, other) = (starts[run], middle)
        while one < middle || other < end {
          let isOther =
            one == middle || other < end && order(postings[other], postings[one]) < 0
          merged.append(postings[isOther ? other : one])
          if isOther { other += 1 } else { one += 1 }
        }
        ends.append(end)
      }
      (postings, starts) = (merged, ends)
    }
  }

  private func order(_ one: Posting, _ other: Posting) -> Int {
    bytes.lend { Int($0.extracting(one.place).compare($0.extracting(other.place))) }
  }

  private func countRecords() -> Int {
    var count = 0
    for index in postings.indices
    where index == 0 || order(postings[index - 1], postings[index]) < 0 { count += 1 }
    return count
  }

  func records() -> UInt64 { UInt64(recordsCount) }

  func appendPlaces(to places: inout [TermPlace]) throws {
    let first = places.count
    try bytes.lend { bytes in
      for posting in postings[index..<end] {
        try TermPlaces.forEach(in: bytes.extracting(posting.payload)) { places.append($0) }
      }
    }
    if end - index > 1 { places[first...].sort() }
  }

  func placesCount(of property: Int?) throws -> Int {
    try bytes.lend { bytes in
      try postings[index..<end].reduce(0) {
        $0 + (try TermPlaces.count(in: bytes.extracting($1.payload), of: property))
      }
    }
  }

  func next() {
    index = end
    take()
  }

  func seek(_ wanted: [UInt8]) {
    guard let place, place.precedes(wanted) else { return }
    var high = postings.count
    index = end
    while index < high {
      let middle = (index + high) / 2
      let isBefore = bytes.lend { bytes in
        wanted.lend { bytes.extracting(postings[middle].place).precedes($0) }
      }
      if isBefore { index = middle + 1 } else { high = middle }
    }
    take()
  }

  /// Takes the record whose postings begin at the index.
  private func take() {
    guard index < postings.count else {
      place = nil
      return
    }
    place = Array(bytes[postings[index].place])
    end = index + 1
    while end < postings.count, order(postings[index], postings[end]) == 0 { end += 1 }
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
