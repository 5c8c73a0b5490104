// Maintenance of a top view. Its entries:
//
//     number | 0 | group | order | record → 00, the record's key; if order or record is cut: 01,
//                                       length of the order (varint), order, the record's key
//
// The value repeats the record's key, since its start cannot be found in the entry's key.

import LMDB

extension TopPlan {
  /// Updates a top view for a change of a record.
  func keep(
    _ number: UInt32, key: RawSpan, old: RawSpan?, new: RawSpan?,
    in storage: borrowing StateTransaction
  ) throws {
    var (before, after) = (TopEntry?.none, TopEntry?.none)
    if let old { before = try TopEntry(number, self, key, old) }
    if let new { after = try TopEntry(number, self, key, new) }
    if before?.key == after?.key { return }
    if let before { try storage.delete(storage.tables.views, before.key) }
    if let after { try storage.put(storage.tables.views, after.key, after.value) }
  }
}

/// One record in a top view.
struct TopEntry {
  let key: [UInt8]
  let value: [UInt8]

  init(_ number: UInt32, _ plan: TopPlan, _ record: RawSpan, _ content: RawSpan) throws {
    var key = TopPlan.start(number, try GroupPlace(plan.by, content))
    let order = try plan.order(of: content)
    let isOrderCut = order.lend { ViewKey.append($0, room: ViewKey.orderRoom, to: &key) }
    let isRecordCut = ViewKey.append(record, room: ViewKey.recordRoom, to: &key)
    self.key = key
    value = TopEntry.value(order, record, isCut: isOrderCut || isRecordCut)
  }

  private static func value(_ order: [UInt8], _ record: RawSpan, isCut: Bool) -> [UInt8] {
    var value: [UInt8] = [isCut ? 1 : 0]
    if isCut {
      value.append(varint: UInt64(order.count))
      value += order
    }
    value.append(record)
    return value
  }

  /// The order, unless the key contains it uncut, and the record's key.
  static func read(_ value: RawSpan) throws -> (order: [UInt8]?, record: [UInt8]) {
    var offset = 1
    var order: [UInt8]?
    if try value.load(UInt8.self, at: 0) == 1 {
      order = value.extracting(try value.part(at: &offset)).array()
    }
    return (order, try value.array(offset, value.byteCount - offset))
  }
}

extension TopPlan {
  /// The bytes that order a record in its group.
  func order(of record: RawSpan) throws -> [UInt8] {
    var bytes = ByteBuffer(capacity: 64)
    let table = try RecordTable(record)
    for term in terms {
      try term.value(of: record, table) { try term.appendOrder(of: $0, to: &bytes) }
    }
    return bytes.array()
  }

  /// The bytes that the keys of a group's entries begin with.
  static func start(_ number: UInt32, _ place: GroupPlace) -> [UInt8] {
    var key = ViewKey.start(number, .main)
    place.order.lend { _ = ViewKey.append($0, room: ViewKey.groupRoom, to: &key) }
    return key
  }
}
