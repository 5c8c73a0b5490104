// The stored form of a record: a sorted table of (name, end of its value), then the values.
// Reading one property reads the table and that value, and allocates nothing.
//
//     00 | count u8  | count × (name u16, end u16) | values    small: to 255 properties, 64 KiB
//     01 | count u32 | count × (name u32, end u32) | values    large
//
// Numbers are little-endian; `end` counts from the start of the values; names ascend.

/// The number of a property's name, which is its place in the order of definition.
typealias NameID = UInt32

/// The table of one stored record, found and checked against the record's length.
struct RecordTable {
  let count: Int
  private let isLarge: Bool
  private var tableStart: Int { isLarge ? 5 : 2 }
  /// The place of the first value.
  var valuesStart: Int { tableStart + count * entryBytes }
  /// The number of bytes that a property takes in the table, besides its value.
  var entryBytes: Int { isLarge ? 8 : 4 }

  @inline(__always)
  init(_ record: RawSpan) throws {
    switch try record.load(UInt8.self, at: 0) {
    case 0:
      isLarge = false
      count = Int(try record.load(UInt8.self, at: 1))
    case 1:
      isLarge = true
      count = Int(try record.load(UInt32.self, at: 1))
    default: throw DatabaseError.corrupt(reason: "a stored record has an unknown form")
    }
    guard valuesStart <= record.byteCount else {
      throw DatabaseError.corrupt(reason: "a stored record ends early")
    }
  }

  /// The name at a place in the table.
  @inline(__always)
  func name(_ record: RawSpan, _ index: Int) throws -> NameID {
    isLarge
      ? try record.load(UInt32.self, at: tableStart + index * 8)
      : UInt32(try record.load(UInt16.self, at: tableStart + index * 4))
  }

  /// The range of the value at a place in the table.
  @inline(__always)
  func value(_ record: RawSpan, _ index: Int) throws -> Range<Int> {
    let start = index == 0 ? 0 : try end(record, index - 1)
    let end = try end(record, index)
    guard start < end, valuesStart + end <= record.byteCount else {
      throw RecordTable.damaged
    }
    return (valuesStart + start)..<(valuesStart + end)
  }

  fileprivate static let damaged = DatabaseError.corrupt(
    reason: "a stored record's table is damaged")

  /// The name at a place in the table and the end of its value, in one load.
  @inline(__always)
  fileprivate func entry(_ record: RawSpan, _ index: Int) throws -> (name: NameID, end: Int) {
    if isLarge {
      let entry = try record.load(UInt64.self, at: tableStart + index * 8)
      return (NameID(truncatingIfNeeded: entry), Int(entry >> 32))
    }
    let entry = try record.load(UInt32.self, at: tableStart + index * 4)
    return (entry & 0xFFFF, Int(entry >> 16))
  }

  @inline(__always)
  private func end(_ record: RawSpan, _ index: Int) throws -> Int {
    isLarge
      ? Int(try record.load(UInt32.self, at: tableStart + index * 8 + 4))
      : Int(try record.load(UInt16.self, at: tableStart + index * 4 + 2))
  }

  /// The place of a name in the table, or nil.
  @inline(__always)
  func index(_ record: RawSpan, of wanted: NameID) throws -> Int? {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if try name(record, middle) < wanted { low = middle + 1 } else { high = middle }
    }
    return try low < count && name(record, low) == wanted ? low : nil
  }

  /// The range of a name's value, or nil.
  @inline(__always)
  func find(_ record: RawSpan, _ name: NameID) throws -> Range<Int>? {
    try index(record, of: name).map { try value(record, $0) }
  }

  /// The range of a name's value in a small record that has the name at the likely place; nil for
  /// any other record, also one that is damaged. It takes less than ``find(_:_:)``.
  @inline(__always)
  static func likelyRange(
    _ record: RawSpan, of name: NameID, at place: Int
  ) throws -> Range<Int>? {
    let head = Int(try record.load(UInt16.self, at: 0))
    let (isLarge, count) = (head & 0xFF != 0, head >> 8)
    let values = 2 + 4 * count
    guard !isLarge, place < count, values <= record.byteCount else { return nil }
    let entry = try record.load(UInt32.self, at: 2 + 4 * place)
    // The end of the value before it.
    let start = place == 0 ? 0 : Int(try record.load(UInt16.self, at: 4 * place))
    let end = Int(entry >> 16)
    guard entry & 0xFFFF == name, start < end, values + end <= record.byteCount else { return nil }
    return (values + start)..<(values + end)
  }

  /// True if two records have the same bytes of all these properties, or none.
  @inline(__always)
  static func areSame(
    _ names: some Sequence<NameID>, in a: RawSpan, _ b: RawSpan
  ) throws -> Bool {
    let (first, second) = (try RecordTable(a), try RecordTable(b))
    return try names.allSatisfy { name in
      switch (try first.find(a, name), try second.find(b, name)) {
      case (nil, nil): true
      case (let one?, let other?): a.extracting(one).equals(b.extracting(other))
      default: false
      }
    }
  }
}

