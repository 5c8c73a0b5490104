// The greatest integer key that a collection ever had, so that no key is assigned twice: otherwise
// references, ids that an app keeps, history and undo would refer to another record.
//
// A declared collection has a counter in the state's table `meta`, under `greatest/` and the bytes
// of its path: an i64, little-endian; there is none while it is 0. It is folded like everything
// else: every record that arrives counts, whether inserted, put by its path, moved or restored, and
// removals do not. It belongs to the path, so that it outlives the collection's node and its
// declaration; a collection that is declared later counts from its existing records.

import LMDB

/// Counters that are not in the table yet, with the last used one cached: most consecutive records
/// are of one collection.
struct KeyCounters {
  private var greatest: [[UInt8]: Int64] = [:]
  private var last: (path: [UInt8], greatest: Int64)?

  /// The counter of a collection, if it is known.
  subscript(path: [UInt8]) -> Int64? {
    if let last, last.path == path { return last.greatest }
    return greatest[path]
  }

  mutating func set(_ path: [UInt8], to value: Int64) {
    if let last { greatest[last.path] = last.greatest }
    last = (path, value)
  }

  /// Counts a key of the collection that was used last.
  ///
  /// - Returns: False if it is another collection, and nothing is changed.
  mutating func raise(_ path: [UInt8], to key: Int64) -> Bool {
    guard last?.path == path else { return false }
    if let greatest = last?.greatest, greatest < key { last?.greatest = key }
    return true
  }

  static let prefix = Array("greatest/".utf8)
}

extension StateReader {
  /// The greatest integer key that a collection ever had; 0 where none was greater.
  func greatestKey(_ path: [UInt8]) throws -> Int64 {
    try entry(KeyCounters.prefix + path) { try $0.load(Int64.self, at: 0) } ?? 0
  }

  /// The greatest integer key among a node's children; nil if there is none.
  func greatestKey(below path: NodePath) throws -> Int64? {
    guard let node = try node(at: path) else { return nil }
    var bound = [UInt8](bigEndian: node)
    bound.append(KeyTag.integer + 1)
    var cursor = try Cursor(access, tables.tree)
    guard try bound.lend({ try cursor.seekBefore($0) }) else { return nil }
    return try cursor.withEntry { key, _ in
      guard key.byteCount == 17, try key.load(UInt64.self, at: 0).byteSwapped == node,
        case .integer(let value) = try Key(key.extracting(droppingFirst: 8))
      else { return nil }
      return value
    }
  }
}

extension CollectionPlan {
  /// True if records may get integers as keys.
  var countsKeys: Bool { definition.keys == nil || definition.keys == .integer }

  /// The integer that a tree key of the collection ends with; nil if its key is none.
  @inline(__always)
  fileprivate func countedKey(_ treeKey: [UInt8]) -> Int64? {
    guard countsKeys, treeKey.count == 17, treeKey[8] == KeyTag.integer else { return nil }
    return treeKey.lend { try? Key.integer($0.extracting(droppingFirst: 8)) }
  }
}

extension KeyCounters {
  /// The greatest integer key that a collection ever had, including this transaction's changes.
  func greatest(_ plan: CollectionPlan, _ reader: StateReader) throws -> Int64 {
    try self[plan.path.bytes] ?? reader.greatestKey(plan.path.bytes)
  }

  /// Counts the node that arrives at a tree key.
  @inline(__always)
  mutating func count(
    _ treeKey: [UInt8], _ plan: CollectionPlan, _ reader: StateReader
  ) throws {
    guard let key = plan.countedKey(treeKey) else { return }
    if !raise(plan.path.bytes, to: key) { try set(key, plan, reader) }
  }

  /// True if a tree key is known to be greater than every integer key that its collection ever had.
  /// Only the counter of the collection that was used last is asked.
  @inline(__always)
  func isGreatest(_ treeKey: [UInt8], _ plan: CollectionPlan) -> Bool {
    guard let key = plan.countedKey(treeKey), let greatest = last?.greatest else { return false }
    if key <= greatest { return false }
    return last?.path == plan.path.bytes
  }

  /// Counts the records of a collection that is declared or that arrives as a whole.
  mutating func countAll(_ plan: CollectionPlan, _ reader: StateReader) throws {
    guard plan.countsKeys, let key = try reader.greatestKey(below: plan.path) else { return }
    if !raise(plan.path.bytes, to: key) { try set(key, plan, reader) }
  }

  private mutating func set(_ key: Int64, _ plan: CollectionPlan, _ reader: StateReader) throws {
    set(plan.path.bytes, to: max(key, try greatest(plan, reader)))
  }

  /// Writes the counters that have changed, and forgets them all.
  mutating func flush(in storage: borrowing StateTransaction) throws {
    if let (path, value) = last {
      // Most transactions use one collection, and leave the others' counters empty.
      if !greatest.isEmpty { greatest[path] = nil }
      last = nil
      try KeyCounters.write(value, of: path, in: storage)
    }
    for (path, value) in greatest { try KeyCounters.write(value, of: path, in: storage) }
    greatest.removeAll(keepingCapacity: true)
  }

  private static func write(
    _ greatest: Int64, of path: [UInt8], in storage: borrowing StateTransaction
  ) throws {
    if greatest <= 0 { return }
    if try storage.reader.greatestKey(path) == greatest { return }
    let name = prefix + path
    let bytes = [UInt8](littleEndian: UInt64(bitPattern: greatest))
    try storage.put(storage.tables.meta, name, MetaEntry.seal(bytes, name: name))
  }
}
