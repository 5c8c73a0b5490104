/// Different byte strings, each with a number: 0, 1, 2 and so on, as they come.
///
/// Invariant: `slots` has the number of each string, plus one, at the first place from the one of
/// its hash on that was free (open addressing); 0 where there is none.
struct TermTable: Sendable {
  private struct Entry {
    let start: UInt32
    let count: UInt32
    let hash: UInt32
  }

  private var bytes: [UInt8] = []
  private var entries: [Entry] = []
  private var slots: [UInt32] = []

  /// The number of strings.
  var count: Int { entries.count }

  /// The memory that the strings take.
  var bytesCount: Int { bytes.count + entries.count * 20 }

  /// The number of a string, which is added if it is new.
  mutating func number(of string: RawSpan) -> Int {
    if 2 * entries.count >= slots.count { enlarge() }
    let hash = TermTable.hash(string)
    let slot = slot(of: string, hash)
    if slots[slot] > 0 { return Int(slots[slot]) - 1 }
    entries.append(
      Entry(start: UInt32(bytes.count), count: UInt32(string.byteCount), hash: hash))
    bytes.append(string)
    slots[slot] = UInt32(entries.count)
    return entries.count - 1
  }

  /// The number of a string; nil if it is not in the table.
  func find(_ string: RawSpan) -> Int? {
    if entries.isEmpty { return nil }
    let found = slots[slot(of: string, TermTable.hash(string))]
    return found > 0 ? Int(found) - 1 : nil
  }

  /// Lends a string.
  @inline(__always)
  func lend<R>(_ number: Int, _ body: (RawSpan) throws -> R) rethrows -> R {
    let entry = entries[number]
    let start = Int(entry.start)
    return try bytes.lend { try body($0.extracting(start..<(start + Int(entry.count)))) }
  }

  /// All numbers, in the order of the strings' bytes.
  var sorted: [Int] {
    entries.indices.sorted { one, other in
      lend(one) { one in lend(other) { one.precedes($0) } }
    }
  }

  /// Forgets all strings, and keeps the memory.
  mutating func removeAll() {
    if entries.isEmpty { return }
    bytes.removeAll(keepingCapacity: true)
    entries.removeAll(keepingCapacity: true)
    for index in slots.indices { slots[index] = 0 }
  }

  /// The slot of a string, or the one that it would take.
  private func slot(of string: RawSpan, _ hash: UInt32) -> Int {
    let mask = slots.count - 1
    var slot = Int(hash) & mask
    while slots[slot] > 0 {
      let number = Int(slots[slot]) - 1
      if entries[number].hash == hash, lend(number, { $0.equals(string) }) { return slot }
      slot = (slot + 1) & mask
    }
    return slot
  }

  private mutating func enlarge() {
    slots = [UInt32](repeating: 0, count: max(2 * slots.count, 16))
    let mask = slots.count - 1
    for (number, entry) in entries.enumerated() {
      var slot = Int(entry.hash) & mask
      while slots[slot] > 0 { slot = (slot + 1) & mask }
      slots[slot] = UInt32(number + 1)
    }
  }

  private static func hash(_ string: RawSpan) -> UInt32 {
    UInt32(truncatingIfNeeded: Checksum.of(string))
  }
}
