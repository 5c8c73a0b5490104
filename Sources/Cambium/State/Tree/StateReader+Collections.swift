// Reading the declared collections from the state's `meta` table.

import LMDB

extension StateReader {
  /// The declared collections, resolved against the catalog.
  func collections(_ catalog: Catalog, version: UInt32) throws -> Collections {
    var plans: [CollectionPlan] = []
    let prefix = CollectionPlan.metaPrefix
    try access.forEach(tables.meta, startingWith: prefix) { key, value in
      let name = key.array()
      let path = try NodePath(checking: Array(name.dropFirst(prefix.count)))
      plans.append(
        try MetaEntry.open(value, name: name) { try CollectionPlan(path, stored: $0, catalog) })
    }
    return Collections(plans, version: version)
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
