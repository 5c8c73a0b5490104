/// Sorts results: the first few in a heap, all of them with a file for what memory does not hold.
///
/// Each is kept with its record, so that it is returned without another lookup.
struct QuerySorting: ~Copyable {
  /// The largest number of results that are kept in a heap.
  static let heapMax = 20_000

  private var heap: TopHeap?
  private var sort = ExternalSort()

  /// - Parameter top: The number of first results that are needed; nil for all.
  init(top: Int?) { heap = top.map { TopHeap(most: $0) } }

  /// True if a result need not be added, since enough are before it.
  func isBehind(_ place: RawSpan) -> Bool { heap?.isBehind(place) ?? false }

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
    if heap == nil {
      try sort.add(place.array(), payload)
    } else {
      heap?.add(place.array(), payload)
    }
  }

  /// The results in order.
  consuming func sorted() throws -> SortedResults {
    if let heap { return SortedResults(heap.sorted()) }
    return SortedResults(try sort.sorted())
  }
}

/// Sorted results, which are handed out once.
final class SortedResults {
  private var first: ArraySlice<TopHeap.Entry> = []
  private var entries: SortedEntries?

  fileprivate init(_ first: [TopHeap.Entry]) { self.first = first[...] }

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

/// The first few of what is added: a heap with the last of them on top.
fileprivate struct TopHeap {
  typealias Entry = (place: [UInt8], payload: [UInt8])

  private let most: Int
  private var entries: [Entry] = []

  init(most: Int) { self.most = most }

  func isBehind(_ place: RawSpan) -> Bool {
    guard entries.count >= most else { return false }
    guard let last = entries.first else { return true }
    return last.place.lend { !place.precedes($0) }
  }

  mutating func add(_ place: [UInt8], _ payload: [UInt8]) {
    if place.lend(isBehind) { return }
    if entries.count < most {
      entries.append((place, payload))
      rise(entries.count - 1)
    } else {
      entries[0] = (place, payload)
      sink()
    }
  }

  func sorted() -> [Entry] {
    entries.sorted { a, b in a.place.lend { a in b.place.lend { a.precedes($0) } } }
  }

  private func precedes(_ a: Int, _ b: Int) -> Bool {
    entries[a].place.lend { a in entries[b].place.lend { a.precedes($0) } }
  }

  private mutating func rise(_ start: Int) {
    var index = start
    while index > 0, precedes((index - 1) / 2, index) {
      entries.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func sink() {
    var index = 0
    while true {
      var largest = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < entries.count && precedes(largest, child) {
        largest = child
      }
      if largest == index { return }
      entries.swapAt(index, largest)
      index = largest
    }
  }
}
