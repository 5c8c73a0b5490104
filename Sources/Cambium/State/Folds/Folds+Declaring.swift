// Applies a declaration: new indexes are built from the existing records, in order, and the entries
// of indexes that are no longer declared are removed. Both can be deferred; see Unfinished.swift.

import LMDB

extension Folds {
  /// Applies a collection's new declaration, or removes the present one if it is nil.
  ///
  /// - Throws: ``DatabaseError/invalid(_:)`` and ``DatabaseError/notUnique(_:index:takenBy:)`` if
  ///   an existing record breaks a new rule; the caller must roll back.
  mutating func declare(
    _ path: NodePath, _ stored: [UInt8]?, in sequence: SequenceNumber
  ) throws {
    let old = memory.catalog.collections[path]
    memory.collection = nil
    guard let stored else {
      guard let old else {
        throw DatabaseError.notFound(path, reason: "no collection is declared here")
      }
      try giveUp(old.numbers)
      memory.catalog.collections.takeBack(path)
      return try storage.delete(tables.meta, old.metaKey)
    }
    let definition = try CollectionDefinition(stored.lend { try Value($0) })
    let (plan, kept) = try plan(path, definition, replacing: old, in: sequence)
    try giveUp(old?.numbers.filter { !kept.contains($0) } ?? [])
    memory.catalog.collections.declare(plan)
    try storage.put(tables.meta, plan.metaKey, MetaEntry.seal(plan.stored(), name: plan.metaKey))
    try memory.keys.countAll(plan, reader)
    if isEnforcing {
      try checkRecords(plan, since: old)
      try checkUniqueness(plan, since: old)
    }
    try build(plan, except: kept)
  }

  /// Defines a name's number.
  mutating func define(_ id: NameID, _ name: String) throws {
    try memory.catalog.define(name, as: id)
    let key = StateReader.nameKey(id)
    try storage.put(tables.meta, key, MetaEntry.seal(Array(name.utf8), name: key))
  }

  /// Resolves a declaration: unchanged folds keep their numbers, new ones get the next.
  private mutating func plan(
    _ path: NodePath, _ definition: CollectionDefinition, replacing old: CollectionPlan?,
    in sequence: SequenceNumber
  ) throws -> (CollectionPlan, kept: Set<UInt32>) {
    let draft = try CollectionPlan(drafting: path, definition, memory.catalog)
    let numbers =
      draft.indexes.map { old?.index(like: $0)?.number }
      + draft.views.map { old?.view(like: $0)?.number }
    let given = numbers.map { number in
      if let number { return number }
      defer { memory.nextNumber += 1 }
      return memory.nextNumber
    }
    let former = old?.formerDefaults(replacedBy: definition, in: sequence)
    let plan = try CollectionPlan(
      path, definition, numbers: given, memory.catalog, formerDefaults: former ?? [])
    return (plan, Set(numbers.compactMap { $0 }))
  }

  // MARK: Building

  /// Builds the folds of a collection, or defers that; folds that are required immediately are
  /// built at once.
  mutating func build(_ plan: CollectionPlan, except kept: Set<UInt32>) throws {
    for fold in plan.folds where !kept.contains(fold.number) {
      switch fold {
      case .index(let index) where fillsLater && !index.isUnique:
        try set(fold.number, .filling(upTo: IndexEntry.prefix(fold.number)))
      case .groups where fillsLater, .top where fillsLater, .text where fillsLater:
        try set(fold.number, .filling(upTo: []))
      default: try build(fold, of: plan)
      }
    }
  }

  // MARK: Checking

  /// Refuses rules that an existing record breaks.
  func checkRecords(_ plan: CollectionPlan, since old: CollectionPlan?) throws {
    if let old, old.definition.hasSameRules(as: plan.definition) { return }
    let (reader, catalog) = (try reader, memory.catalog)
    guard let unchecked else {
      return try reader.forEachRecord(of: plan.path) { try plan.check($1, key: $0, catalog) }
    }
    for key in unchecked {
      _ = try reader.withRecord(key, of: plan) { record in
        try key.lend { try plan.check(record, key: $0, catalog) }
      }
    }
  }

  /// Refuses to make an index unique if two records have the same values in it.
  private mutating func checkUniqueness(
    _ plan: CollectionPlan, since old: CollectionPlan?
  ) throws {
    for index in plan.indexes where index.isUnique {
      guard let before = old?.index(like: index), !before.isUnique else { continue }
      if memory.catalog.collections.isFilling(index.number) {
        // No later step completes it: this builds the whole index at once.
        try clear(.index(index))
        try build(.index(index), of: plan)
      } else if let unchecked {
        for key in unchecked {
          let record = try reader.withRecord(key, of: plan) { $0.array() }
          try record?.lend { record in
            try key.lend { try plan.checkUnique(reader, key: $0, old: nil, new: record) }
          }
        }
      } else {
        var check = UniquenessCheck(index, plan, try reader)
        try check.checkAll()
      }
    }
  }
}
