/// The groups in memory by their values: a hash table with open addressing, which numbers them as
/// they come.
struct GroupTable {
  /// The groups' values, ordered, one after the other, and where each ends.
  private var keys: [UInt8] = []
  private var ends: [Int] = []
  private var hashes: [UInt64] = []
  /// The values of each group as a record has them.
  private(set) var firsts: [[Value]] = []
  /// A group's number plus one, or 0 for a free slot. At most half full.
  private var slots = [UInt32](repeating: 0, count: 64)

  var count: Int { ends.count }

  /// The bytes of all groups' values.
  var bytesCount: Int { keys.count }

  /// The number of the group with some values; nil where there is none.
  func find(_ key: RawSpan, _ hash: UInt64) -> Int? {
    var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while slots[slot] != 0 {
      let group = Int(slots[slot]) - 1
      if hashes[group] == hash, isKey(key, group) { return group }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  private func isKey(_ key: RawSpan, _ group: Int) -> Bool {
    let range = range(group)
    return keys.lend { $0.extracting(range).equals(key) }
  }

  private func range(_ group: Int) -> Range<Int> {
    (group == 0 ? 0 : ends[group - 1])..<ends[group]
  }

  /// Adds a group, which is not there yet.
  ///
  /// - Returns: Its number.
  mutating func insert(_ key: [UInt8], _ hash: UInt64, _ first: [Value]) -> Int {
    keys += key
    ends.append(keys.count)
    hashes.append(hash)
    firsts.append(first)
    if ends.count * 2 > slots.count {
      slots = [UInt32](repeating: 0, count: slots.count * 2)
      for group in ends.indices { place(group) }
    } else {
      place(ends.count - 1)
    }
    return ends.count - 1
  }

  private mutating func place(_ group: Int) {
    var slot = Int(truncatingIfNeeded: hashes[group]) & (slots.count - 1)
    while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = UInt32(group + 1)
  }

  /// The groups in the order of their values.
  var sorted: [(group: Int, key: [UInt8])] {
    ends.indices.map { (group: $0, key: Array(keys[range($0)])) }
      .sorted { a, b in a.key.lend { a in b.key.lend { a.precedes($0) } } }
  }

  /// Forgets the groups, and keeps the memory.
  mutating func removeAll() {
    keys.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    hashes.removeAll(keepingCapacity: true)
    firsts.removeAll(keepingCapacity: true)
    slots = [UInt32](repeating: 0, count: 64)
  }
}
