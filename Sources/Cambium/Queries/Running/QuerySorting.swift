/// Sorts results: the first few in a heap, all of them with a file for what memory does not hold.
///
/// Each is kept with its record, so that it is returned without another lookup.
struct QuerySorting: ~Copyable {
  /// The largest number of results that are kept in a heap.
  static let heapMax = 20_000

  private var top: FirstFew<SortedResult>?
  private var sort = ExternalSort()

  /// - Parameter top: The number of first results that are needed; nil for all.
  init(top: Int?) { self.top = top.map { FirstFew($0) } }

  /// True if a result need not be added, since enough are before it.
  func isBehind(_ place: RawSpan) -> Bool {
    guard let top, top.isFull else { return false }
    return top.last.map { $0.place.lend { !place.precedes($0) } } ?? true
  }

  /// Adds a result.
  ///
  /// - Parameters:
  ///   - place: The bytes that it is sorted by, which end in its key.
  ///   - key: The record's key, in its stored form.
  ///   - record: The stored record.
  /// - Throws: ``StorageError`` where a temporary file cannot be written.
  mutating func add(_ place: RawSpan, _ key: RawSpan, _ record: RawSpan) throws {
    var payload: [UInt8] = []
    payload.reserveCapacity(2 + key.byteCount + record.byteCount)
    payload.append(littleEndian: UInt16(key.byteCount))
    payload.append(key)
    payload.append(record)
    if top == nil {
      try sort.add(place.array(), payload)
    } else {
      top?.add(SortedResult(place: place.array(), payload: payload))
    }
  }

  /// Adds a result that is made of several records.
  mutating func add(_ values: [Value], at place: [UInt8]) throws {
    let stored = try Value.array(values).stored()
    try place.lend { place in
      try stored.lend { try add(place, place.extracting(0..<0), $0) }
    }
  }

  /// The results in order.
  consuming func sorted() throws -> SortedResults {
    if let top { return SortedResults(top.sorted) }
    return SortedResults(try sort.sorted())
  }
}

/// Sorted results, which are handed out once.
final class SortedResults {
  private var first: ArraySlice<SortedResult> = []
  private var entries: SortedEntries?

  fileprivate init(_ first: [SortedResult]) { self.first = first[...] }

  fileprivate init(_ entries: consuming SortedEntries) { self.entries = consume entries }

  /// Hands the results out that are left, until `body` says that it is enough.
  func forEach(
    _ body: (_ place: RawSpan, _ key: RawSpan, _ record: RawSpan) throws -> Bool
  ) throws {
    func hand(_ place: [UInt8], _ payload: [UInt8]) throws -> Bool {
      try place.lend { place in
        try payload.lend { payload in
          let end = 2 + Int(try payload.load(UInt16.self, at: 0))
          return try body(
            place, payload.extracting(2..<end), payload.extracting(end..<payload.byteCount))
        }
      }
    }
    while let entry = first.popFirst() {
      if try !hand(entry.place, entry.payload) { return }
    }
    while let entry = try entries?.next() {
      if try !hand(entry.key, entry.value) { return }
    }
  }
}

extension SortedResults {
  /// Hands out results that are made of several records.
  func forEachValues(_ body: ([Value]) throws -> Bool) throws {
    try forEach { _, _, stored in
      guard case .array(let values) = try Value(stored) else { return true }
      return try body(values)
    }
  }
}

/// A result that is sorted in memory.
struct SortedResult: Ranked {
  let place: [UInt8]
  let payload: [UInt8]

  func precedes(_ other: SortedResult) -> Bool {
    place.lend { place in other.place.lend { place.precedes($0) } }
  }
}
