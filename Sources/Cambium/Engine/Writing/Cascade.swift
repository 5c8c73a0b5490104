// Delete rules: the effect of a removal on references to the removed records. Referrers are found
// through the index on the reference, the inverse of the relation.
//
//     the removed records ──cascade──▶ their dependents ──▶ any denied? ──▶ nullify
//                           (all of them, before anything is changed)        remove
//
// All of it is logged as separate operations, dependents first, so that folding needs no rules.

import LMDB

/// Applies delete rules before a node is removed with all below it.
struct Cascade {
  private let transaction: RunningTransaction

  init(_ transaction: RunningTransaction) { self.transaction = transaction }

  /// Handles the references to a node and all below it, before that is removed.
  ///
  /// - Throws: ``DatabaseError/stillReferred(_:by:property:)``; issued operations must be undone.
  func remove(_ path: NodePath) throws { try remove(path, staysIn: false) }

  /// The same before it is moved. Within its collection, a record only gets another key, and
  /// references to it follow.
  func move(_ path: NodePath, to destination: NodePath) throws {
    let staysIn = destination.parent == path.parent
    if staysIn { try rename(path, to: destination) }
    try remove(path, staysIn: staysIn)
  }

  private func remove(_ path: NodePath, staysIn: Bool) throws {
    let isAsked = transaction.hooks.areAskedOfDeletions
    let removal = try isAsked ? asked(path, staysIn) : removal(of: path, staysIn)
    try refuseDenied(removal)
    for member in removal.members { try release(member, removal) }
    for dependent in removal.dependents.reversed() { try transaction.log(.remove(dependent)) }
  }

  /// The removed records, after the app's code was called for each of them. It may write, so they
  /// are collected again until there are no new ones.
  private func asked(_ path: NodePath, _ staysIn: Bool) throws -> Removal {
    var known: Set<NodePath> = []
    while true {
      let removal = try removal(of: path, staysIn)
      var isComplete = true
      for root in [path] + removal.dependents {
        if !(root == path && staysIn), known.insert(root).inserted {
          try HookCalls(transaction).askAboutDeletion(of: root)
          isComplete = false
        }
        for (collection, guardian) in transaction.hooks.guards.collections(within: root)
        where guardian.isAskedOfDeletions {
          try transaction.forEachMember(of: collection) { member in
            guard known.insert(member).inserted else { return }
            try HookCalls(transaction).askAboutDeletion(of: member)
            isComplete = false
          }
        }
      }
      if isComplete { return removal }
    }
  }

  /// The records that are removed with a node, including those that delete rules add.
  private func removal(of path: NodePath, _ staysIn: Bool) throws -> Removal {
    let collections = transaction.catalog.collections
    var removal = Removal(path)
    if !staysIn, path.parent.map(collections.isReferredTo) ?? false, try transaction.exists(path) {
      removal.add(path)
    }
    for target in collections.targets(within: path) {
      try transaction.forEachMember(of: target) { removal.add($0) }
    }
    var next = 0
    while next < removal.members.count {
      let member = removal.members[next]
      next += 1
      for edge in edges(to: member) where edge.rule == .cascade {
        try forEachReferrer(to: member, edge) { removal.add($0) }
      }
    }
    return removal
  }

  /// The records that are removed.
  private struct Removal {
    /// The node to remove; everything below it is removed without an operation of its own.
    let root: NodePath
    private(set) var members: [NodePath] = []
    private var known: Set<NodePath> = []

    init(_ root: NodePath) { self.root = root }

    mutating func add(_ path: NodePath) { if known.insert(path).inserted { members.append(path) } }

    func contains(_ path: NodePath) -> Bool { path.isWithin(root) || known.contains(path) }

    /// The records that are removed because of a rule.
    var dependents: [NodePath] { members.filter { !$0.isWithin(root) } }
  }

  /// Refuses removals that a rule denies.
  private func refuseDenied(_ removal: Removal) throws {
    for member in removal.members {
      for edge in edges(to: member) where edge.rule == .deny {
        try forEachReferrer(to: member, edge) { referrer in
          if removal.contains(referrer) { return }
          throw DatabaseError.stillReferred(member, by: referrer, property: edge.name)
        }
      }
    }
  }

  /// Removes a reference from the records that stay.
  private func release(_ member: NodePath, _ removal: Removal) throws {
    guard let key = member.last else { return }
    for edge in edges(to: member) where edge.rule == .nullify {
      try forEachReferrer(to: member, edge) { referrer in
        if !removal.contains(referrer) { try replace(key, by: nil, in: referrer, edge) }
      }
    }
  }

  /// Updates the references to a record that gets another key.
  private func rename(_ path: NodePath, to destination: NodePath) throws {
    guard let old = path.last, let new = destination.last, old != new else { return }
    for edge in edges(to: path) {
      try forEachReferrer(to: path, edge) { try replace(old, by: new, in: $0, edge) }
    }
  }

  // MARK: Who refers

  /// A property by which records of one collection refer to those of another.
  private struct Edge {
    let collection: CollectionPlan
    let property: PropertyPlan
    let index: IndexPlan

    var rule: DeleteRule? { property.definition.deleteRule }
    var name: String { property.definition.name }
  }

  private func edges(to member: NodePath) -> [Edge] {
    guard let parent = member.parent else { return [] }
    return transaction.catalog.collections.references(to: parent).compactMap {
      (collection, property) in
      collection.edge(property.name).map {
        Edge(collection: collection, property: property, index: $0)
      }
    }
  }

  /// Visits the records that refer to one; the visit may change them.
  private func forEachReferrer(
    to member: NodePath, _ edge: Edge, _ body: (NodePath) throws -> Void
  ) throws {
    guard let key = member.last else { return }
    var referrers = Referrers(of: key, edge.index, edge.collection)
    while let keys = try referrers.next(
      transaction.reader, transaction.catalog.collections)
    {
      for key in keys {
        try body(edge.collection.path.appending(try key.lend { try Key($0) }))
      }
    }
  }

  // MARK: Changing references

  /// Changes or removes a reference.
  private func replace(_ old: Key, by new: Key?, in referrer: NodePath, _ edge: Edge) throws {
    let snapshot = Snapshot(transaction)
    let value = try snapshot[referrer][edge.name] ?? edge.property.definition.absence
    var changed = value.flatMap { Cascade.replacing(old, by: new, in: $0) }
    // Without a value the property would have its default again.
    if changed == nil, edge.property.definition.hasDefault { changed = .null }
    let update = Operation.PropertyUpdate(
      name: edge.property.name, value: try changed?.stored())
    try HookCalls(transaction).change(.update(referrer, [update]), isObeyed: true)
  }

  /// The value of a property with each reference to one key changed, or removed.
  static func replacing(_ old: Key, by new: Key?, in value: Value) -> Value? {
    switch value {
    case .array(let elements):
      return .array(
        elements.compactMap {
          StoredKey.key(naming: $0) == old ? new.map(StoredKey.value) : $0
        })
    case .map(let record):
      var changed = ValueMap()
      for member in record.members {
        let isOld = member.name == old.description
        if !isOld { changed[member.name] = member.value }
        if isOld, let new { changed[new.description] = member.value }
      }
      return .map(changed)
    default: return StoredKey.key(naming: value) == old ? new.map(StoredKey.value) : value
    }
  }
}
