// Keeping a text view: what a change of a record does to its terms.

import LMDB

extension Folds {
  /// Keeps a text view: takes what becomes of a record.
  func keep(
    _ plan: TextPlan, _ number: UInt32, key: RawSpan, old: RawSpan?, new: RawSpan?
  ) throws {
    if let old, let new, try plan.hasSameTexts(old, new) { return }
    let before = try RecordTerms(plan, old)
    let after = try RecordTerms(plan, new)
    let place = TextEntry.place(of: key)
    for (term, places) in before.terms where after.terms[term] != places {
      if after.terms[term] == nil { try removeTerm(number, term, place) }
    }
    for (term, places) in after.terms where before.terms[term] != places {
      try putTerm(number, term, place, places, isNew: before.terms[term] == nil)
    }
    try putLengths(number, before, after, key, place)
    try changeTotals(number, plan, before, after)
  }

  private func putTerm(
    _ number: UInt32, _ term: [UInt8], _ place: [UInt8], _ places: TermPlaces, isNew: Bool
  ) throws {
    let key = TextEntry.termKey(number, term)
    if isNew { try changeCount(key, by: 1) }
    try storage.put(tables.views, key + place, places.stored)
  }

  private func removeTerm(
    _ number: UInt32, _ term: [UInt8], _ place: [UInt8]
  ) throws {
    let key = TextEntry.termKey(number, term)
    try changeCount(key, by: -1)
    try storage.delete(tables.views, key + place)
  }

  /// Changes how many records have a term.
  private func changeCount(_ key: [UInt8], by change: Int64) throws {
    let reader = try reader
    let stored = try key.lend { key in
      try reader.access.get(tables.views, key) { bytes in
        var offset = 0
        return try bytes.varint(at: &offset)
      }
    }
    let count = Int64(clamping: stored ?? 0) + change
    var bytes: [UInt8] = []
    bytes.append(varint: UInt64(max(count, 0)))
    if count > 0 {
      try storage.put(tables.views, key, bytes)
    } else {
      try storage.delete(tables.views, key)
    }
  }

  private func putLengths(
    _ number: UInt32, _ before: RecordTerms, _ after: RecordTerms, _ record: RawSpan,
    _ place: [UInt8]
  ) throws {
    let key = TextEntry.recordsStart(number) + place
    if after.isEmpty {
      if !before.isEmpty { try storage.delete(tables.views, key) }
    } else if before.isEmpty || before.lengths != after.lengths {
      try storage.put(tables.views, key, TextEntry.stored(after.lengths, record, place))
    }
  }

  private func changeTotals(
    _ number: UInt32, _ plan: TextPlan, _ before: RecordTerms, _ after: RecordTerms
  ) throws {
    let (key, reader) = (TextEntry.totalsKey(number), try reader)
    let stored = try key.lend { key in
      try reader.access.get(tables.views, key) { try TextTotals(plan, $0) }
    }
    var totals = stored ?? TextTotals(plan)
    totals.remove(before)
    totals.add(after)
    if totals == stored { return }
    if totals.records == 0 {
      if stored != nil { try storage.delete(tables.views, key) }
    } else {
      try storage.put(tables.views, key, totals.stored)
    }
  }
}

extension TextPlan {
  /// True if two records have the same values of all the view's properties.
  fileprivate func hasSameTexts(_ old: RawSpan, _ new: RawSpan) throws -> Bool {
    let (before, after) = (try RecordTable(old), try RecordTable(new))
    return try properties.allSatisfy { property in
      try property.value(of: old, before) { value in
        try property.value(of: new, after) { $0.equals(value) }
      }
    }
  }
}
