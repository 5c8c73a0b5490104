// Entries of tables that are written to a file later: the memtable of a log-structured merge tree
// (O'Neil et al., 1996), over LMDB's B+ trees.
//
//     memory   record | record | …          in the order of the calls, never moved
//     record   older place u32 | value size u32 | hash u32 | key size u16 | table u8
//              | kind and seal u8 | key | value     padded to a multiple of 8 bytes
//     slots    hash u32 | place u32         open addressing: the newest record of a key
//     fingerprints    u8 for each slot      some bits of its hash; 0 in a slot that is not in use
//
// A record is never changed once it is there, and refers to the older one of its key. So undoing to
// a place only drops the records after it, and another thread may read those before it meanwhile.
//
// A lookup goes to a random place in memory, which is seldom in a cache. Therefore fingerprints,
// which take an eighth of the slots' memory, answer for most absent keys (as the control bytes of
// Abseil's Swiss tables do); and a record of a blind table, which is written without a lookup, has
// no slot: it is found only when the records are sorted.

import CXXHash

/// Puts and deletions in the order in which they were made, with a lookup of the newest of a key.
///
/// Invariants:
/// 1. The slot of a key holds the place of its newest record, and each record that of the one
///    before it. Records of blind tables have no slots. Checked by `EntryBufferTests`, which
///    compares with dictionaries.
/// 2. Records never move, and keep their bytes until ``clear()`` or ``rewind(to:)`` drops them.
///
/// One thread at a time changes it. Others may read records before a place that they were told of.
@safe struct EntryBuffer: ~Copyable {
  /// The effect of a record on its key.
  enum Kind: UInt8 {
    case put
    case append
    case delete
  }

  /// The newest record of a key.
  @unsafe enum Found {
    /// There is none: the file decides.
    case none
    case deleted
    /// The bytes stay valid until the buffer is cleared or rewound.
    case value(UnsafeRawBufferPointer)
  }

  private struct Slot {
    var hash: UInt32
    /// The place of the newest record.
    var place: UInt32

    /// In a slot that has no record: all were dropped, or the first one is being added.
    static let dropped = UInt32.max
  }

  private static let headerBytes = 16

  private let capacity: Int
  let records: Records
  private var slots: Slots
  private var usedSlots = 0
  /// The place after the last record; the first record is not at 0, which means none.
  private(set) var end = EntryBuffer.start

  /// The place of the first record.
  static let start = 8

  /// Makes an empty one, which holds up to `capacity` bytes of records.
  init(capacity: Int) {
    self.capacity = capacity
    // The system gives the memory when it is first used.
    unsafe records = Records(
      memory: .allocate(byteCount: max(capacity, EntryBuffer.start), alignment: 8))
    slots = Slots(count: 1 << 8)
  }

  deinit { unsafe records.memory.deallocate() }

  // MARK: Changes

  /// Adds a record; one of a blind table cannot be looked up.
  ///
  /// - Returns: False if there is no room for it; nothing is changed then.
  @inline(__always)
  mutating func add(
    _ kind: Kind, _ table: Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
    isBlind: Bool
  ) -> Bool {
    let bytes = (EntryBuffer.headerBytes + key.count + value.count + 7) & ~7
    if end + bytes > capacity { return false }
    var (hash, older) = (UInt32(0), Record.withoutSlot)
    if !isBlind {
      hash = unsafe EntryBuffer.hash(table, key)
      let slot = unsafe find(table.index, key, hash) ?? take(hash)
      let last = slots[slot].place
      older = last == Slot.dropped ? 0 : last
      slots[slot].place = UInt32(end)
    }
    let record = unsafe records.memory + end
    unsafe record.storeBytes(of: older, as: UInt32.self)
    unsafe record.storeBytes(of: UInt32(value.count), toByteOffset: 4, as: UInt32.self)
    unsafe record.storeBytes(of: hash, toByteOffset: 8, as: UInt32.self)
    unsafe record.storeBytes(of: UInt16(key.count), toByteOffset: 12, as: UInt16.self)
    unsafe record.storeBytes(of: UInt8(table.index), toByteOffset: 14, as: UInt8.self)
    let kindAndSeal = kind.rawValue | table.seal.rawValue << 4
    unsafe record.storeBytes(of: kindAndSeal, toByteOffset: 15, as: UInt8.self)
    if let start = key.baseAddress {
      unsafe (record + 16).copyMemory(from: start, byteCount: key.count)
    }
    if let start = value.baseAddress {
      unsafe (record + 16 + key.count).copyMemory(from: start, byteCount: value.count)
    }
    end += bytes
    return true
  }

