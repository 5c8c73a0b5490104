// Applying declared rules, before an operation is applied and logged: values outside a domain are
// replaced, values that equal the default of absence are left out, references must lead somewhere,
// and references to a removed record are handled first. All of it becomes explicit operations, so
// that folding the log needs no rules.

/// Applies the rules that collections declare.
struct DeclaredRules {
  private let transaction: RunningTransaction

  init(_ transaction: RunningTransaction) { self.transaction = transaction }

  /// The operation after the rules were applied.
  func obeying(_ operation: Operation) throws -> Operation {
    if transaction.draft.restored.isUndoing, !transaction.catalog.collections.isEmpty,
      let path = operation.changedPath
    {
      transaction.draft.restored.note(path)
    }
    guard let plan = transaction.group.stateWriter.plan(ruling: operation) else { return operation }
    switch operation {
    case .set(let path, let content): return .set(path, try plan.treated(content, self))
    case .update(let path, let updates):
      return .update(path, try updates.map { try plan.treated($0, self) })
    case .change(let path, let name?, let change):
      guard let property = plan.property(name) else { return operation }
      try checkTarget(addedBy: change, at: path, property.definition, plan.path)
      return try settled(operation, path, property)
    default: return operation
    }
  }

  /// A change of a value in place, as the resulting update if the change alone would not suffice:
  /// if the value would leave its domain, or if it is absent and its default is something other
  /// than zero or empty.
  private func settled(
    _ operation: Operation, _ path: NodePath, _ property: PropertyPlan
  ) throws -> Operation {
    let (name, standIn) = (property.name, property.standIn)
    guard property.hasDomains || !property.addsToNothing,
      let record = try transaction.record(at: path),
      record.kind == .record
    else { return operation }
    var start = record
    let stored = try record.value(of: name)
    let initial =
      stored == nil ? standIn.ofAbsence : stored == [ValueTag.null] ? standIn.ofNull : []
    if !initial.isEmpty {
      let update = Operation.update(path, [.init(name: name, value: initial)])
      start = try Content.applying(update, to: record) ?? record
    }
    let changed = try Content.applying(operation, to: start)
    guard let new = try changed?.value(of: name) else { return operation }
    var treated = try property.insideDomains(new)
    if case .change(_, _, .include) = operation { treated = try treated.map(SetCoding.set) }
    // A change that is logged as such can be undone alone, including the first one, and one that
    // leads back to the default. Without that value, some changes have nothing to change.
    if let bare = start == record ? changed : try? Content.applying(operation, to: record) {
      let value = try bare.value(of: name)
      if value == treated || (value == nil && treated == property.omitted) { return operation }
    }
    return .update(path, [.init(name: name, value: treated == property.omitted ? nil : treated)])
  }

  /// Refuses a change that adds a reference that leads nowhere.
  private func checkTarget(
    addedBy change: ValueChange<[UInt8]>, at path: NodePath, _ property: PropertyDefinition,
    _ collection: NodePath
  ) throws {
    guard property.mustExist, !transaction.draft.restored.isUndoing, property.type.isPlural,
      let added = try change.added(path),
      let reason = try checkTarget(added, property)
    else { return }
    throw DatabaseError.invalid([Violation(collection, property.name, reason)])
  }

  /// Refuses a reference that leads nowhere.
  fileprivate func checkTarget(_ value: [UInt8], _ property: PropertyDefinition) throws -> String? {
    guard property.mustExist, !transaction.draft.restored.isUndoing, let target = property.target,
      let missing = try transaction.missingTargets(value, property).first
    else { return nil }
    return "refers to \(missing.text), which is not in \(target)"
  }
}

extension StateWriter {
  /// The collection whose rules may change an operation, if there is one.
  @inline(__always)
  fileprivate mutating func plan(ruling operation: Operation) -> CollectionPlan? {
    if catalog.collections.isEmpty { return nil }
    switch operation {
    case .set(let path, let content):
      guard content.kind == .record, let plan = folds.collection(of: path) else { return nil }
      return plan.changesValues ? plan : nil
    case .update(let path, _):
      guard let plan = folds.collection(of: path) else { return nil }
      return plan.changesValues ? plan : nil
    case .change(let path, _?, _):
      guard let plan = catalog.collections[of: path] else { return nil }
      return plan.changesValues || plan.hasDefaults ? plan : nil
    default: return nil
    }
  }
}

extension Collections {
  /// The collection that a node belongs to.
  subscript(of path: NodePath) -> CollectionPlan? { self[path.bytes[..<path.parentCount]] }
}

extension CollectionPlan {
  fileprivate func treated(_ content: Content, _ rules: DeclaredRules) throws -> Content {
    var record = try content.bytes.lend { try RecordBuilder($0) }
    for property in properties {
      guard let value = record[property.name] else { continue }
      record[property.name] = try property.treated(value, path, rules)
    }
    return Content(kind: .record, bytes: record.stored())
  }

  fileprivate func treated(
    _ update: Operation.PropertyUpdate, _ rules: DeclaredRules
  ) throws -> Operation.PropertyUpdate {
    guard let value = update.value, let property = property(update.name) else { return update }
    return .init(name: update.name, value: try property.treated(value, path, rules))
  }
}

extension PropertyPlan {
  /// The stored form of a value after the rules were applied; nil for no value.
  fileprivate func treated(
    _ value: [UInt8], _ collection: NodePath, _ rules: DeclaredRules
  ) throws -> [UInt8]? {
    if let reason = try rules.checkTarget(value, definition) {
      throw DatabaseError.invalid([Violation(collection, definition.name, reason)])
    }
    guard value.first != ValueTag.null else { return value }
    let result = try insideDomains(value)
    return result == omitted ? nil : result
  }
}
