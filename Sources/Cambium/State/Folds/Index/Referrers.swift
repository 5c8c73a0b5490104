import LMDB

/// Finds the records that refer to one, a batch at a time, so that they may be changed in between.
///
/// They are found through the index on the reference, the inverse of the relation; while that is
/// being built, by reading all records.
struct Referrers {
  private static let batchMax = 1024

  private let edge: IndexPlan
  private let collection: CollectionPlan
  /// The bytes that the referring records' entries begin with.
  private let prefix: [UInt8]
  /// The part of it that every entry has, even one that is cut.
  private let bound: [UInt8]
  /// The place of the next entries; nil after the last.
  private var place: [UInt8]?

  /// - Parameters:
  ///   - key: The key of the record that is referred to.
  ///   - edge: The index on the reference.
  ///   - collection: The collection of the referring records.
  init(of key: Key, _ edge: IndexPlan, _ collection: CollectionPlan) {
    self.edge = edge
    self.collection = collection
    var bytes = ByteBuffer(capacity: 64)
    OrderedBytes.append(key, to: &bytes)
    if edge.terms[0].isDescending { bytes.invert(from: 0) }
    prefix = IndexEntry.prefix(edge.number) + bytes.array()
    bound = Array(prefix.prefix(IndexEntry.boundBytesMax))
    place = bound
  }

  /// The stored keys of the next batch; nil after the last.
  mutating func next(_ reader: StateReader, _ collections: Collections) throws -> [[UInt8]]? {
    guard let from = place else { return nil }
    if collections.isFilling(edge.number) {
      place = nil
      return try allKeys(reader)
    }
    var (keys, last): ([[UInt8]], [UInt8]?) = ([], nil)
    var cursor = try Cursor(reader.access, reader.tables.index)
    var isThere = try from.lend { try cursor.seek($0) }
    while isThere, keys.count < Referrers.batchMax {
      let isInside = try cursor.withEntry { entry, value -> Bool in
        guard bound.lend({ entry.starts(with: $0) }) else { return false }
        last = entry.array()
        let (own, isCut) = try IndexEntry.split(entry, value)
        let key = entry.extracting(own).array()
        // A cut entry may not have all of the prefix, so its record decides.
        let refers =
          try isCut
          ? reader.withRecord(key, of: collection) { try isReferring($0) } ?? false
          : prefix.lend { entry.starts(with: $0) }
        if refers { keys.append(key) }
        return true
      }
      if !isInside { break }
      isThere = try cursor.next()
    }
    place = last.map { $0 + [0] }
    return last == nil ? nil : keys
  }

  private func isReferring(_ record: RawSpan) throws -> Bool {
    try edge.termKeys(record).contains { $0.starts(with: prefix) }
  }

  private func allKeys(_ reader: StateReader) throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    try reader.forEachRecord(of: collection.path) { key, record in
      if try isReferring(record) { keys.append(key.array()) }
    }
    return keys
  }
}