  /// Drops the records from a place on.
  ///
  /// - Complexity: linear in their number.
  mutating func rewind(to place: Int) {
    var next = place
    while next < end {
      let record = self.record(at: next)
      // The first one of a key that is dropped knows the record that stays.
      if record.older != Record.withoutSlot, Int(record.older) < place {
        if let slot = unsafe find(record.tableIndex, record.key, record.hash) {
          slots[slot].place = record.older == 0 ? Slot.dropped : record.older
        }
      }
      next = record.end
    }
    end = place
  }

  /// Drops all records.
  mutating func clear() {
    if end == EntryBuffer.start { return }
    slots.clear()
    (usedSlots, end) = (0, EntryBuffer.start)
  }

  // MARK: Lookups

  /// True if no key that can be looked up was ever added since it was cleared.
  @inline(__always)
  var isEmpty: Bool { usedSlots == 0 }

  /// The newest record of a key, whose hash a caller with two buffers makes once.
  @inline(__always)
  func find(_ table: Table, _ key: UnsafeRawBufferPointer, _ hash: UInt32) -> Found {
    if usedSlots == 0 { return unsafe .none }
    guard let slot = unsafe find(table.index, key, hash) else { return unsafe .none }
    let record = self.record(at: Int(slots[slot].place))
    return unsafe record.kind == .delete ? .deleted : .value(record.value)
  }

  @inline(__always)
  static func hash(_ table: Table, _ key: UnsafeRawBufferPointer) -> UInt32 {
    unsafe UInt32(
      truncatingIfNeeded: XXH3_64bits_withSeed(key.baseAddress, key.count, UInt64(table.index)))
  }

  /// The slot whose newest record is of a key; nil if there is none.
  @inline(__always)
  private func find(_ table: UInt32, _ key: UnsafeRawBufferPointer, _ hash: UInt32) -> Int? {
    let (mask, fingerprint) = (slots.count - 1, Slots.fingerprint(hash))
    var slot = Int(hash) & mask
    while true {
      let found = slots.fingerprint(slot)
      if found == 0 { return nil }
      if found == fingerprint, slots[slot].hash == hash, slots[slot].place != Slot.dropped {
        let record = self.record(at: Int(slots[slot].place))
        if record.tableIndex == table, unsafe record.key.order(to: key) == 0 { return slot }
      }
      slot = (slot + 1) & mask
    }
  }

  /// Takes a slot for a key that has none.
  private mutating func take(_ hash: UInt32) -> Int {
    if 2 * (usedSlots + 1) > slots.count { enlarge() }
    let slot = slots.free(for: hash)
    if slots.fingerprint(slot) == 0 { usedSlots += 1 }
    slots.use(slot, Slot(hash: hash, place: Slot.dropped))
    return slot
  }

  private mutating func enlarge() {
    var larger = Slots(count: 2 * slots.count)
    usedSlots = 0
    for index in 0..<slots.count where !slots.isFree(index) {
      larger.use(larger.free(for: slots[index].hash), slots[index])
      usedSlots += 1
    }
    slots = larger
  }

  // MARK: Slots

  /// Slots with their fingerprints, without bounds.
  @safe private struct Slots: ~Copyable {
    /// A power of two.
    let count: Int
    private let slots: UnsafeMutablePointer<Slot>
    private let fingerprints: UnsafeMutablePointer<UInt8>

    init(count: Int) {
      self.count = count
      unsafe slots = .allocate(capacity: count)
      unsafe slots.initialize(repeating: Slot(hash: 0, place: Slot.dropped), count: count)
      unsafe fingerprints = .allocate(capacity: count)
      unsafe fingerprints.initialize(repeating: 0, count: count)
    }

    deinit {
      unsafe slots.deallocate()
      unsafe fingerprints.deallocate()
    }

    /// The fingerprint of a hash: the bits that are the last to choose the slot.
    @inline(__always)
    static func fingerprint(_ hash: UInt32) -> UInt8 { UInt8(hash >> 24) | 1 }

    /// The fingerprint of a slot; 0 if it is not in use.
    @inline(__always)
    func fingerprint(_ index: Int) -> UInt8 { unsafe fingerprints[index] }

    subscript(index: Int) -> Slot {
      @inline(__always) get { unsafe slots[index] }
      @inline(__always) set { unsafe slots[index] = newValue }
    }

