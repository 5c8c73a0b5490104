// Comparison of a record's entries with the record, after each change, in debug builds. It costs a
// few lookups for each entry; `verify` compares everything.

import LMDB

extension Folds {
  /// Traps in debug builds if a fold has not followed a change: it must have every contribution of
  /// the new record, and none that only the old one made. Text views follow later, and the entries
  /// of indexes cannot be looked up while they are written behind.
  func checkInvariants(_ change: RecordChange) throws {
    #if DEBUG
      guard let plan = change.collection else { return }
      let collections = memory.catalog.collections
      try change.lend { key, old, new in
        for fold in plan.folds
        where fold.isIndex ? storage.isDirect : !collections.isAhead(fold.number, of: key) {
          var present: Set<[UInt8]> = []
          if let new {
            try fold.contribute(key, new, reader) { entry, _ in
              present.insert(entry)
              if fold.isIndex, entry.lend({ collections.isAhead(fold.number, of: $0) }) { return }
              let isThere = try has(entry, fold)
              precondition(isThere, "\(change.path) lacks an entry of \(fold.number)")
            }
          }
          guard let old else { continue }
          try fold.contribute(key, old, reader) { entry, _ in
            if fold.isShared(entry) || present.contains(entry) { return }
            let isLeft = try has(entry, fold)
            precondition(!isLeft, "\(change.path) left an entry in \(fold.number)")
          }
        }
      }
    #endif
  }

  #if DEBUG
    private func has(_ key: [UInt8], _ fold: Fold) throws -> Bool {
      let table = fold.isIndex ? tables.index : tables.views
      return try key.lend { key in
        try reader.access.get(table, key) { !fold.isIndex || !IndexEntry.isTombstone($0) }
      } ?? false
    }
  #endif
}
