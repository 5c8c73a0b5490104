// Maintenance of a groups view. Its entries:
//
//     number | 0 | group                                  -> its aggregates; see GroupEntry.swift
//     number | 1 | group | property u8 | value | record   -> the value
//
// The second part holds, in order, the values of properties whose extremes are declared; null is
// not among them.

import LMDB

extension GroupsPlan {
  /// Updates a groups view for a change of a record.
  func keep(
    _ number: UInt32, key: RawSpan, old: RawSpan?, new: RawSpan?,
    in storage: borrowing StateTransaction
  ) throws {
    var (oldPlace, newPlace) = (GroupPlace?.none, GroupPlace?.none)
    if let old { oldPlace = try GroupPlace(by, old) }
    if let new { newPlace = try GroupPlace(by, new) }
    if let old, let oldPlace, oldPlace == newPlace, let new {
      if try !sums.areSame(in: old, new) {
        try changeGroup(number, oldPlace, remove: old, add: new, storage)
      }
    } else {
      if let old, let oldPlace { try changeGroup(number, oldPlace, remove: old, add: nil, storage) }
      if let new, let newPlace { try changeGroup(number, newPlace, remove: nil, add: new, storage) }
    }
    for index in extremes.indices {
      let before = try extreme(index, of: old)
      let after = try extreme(index, of: new)
      if before == after && oldPlace == newPlace { continue }
      if let before, let oldPlace {
        let entry = ExtremeEntry(number, oldPlace, index, before, key)
        try storage.delete(storage.tables.views, entry.key)
      }
      if let after, let newPlace {
        let entry = ExtremeEntry(number, newPlace, index, after, key)
        try storage.put(storage.tables.views, entry.key, entry.value)
      }
    }
  }

  private func changeGroup(
    _ number: UInt32, _ place: GroupPlace, remove: RawSpan?, add: RawSpan?,
    _ storage: borrowing StateTransaction
  ) throws {
    let key = GroupsPlan.key(number, place)
    let reader = try storage.reader
    let stored = try key.lend { key in
      try reader.access.get(reader.tables.views, key) { try GroupEntry(self, $0) }
    }
    var entry: GroupEntry
    if let stored {
      entry = stored
    } else if let add {
      entry = GroupEntry(self, values: try GroupPlace.values(by, add))
    } else {
      throw DatabaseError.corrupt(reason: "view \(number) lacks a group that a record was in")
    }
    if let remove { try entry.change(self, remove, isRemoval: true) }
    if let add { try entry.change(self, add, isRemoval: false) }
    try storage.put(reader.tables.views, key, entry.count == 0 ? nil : entry.stored)
  }
}

extension GroupsPlan {
  /// The key of a group's aggregates.
  static func key(_ number: UInt32, _ place: GroupPlace) -> [UInt8] {
    var key = ViewKey.start(number, .main)
    place.order.lend { _ = ViewKey.append($0, room: ViewKey.groupRoom, to: &key) }
    return key
  }

  /// The bytes that the keys of a group's values of a property begin with.
  static func extremesStart(_ number: UInt32, _ place: GroupPlace, _ index: Int) -> [UInt8] {
    var key = ViewKey.start(number, .second)
    place.order.lend { _ = ViewKey.append($0, room: ViewKey.groupRoom, to: &key) }
    key.append(UInt8(index))
    return key
  }

  /// A value that is kept in order: its ordered bytes, and its one stored form; nil if it is null.
  func extreme(_ index: Int, of record: RawSpan?) throws -> OrderedValue? {
    guard let record else { return nil }
    let property = extremes[index]
    return try property.value(of: record, try RecordTable(record)) { value in
      if try value.isNull { return nil }
      var order = ByteBuffer(capacity: 64)
      try property.appendOrder(of: value, to: &order)
      return OrderedValue(
        order: order.array(), value: try Value(value).inOneForm(property.type).stored())
    }
  }
}

/// A value with its ordered bytes.
struct OrderedValue: Equatable {
  var order: [UInt8]
  var value: [UInt8]
}

/// One of a group's values in order: stored with the value, which the ordered bytes may not
/// contain.
struct ExtremeEntry {
  let key: [UInt8]
  let value: [UInt8]

  init(
    _ number: UInt32, _ place: GroupPlace, _ index: Int, _ value: OrderedValue, _ record: RawSpan
  ) {
    var key = GroupsPlan.extremesStart(number, place, index)
    value.order.lend { _ = ViewKey.append($0, room: ViewKey.orderRoom, to: &key) }
    ViewKey.append(record, room: ViewKey.recordRoom, to: &key)
    self.key = key
    self.value = value.value
  }
}