    /// True if a slot can be given to a key.
    func isFree(_ index: Int) -> Bool {
      fingerprint(index) == 0 || self[index].place == Slot.dropped
    }

    /// The first slot for a hash that can be given to a key.
    func free(for hash: UInt32) -> Int {
      var index = Int(hash) & (count - 1)
      while !isFree(index) { index = (index + 1) & (count - 1) }
      return index
    }

    mutating func use(_ index: Int, _ slot: Slot) {
      self[index] = slot
      unsafe fingerprints[index] = Slots.fingerprint(slot.hash)
    }

    /// Takes all slots out of use.
    mutating func clear() { unsafe fingerprints.update(repeating: 0, count: count) }
  }

  // MARK: Records

  /// A record in memory.
  @safe struct Record {
    fileprivate let start: UnsafeRawPointer
    let place: Int

    /// The older place in a record of a blind table.
    fileprivate static let withoutSlot = UInt32.max

    @inline(__always)
    fileprivate var older: UInt32 { unsafe start.load(as: UInt32.self) }
    @inline(__always)
    fileprivate var hash: UInt32 { unsafe start.load(fromByteOffset: 8, as: UInt32.self) }
    @inline(__always)
    private var keyCount: Int { Int(unsafe start.load(fromByteOffset: 12, as: UInt16.self)) }
    @inline(__always)
    private var valueCount: Int { Int(unsafe start.load(fromByteOffset: 4, as: UInt32.self)) }
    @inline(__always)
    fileprivate var tableIndex: UInt32 {
      UInt32(unsafe start.load(fromByteOffset: 14, as: UInt8.self))
    }
    private var kindAndSeal: UInt8 { unsafe start.load(fromByteOffset: 15, as: UInt8.self) }
    var table: Table {
      Table(index: tableIndex, seal: Seal(rawValue: kindAndSeal >> 4) ?? .none)
    }
    @inline(__always)
    var kind: Kind { Kind(rawValue: kindAndSeal & 15) ?? .put }
    @inline(__always)
    var key: UnsafeRawBufferPointer {
      unsafe UnsafeRawBufferPointer(start: start + EntryBuffer.headerBytes, count: keyCount)
    }
    @inline(__always)
    var value: UnsafeRawBufferPointer {
      unsafe UnsafeRawBufferPointer(
        start: start + EntryBuffer.headerBytes + keyCount, count: valueCount)
    }
    /// The place after it.
    @inline(__always)
    var end: Int { place + (EntryBuffer.headerBytes + keyCount + valueCount + 7) & ~7 }
  }

  @inline(__always)
  private func record(at place: Int) -> Record { records.record(at: place) }
}

extension EntryBuffer {
  /// The records of a buffer, for other threads: those before a place that they were told of.
  @safe struct Records: @unchecked Sendable {
    // It is Sendable because these records do not change.
    fileprivate let memory: UnsafeMutableRawPointer

    @inline(__always)
    func record(at place: Int) -> Record { unsafe Record(start: memory + place, place: place) }

    /// The newest records of each key between two places, by table and key.
    ///
    /// - Complexity: a sort, or one pass where the keys came in order.
    func sorted(_ places: Range<Int>) -> [Record] {
      var tables: [[Record]] = Array(repeating: [], count: Environment.tablesMax + 2)
      var place = places.lowerBound
      while place < places.upperBound {
        let record = self.record(at: place)
        tables[Int(record.tableIndex)].append(record)
        place = record.end
      }
      return tables.flatMap { Records.newest($0) }
    }

    /// The newest record of each key, by key.
    private static func newest(_ records: [Record]) -> [Record] {
      if isSorted(records) { return records }
      let sorted = records.sorted { precedes($0, $1) }
      var newest: [Record] = []
      newest.reserveCapacity(sorted.count)
      for record in sorted {
        if let last = newest.last, unsafe last.key.order(to: record.key) == 0 {
          newest[newest.count - 1] = record
        } else {
          newest.append(record)
        }
      }
      return newest
    }

    /// True if each key is greater than the one before it.
    private static func isSorted(_ records: [Record]) -> Bool {
      for index in 1..<max(records.count, 1)
      where unsafe records[index - 1].key.order(to: records[index].key) >= 0 {
        return false
      }
      return true
    }

    private static func precedes(_ one: Record, _ two: Record) -> Bool {
      let order = unsafe one.key.order(to: two.key)
      return order != 0 ? order < 0 : one.place < two.place
    }
  }
}
