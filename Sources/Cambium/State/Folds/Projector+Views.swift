// How a change of a collection's record reaches the collection's views, and how a view is made of
// the records that are there: the same entries either way, which `verify` compares byte by byte.

import LMDB

extension Projector {
  /// Folds the change of a record into the views of its collection.
  mutating func foldViews(
    _ plan: CollectionPlan, key: RawSpan, old: RawSpan?, new: RawSpan?
  ) throws {
    for view in plan.views {
      // While it is being filled, what is behind the fence comes to it in time.
      let unfinished = memory.catalog.collections.unfinished
      if !unfinished.isEmpty, unfinished[view.number]?.isAhead(of: key) ?? false { continue }
      try fold(view, key: key, old: old, new: new)
    }
  }

  /// Folds the change of a record into one view.
  mutating func fold(
    _ view: ViewPlan, key: RawSpan, old: RawSpan?, new: RawSpan?
  ) throws {
    let old = try view.has(old, key: key) ? old : nil
    let new = try view.has(new, key: key) ? new : nil
    if old == nil && new == nil { return }
    switch view.content {
    case .groups(let groups): try fold(view.number, groups, key: key, old: old, new: new)
    case .top(let top): try fold(view.number, top, key: key, old: old, new: new)
    case .text(let text): try fold(view.number, text, key: key, old: old, new: new)
    }
  }

  /// Makes all that is derived from declarations and records anew: they were changed behind its
  /// back, or an earlier fold has derived it.
  mutating func makeAnew() throws {
    for plan in memory.catalog.collections.all {
      try put(tables.meta, plan.metaKey, MetaEntry.seal(plan.stored(), name: plan.metaKey))
      try countKeys(plan)
      try clear(plan.numbers)
      try build(plan, except: [])
    }
  }

  /// Makes a view of the records that are there: sorted first, so that entries that are near each
  /// other are written together.
  mutating func build(_ view: ViewPlan, of plan: CollectionPlan) throws {
    var builder = ViewBuilder(view)
    try reader.forEachRecord(of: plan.path) { key, record in
      if try view.has(record, key: key) { try builder.add(key, record) }
    }
    var entries = try builder.finish()
    while let entry = try entries.next() { try put(tables.views, entry.key, entry.value) }
  }
}
