import LMDB

/// The numbers of records and words of a text view.
struct TextTotals: Equatable {
  private(set) var records: UInt64 = 0
  private(set) var lengths: [UInt64]

  /// The totals of no records, of a view of some properties.
  init(_ count: Int) { lengths = Array(repeating: 0, count: count) }

  /// Reads the stored form.
  init(_ count: Int, _ bytes: RawSpan) throws {
    var offset = 0
    records = try bytes.varint(at: &offset)
    lengths = []
    for _ in 0..<count { lengths.append(try bytes.varint(at: &offset)) }
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
    for index in lengths.indices { lengths[index] &+= record.lengths[index] }
  }

  /// Reads the totals of a view; nil if no record has words.
  static func read(_ number: UInt32, _ count: Int, _ reader: StateReader) throws -> TextTotals? {
    try TextEntry.totalsKey(number).lend { key in
      try reader.access.get(reader.tables.views, key) { try TextTotals(count, $0) }
    }
  }

  /// A change of the totals.
  struct Change {
    private var records: Int64 = 0
    private var lengths: [Int64]

    /// No change, of a view of some properties.
    init(_ count: Int) { lengths = Array(repeating: 0, count: count) }

    /// Adds the change of a record.
    mutating func add(from before: RecordTerms, to after: RecordTerms) {
      records += (after.isEmpty ? 0 : 1) - (before.isEmpty ? 0 : 1)
      for index in lengths.indices {
        lengths[index] += Int64(after.lengths[index]) - Int64(before.lengths[index])
      }
    }

    /// Writes the totals that result.
    func make(_ number: UInt32, in storage: borrowing StateTransaction) throws {
      let old = try TextTotals.read(number, lengths.count, storage.reader)
      var totals = old ?? TextTotals(lengths.count)
      totals.records &+= UInt64(bitPattern: records)
      for index in lengths.indices {
        totals.lengths[index] &+= UInt64(bitPattern: lengths[index])
      }
      if totals == old || (old == nil && totals.records == 0) { return }
      let stored = totals.records == 0 ? nil : totals.stored
      try storage.put(storage.tables.views, TextEntry.totalsKey(number), stored)
    }
  }
}
