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
    guard try range.lower.lend({ try cursor.seek($0) }) else { return 0 }
    var count = 0
    try cursor.walk(isReversed: false) { key, _ in
      guard count < max, range.contains(key) else { return false }
      count += 1
      return true
    }
    return count
  }

  /// The keys of a collection's records that have changed since the snapshot's moment, ascending;
  /// nil where the log has more operations since, or the collection has changed as a whole.
  func changedKeys(in collection: NodePath, max: Int) throws -> [[UInt8]]? {
    guard max > 0, let moment = snapshot.moment else { return nil }
    let last = try reader.head().applied
    let first = SequenceNumber(moment).next
    return try snapshot.directory.log.read { log in
      guard try hasOperations(log, from: first, to: last, upTo: max) else { return nil }
      var keys: Set<[UInt8]> = []
      var (sequence, isWhole) = (first, false)
      while sequence <= last, !isWhole {
        var operations = OperationReader(try log.record(sequence).operations)
        while let operation = try operations.next() {
          Touched.forEach(in: operation, under: .root) { touched in
            if touched.path.isWithin(collection), touched.path != collection {
              keys.insert(touched.path.keyBytes(below: collection))
            } else if touched.isSubtree, collection.isWithin(touched.path) {
              isWhole = true
            }
          }
        }
        sequence = sequence.next
      }
      return isWhole ? nil : keys.sorted { $0.lexicographicallyPrecedes($1) }
    }
  }

  /// True if the records from one to another have no more operations than some number; each record
  /// counts as one more. The records themselves are not decoded.
  private func hasOperations(
    _ log: LogReader, from first: SequenceNumber, to last: SequenceNumber, upTo max: Int
  ) throws -> Bool {
    if last < first { return true }
    var count = last.rawValue - first.rawValue
    var sequence = first
    while sequence <= last, count <= UInt64(max) {
      count += UInt64(try log.operationCount(of: sequence))
      sequence = sequence.next
    }
    return count <= UInt64(max)
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
