// The numbers that planning asks of the state: how much there is.

import LMDB

extension QueryRecords {
  /// The number of children that a collection's node has at present.
  func presentCount(_ collection: NodePath) throws -> Int {
    guard let node = try node(collection) else { return 0 }
    return try snapshot.childCount(node)
  }

  /// The number of index entries in a range, up to a limit.
  func countEntries(_ range: ClosedOpenBytes, max: Int) throws -> Int {
    try count(reader.tables.index, range, max)
  }

  /// The number of a collection's present keys in a range, and true if that is a guess.
  func count(_ range: ClosedOpenBytes, in collection: NodePath) throws -> (Int, Bool) {
    guard let node = try node(collection) else { return (0, false) }
    let limit = 1000
    let count = try count(reader.tables.tree, range.below(node), limit)
    return count < limit
      ? (count, false) : (Swift.max(limit, try presentCount(collection) / 4), true)
  }

  private func count(_ table: Table, _ range: ClosedOpenBytes, _ max: Int) throws -> Int {
    var cursor = try Cursor(reader.access, table)
    var count = 0
    var isThere = try range.lower.lend { try cursor.seek($0) }
    while isThere, count < max, cursor.withEntry({ key, _ in range.contains(key) }) {
      count += 1
      isThere = try cursor.next()
    }
    return count
  }

  /// The keys of a collection's records that have changed since the snapshot's moment, ascending;
  /// nil where there are too many, or the collection has changed as a whole.
  func changedKeys(in collection: NodePath, max: Int) throws -> [[UInt8]]? {
    guard let moment = snapshot.moment else { return nil }
    let directory = snapshot.directory
    let head = try reader.head().applied
    var keys: Set<[UInt8]> = []
    var (sequence, operations) = (SequenceNumber(moment), 0)
    var isWhole = false
    while sequence < head, !isWhole, operations < max {
      sequence = sequence.next
      let record = try directory.log.read { try $0.record(sequence) }
      var reader = OperationReader(record.operations)
      while let operation = try reader.next() {
        operations += 1
        Touched.forEach(in: operation, under: .root) { touched in
          if touched.path.isWithin(collection), touched.path != collection {
            keys.insert(touched.path.keyBytes(below: collection))
          } else if touched.isSubtree, collection.isWithin(touched.path) {
            isWhole = true
          }
        }
      }
    }
    if isWhole || keys.count > max || sequence < head { return nil }
    return keys.sorted { $0.lexicographicallyPrecedes($1) }
  }
}

extension NodePath {
  /// The stored form of the key that follows an ancestor's.
  func keyBytes(below ancestor: NodePath) -> [UInt8] {
    let start = ancestor.bytes.count
    let end = Key.end(terminatedIn: bytes, at: start)
    return Array(bytes[start..<(bytes[start] == KeyTag.text ? end - 1 : end)])
  }
}

extension ClosedOpenBytes {
  /// The range of the tree's keys for a range of the keys of a node's children.
  func below(_ node: UInt64) -> ClosedOpenBytes {
    let prefix = [UInt8](bigEndian: node)
    return ClosedOpenBytes(
      from: prefix + lower, upTo: upper.map { prefix + $0 } ?? ClosedOpenBytes.successor(prefix))
  }
}
