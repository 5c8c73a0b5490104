// The net changes between two moments, read from the log and from the history for no more than lies
// between them.
//
//     transaction records ──▶ records that they touched ──▶ each as of the one and the other moment
//
// Forward or backward makes no difference but to which of the two states is the old one.

import LMDB

/// Reads what became of some collections' records between two moments.
struct ChangesBetween {
  private let old: QueryRecords
  private let new: QueryRecords
  private let collections: [NodePath]
  private let work: QueryWork?
  /// The number of operations and transactions that may still be read.
  private var left: Int
  /// The records that were touched, by their collections.
  private var touched: [NodePath: Set<[UInt8]>] = [:]
  /// The collections that came, went or moved as a whole.
  private var whole: Set<NodePath> = []

  /// The number of transactions that are read through one view of the log.
  private static let renewal: UInt64 = 256

  /// - Parameters:
  ///   - old: The records at the moment that the changes lead from.
  ///   - new: The records at the moment that they lead to, which may be the earlier one.
  ///   - collections: The collections whose records are looked at.
  ///   - most: The largest number of operations and transactions to be read.
  ///   - work: Counts what is read, and may interrupt it.
  init(
    from old: QueryRecords, to new: QueryRecords, in collections: [NodePath], most: Int,
    _ work: QueryWork? = nil
  ) {
    (self.old, self.new, self.collections, self.work) = (old, new, collections, work)
    left = most
  }

  /// Reads the changes.
  ///
  /// - Parameter readsWhole: True if collections that came, went or moved as a whole are read.
  /// - Returns: One for each record that differs; nil where there is more to read than is wanted,
  ///   or a declaration lies between the moments.
  /// - Throws: ``DatabaseError/compacted(oldest:)``, ``DatabaseError/corrupt(reason:)``.
  /// - Complexity: O(*k*) for *k* operations between the moments, and two lookups for each record
  ///   that they touched; where a collection came or went as a whole, O(*n*) for its *n* records.
  mutating func read(readsWhole: Bool = true) throws -> [NetChange]? {
    let (one, other) = (old.snapshot.sequence, new.snapshot.sequence)
    guard try readLog(after: min(one, other), through: max(one, other)) else { return nil }
    if !readsWhole && !whole.isEmpty { return nil }
    var changes: [NetChange] = []
    for collection in whole { try addAll(of: collection, to: &changes) }
    for (collection, keys) in touched where !whole.contains(collection) {
      for key in keys {
        try work?.count(records: 2)
        add(
          try old.record(collection, key), try new.record(collection, key), key, collection,
          to: &changes)
      }
    }
    return changes
  }

  // MARK: The log

  /// Notes the records that the transactions between the moments touched.
  ///
  /// - Returns: False where the changes cannot be told by them.
  private mutating func readLog(
    after start: SequenceNumber, through end: SequenceNumber
  ) throws -> Bool {
    guard end.rawValue - start.rawValue <= UInt64(left) else { return false }
    var next = start.next
    while next <= end {
      let last = SequenceNumber(min(end.rawValue, next.rawValue + ChangesBetween.renewal - 1))
      let isTold = try new.snapshot.directory.log.read { log in
        while next <= last {
          guard try note(try log.record(next).operations) else { return false }
          next = next.next
        }
        return true
      }
      if !isTold { return false }
    }
    return true
  }

  private mutating func note(_ stored: [UInt8]) throws -> Bool {
    try work?.count(entries: 1)
    left -= 1
    var operations = OperationReader(stored)
    while left >= 0, let operation = try operations.next() {
      if case .declare = operation { return false }
      left -= 1
      Touched.forEach(in: operation, under: .root) { note($0) }
    }
    return left >= 0
  }

  private mutating func note(_ place: Touched) {
    for collection in collections {
      let path = place.path
      if path.parentCount == collection.bytes.count, path.isWithin(collection) {
        touched[collection, default: []].insert(path.keyBytes(below: collection))
      } else if place.isSubtree, collection.isWithin(path) {
        whole.insert(collection)
      }
    }
  }

  // MARK: Records

  private func addAll(of collection: NodePath, to changes: inout [NetChange]) throws {
    var olds = try all(of: collection, old)
    for (key, record) in try all(of: collection, new) {
      add(olds.removeValue(forKey: key), record, key, collection, to: &changes)
    }
    for (key, record) in olds { add(record, nil, key, collection, to: &changes) }
  }

  private func all(
    of collection: NodePath, _ records: QueryRecords
  ) throws -> [[UInt8]: StoredRecord] {
    var all: [[UInt8]: StoredRecord] = [:]
    try records.forEach(in: collection) { key, record in
      all[key.array()] = StoredRecord(bytes: record.array())
      return true
    }
    return all
  }

  private func add(
    _ old: StoredRecord?, _ new: StoredRecord?, _ key: [UInt8], _ collection: NodePath,
    to changes: inout [NetChange]
  ) {
    if old == new { return }
    changes.append(NetChange(collection: collection, key: key, old: old, new: new))
  }
}
