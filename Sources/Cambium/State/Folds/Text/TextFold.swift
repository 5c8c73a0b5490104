// Maintenance of a text view: the effect of a record's change on its terms.

import LMDB

extension TextPlan {
  /// Updates a text view for a change of a record.
  func keep(
    _ number: UInt32, key: RawSpan, old: RawSpan?, new: RawSpan?,
    in storage: borrowing StateTransaction
  ) throws {
    if let old, let new, try properties.areSame(in: old, new) { return }
    let (before, after) = (try RecordTerms(self, old), try RecordTerms(self, new))
    let (place, views) = (TextEntry.place(of: key), storage.tables.views)
    for term in before.terms.keys where after.terms[term] == nil {
      let key = TextEntry.termKey(number, term)
      try changeCount(key, by: -1, storage)
      try storage.delete(views, key + place)
    }
    for (term, places) in after.terms where before.terms[term] != places {
      let key = TextEntry.termKey(number, term)
      if before.terms[term] == nil { try changeCount(key, by: 1, storage) }
      try storage.put(views, key + place, places.stored)
    }
    let lengths = TextEntry.recordsStart(number) + place
    if after.isEmpty {
      if !before.isEmpty { try storage.delete(views, lengths) }
    } else if before.isEmpty || before.lengths != after.lengths {
      try storage.put(views, lengths, TextEntry.stored(after.lengths, key, place))
    }
    try changeTotals(number, before, after, storage)
  }

  /// Changes the number of records with a term.
  private func changeCount(
    _ key: [UInt8], by change: Int64, _ storage: borrowing StateTransaction
  ) throws {
    let reader = try storage.reader
    let stored = try key.lend { key in
      try reader.access.get(reader.tables.views, key) { bytes in
        var offset = 0
        return try bytes.varint(at: &offset)
      }
    }
    let count = Int64(clamping: stored ?? 0) + change
    var bytes: [UInt8] = []
    bytes.append(varint: UInt64(max(count, 0)))
    try storage.put(reader.tables.views, key, count > 0 ? bytes : nil)
  }

  private func changeTotals(
    _ number: UInt32, _ before: RecordTerms, _ after: RecordTerms,
    _ storage: borrowing StateTransaction
  ) throws {
    let (key, reader) = (TextEntry.totalsKey(number), try storage.reader)
    let stored = try key.lend { key in
      try reader.access.get(reader.tables.views, key) { try TextTotals(self, $0) }
    }
    var totals = stored ?? TextTotals(self)
    totals.remove(before)
    totals.add(after)
    if totals == stored || (stored == nil && totals.records == 0) { return }
    try storage.put(reader.tables.views, key, totals.records == 0 ? nil : totals.stored)
  }
}
