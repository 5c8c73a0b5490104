// Reading the declared collections from the state's `meta` table.

import LMDB

extension StateReader {
  /// The declared collections, resolved against the catalog.
  func collections(_ catalog: Catalog, version: UInt32) throws -> Collections {
    var plans: [CollectionPlan] = []
    var cursor = try Cursor(access, tables.meta)
    let prefix = CollectionPlan.metaPrefix
    var isThere = try prefix.lend { try cursor.seek($0) }
    while isThere {
      let found: CollectionPlan? = try cursor.withEntry { key, value in
        try plan(key, value, catalog)
      }
      guard let plan = found else { break }
      plans.append(plan)
      isThere = try cursor.next()
    }
    return Collections(plans, version: version)
  }

  /// The declaration in an entry, or nil where it is another kind of entry.
  private func plan(
    _ key: RawSpan, _ value: RawSpan, _ catalog: Catalog
  ) throws -> CollectionPlan? {
    let name = key.array()
    guard name.starts(with: CollectionPlan.metaPrefix) else { return nil }
    let path = try NodePath(checking: Array(name.dropFirst(CollectionPlan.metaPrefix.count)))
    return try MetaEntry.open(value, name: name) { try CollectionPlan(path, stored: $0, catalog) }
  }
}

extension Catalog {
  /// True if the catalog has everything that a state of this head has. Unfinished indexes and views
  /// change from one snapshot of the state to the next, so a catalog that is kept does not list
  /// them.
  func isUpToDate(_ head: StateHead) -> Bool {
    count >= Int(head.names) && collections.version == head.declarations && head.unfinished == 0
  }
}