/// The entries of one stored record, in the order of its table.
struct RecordEntries {
  private let table: RecordTable
  private var index = 0
  /// The end of the value before, counted from the start of the values.
  private var start = 0

  @inline(__always)
  init(_ record: RawSpan) throws { table = try RecordTable(record) }

  /// The next name, and the range of its value; nil at the end. The record is the one that it began
  /// with.
  @inline(__always)
  mutating func next(_ record: RawSpan) throws -> (name: NameID, value: Range<Int>)? {
    guard index < table.count else { return nil }
    let (name, end) = try table.entry(record, index)
    let first = table.valuesStart
    guard start < end, first + end <= record.byteCount else { throw RecordTable.damaged }
    defer { (index, start) = (index + 1, end) }
    return (name, (first + start)..<(first + end))
  }
}

/// A record being assembled: stored values by the number of their name, ascending.
struct RecordBuilder {
  private var entries: [(name: NameID, value: [UInt8])] = []

  init() {}

  /// Splits a stored record into its values.
  init(_ record: RawSpan) throws {
    var stored = try RecordEntries(record)
    var last: NameID?
    while let (name, range) = try stored.next(record) {
      guard last.map({ $0 < name }) ?? true else {
        throw DatabaseError.corrupt(reason: "a stored record's names do not ascend")
      }
      last = name
      entries.append((name, try record.array(range.lowerBound, range.count)))
    }
  }

  /// The number of properties.
  var count: Int { entries.count }

  /// The stored value of a name; assigning nil removes it.
  subscript(name: NameID) -> [UInt8]? {
    get { entries.first { $0.name == name }?.value }
    set {
      let index = entries.firstIndex { $0.name >= name } ?? entries.count
      let found = index < entries.count && entries[index].name == name
      switch (found, newValue) {
      case (true, let value?): entries[index].value = value
      case (false, let value?): entries.insert((name, value), at: index)
      case (true, nil): entries.remove(at: index)
      case (false, nil): break
      }
    }
  }

  /// The numbers of the names.
  var names: [NameID] { entries.map(\.name) }

  /// The stored form.
  func stored() -> [UInt8] {
    let size = entries.reduce(0) { $0 + $1.value.count }
    let largest = entries.last?.name ?? 0
    let isLarge = entries.count > 255 || size > 0xFFFF || largest > 0xFFFF
    var bytes: [UInt8] = []
    bytes.reserveCapacity(5 + entries.count * 8 + size)
    bytes.append(isLarge ? 1 : 0)
    if isLarge {
      bytes.append(littleEndian: UInt32(entries.count))
    } else {
      bytes.append(UInt8(entries.count))
    }
    var end = 0
    for entry in entries {
      end += entry.value.count
      if isLarge {
        bytes.append(littleEndian: entry.name)
        bytes.append(littleEndian: UInt32(end))
      } else {
        bytes.append(littleEndian: UInt16(entry.name))
        bytes.append(littleEndian: UInt16(end))
      }
    }
    for entry in entries { bytes.append(contentsOf: entry.value) }
    return bytes
  }
}

/// Writes whole records, without a buffer per property.
///
/// Records of one collection have the same names in the same order. So the encoder remembers the
/// last record's names and the table that they lead to, and only compares.
struct RecordEncoder: ~Copyable {
  private var bytes = ByteBuffer()
  private var names: [String] = []
  /// The members' places, by ascending number of their names.
  private var order: [(id: NameID, index: Int)] = []

  /// The stored form; `define` gives the number of a name.
  mutating func encode(
    _ record: ValueMap, _ define: (String) throws -> NameID
  ) throws -> [UInt8] {
    if !record.pairs.lend({ $0.have(names) }) { try learn(record, define) }
    guard order.count <= 255, order.last.map({ $0.id <= 0xFFFF }) ?? true else {
      return try encodeLarge(record)
    }
    defer { bytes.clearAndShrink() }
    bytes.append(0)
    bytes.append(UInt8(order.count))
    for (id, _) in order { bytes.append(littleEndian: UInt32(id)) }
    let valuesStart = bytes.count
    let fits = try record.pairs.lend { pairs in
      var end = 4
      for (_, index) in order {
        try pairs.appendValue(index, to: &bytes)
        let length = bytes.count - valuesStart
        if length > 0xFFFF { return false }
        bytes.store(UInt16(length), at: end)
        end += 4
      }
      return true
    }
    return fits ? bytes.array() : try encodeLarge(record)
  }

  /// Discards the names, whose numbers may have been rolled back.
  mutating func forget() {
    names.removeAll()
    order.removeAll()
  }

  private mutating func learn(
    _ record: ValueMap, _ define: (String) throws -> NameID
  ) throws {
    forget()
    let numbered = try record.pairs.enumerated().map { (id: try define($1.0), index: $0) }
    order = numbered.sorted { $0.id < $1.id }
    names = record.pairs.map(\.0)
  }

  private func encodeLarge(_ record: ValueMap) throws -> [UInt8] {
    var builder = RecordBuilder()
    for (id, index) in order { builder[id] = try record.pairs[index].1.stored() }
    return builder.stored()
  }
}
