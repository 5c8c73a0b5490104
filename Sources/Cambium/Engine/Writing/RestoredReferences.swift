// References in restored records: their targets may have been removed in the meantime. The delete
// rule decides the fate of such a reference, as it would have if the record had existed then: it is
// removed, or the transaction is refused. That is checked when the body ends, so that records which
// refer to each other may be restored in any order.

/// The nodes that a transaction has restored.
struct RestoredReferences {
  private var paths: [NodePath] = []
  private var known: Set<NodePath> = []
  /// True while an undo or a merge is under way, which sets references before what they lead to.
  var isDeferred = false

  /// Records a node that arrived with everything below it, or a record that was set.
  mutating func note(_ path: NodePath) { if known.insert(path).inserted { paths.append(path) } }

  /// Returns all of them, and removes them here.
  mutating func take() -> [NodePath] {
    defer { (paths, known) = ([], []) }
    return paths
  }
}

extension RestoredReferences {
  /// Checks the references of the restored nodes.
  ///
  /// - Throws: ``DatabaseError/invalid(_:)`` for a reference that leads nowhere and must not be
  ///   removed.
  static func settle(in transaction: RunningTransaction) throws {
    var paths = transaction.draft.restored.take()
    while !paths.isEmpty {
      for path in paths { try settle(within: path, in: transaction) }
      // Hooks may have restored more.
      paths = transaction.draft.restored.take()
    }
  }

  private static func settle(
    within path: NodePath, in transaction: RunningTransaction
  ) throws {
    let collections = transaction.catalog.collections
    if let plan = collections[of: path], plan.keepsReferences {
      try settle(path, plan, transaction)
    }
    for plan in collections.all(within: path) where plan.keepsReferences {
      try transaction.forEachMember(of: plan.path) { try settle($0, plan, transaction) }
    }
  }

  private static func settle(
    _ path: NodePath, _ plan: CollectionPlan, _ transaction: RunningTransaction
  ) throws {
    for property in plan.properties where property.definition.keepsReferences {
      guard let record = try transaction.record(at: path), record.kind == .record,
        let stored = try record.value(of: property.name),
        case let missing = try transaction.missingTargets(stored, property.definition)
          .compactMap({ StoredKey.key(naming: $0) }),
        !missing.isEmpty
      else { continue }
      guard property.definition.deleteRule == .nullify else {
        throw DatabaseError.invalid(
          missing.map { key in
            let target = property.definition.target.map { "\($0)" } ?? ""
            return Violation(
              path, property.definition.name, "refers to \(key), which is not in \(target) any more"
            )
          })
      }
      var value: Value? = try stored.lend { try Value($0) }
      for key in missing { value = value.flatMap { Cascade.replacing(key, by: nil, in: $0) } }
      let update = Operation.PropertyUpdate(name: property.name, value: try value?.stored())
      try HookCalls(transaction).change(.update(path, [update]), isObeyed: true)
    }
  }
}

extension RunningTransaction {
  /// The references in a stored value of a property that lead nowhere.
  func missingTargets(_ value: [UInt8], _ property: PropertyDefinition) throws -> [Value] {
    guard let target = property.target, let tag = value.first, tag != ValueTag.null else {
      return []
    }
    let values = property.type.isPlural ? try value.lend { try IndexEntry.elements($0) } : [value]
    return try values.compactMap { value in
      let reference = try value.lend { try Value($0) }
      let key = StoredKey.key(naming: reference)
      let isThere = try key.map {
        let path = target.appending($0)
        return try draft.expected.contains(path) || exists(path)
      }
      return isThere ?? false ? nil : reference
    }
  }
}

extension PropertyDefinition {
  /// True if a rule requires that its targets exist.
  fileprivate var keepsReferences: Bool { target != nil && (deleteRule != nil || mustExist) }
}

extension CollectionPlan {
  fileprivate var keepsReferences: Bool { properties.contains { $0.definition.keepsReferences } }
}
