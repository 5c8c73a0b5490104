// The steps by which a body's operation and its consequences reach the log:
//
//     operation ──▶ hooks and rules in code ──▶ delete rules ──▶ declared rules ──▶ log
//
// Every call that changes records issues operations, and delete rules, undo and references that
// follow a key issue some of their own, so this is the one place at which an app's code is called.
// Its hooks may write: that happens at once, before the operation that they were called about.

extension RunningTransaction {
  /// Applies one operation and logs it.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - isAsked: True if the app's code has been called about it already.
  ///   - isNew: True to refuse a `set` of a node that exists; the app's code must have been called.
  /// - Throws: ``DatabaseError``, and any error that hooks throw; if the storage failed the
  ///   transaction can only be rolled back.
  func issue(_ operation: Operation, isAsked: Bool = false, isNew: Bool = false) throws {
    try use()
    let issued = IssuedOperation(operation, of: self)
    try issued.check()
    let isGuarded = !isAsked && hooks.concern(operation)
    if !isGuarded && !issued.isCompound {
      try log(try DeclaredRules(self).obeying(operation), isNew: isNew)
      if case .restore(let path, _) = operation { draft.restored.note(path) }
      return
    }
    assert(!isNew, "a node that must be new is set without hooks")
    try translating { try begin() }
    do {
      try issued.perform(isGuarded: isGuarded)
      try translating { try keep() }
    } catch {
      rollBack()
      throw error
    }
  }

  /// Removes the node at a path, with all below it.
  ///
  /// - Returns: False if there is none.
  /// - Throws: As ``issue(_:isAsked:isNew:)``.
  func remove(_ path: NodePath) throws -> Bool {
    try use()
    let issued = IssuedOperation(.remove(path), of: self)
    if hooks.concern(issued.operation) || issued.isCompound {
      if try !hasNode(at: path) { return false }
      try issue(issued.operation)
      return true
    }
    // Where there is no node it throws, so that only then the node is looked for twice.
    do {
      try issued.check()
      try log(issued.operation)
    } catch {
      if try !hasNode(at: path) { return false }
      throw error
    }
    return true
  }
}

/// An operation on its way to the log of a transaction.
private struct IssuedOperation {
  let operation: Operation
  private let transaction: RunningTransaction

  init(_ operation: Operation, of transaction: RunningTransaction) {
    (self.operation, self.transaction) = (operation, transaction)
  }

  func check() throws {
    // A write may move the pages that a query's records are lent from.
    if transaction.openRuns > 0 {
      throw DatabaseError.misuse(
        reason: "a query's records are being read; take their keys first, then write")
    }
    try operation.checkPaths()
  }

  /// True if it may entail others, or be refused after it has changed something.
  @inline(__always)
  var isCompound: Bool {
    switch operation {
    case .declare: true
    case .restore(let path, _): transaction.catalog.collections.hasAny(within: path)
    case .remove(let path): transaction.group.stateWriter.mayCascade(removing: path)
    case .move: !transaction.catalog.collections.isEmpty
    case .set, .update, .change, .define, .event: false
    }
  }

  /// Logs it together with all that it entails.
  func perform(isGuarded: Bool) throws {
    switch operation {
    case .remove(let path):
      let wasThere = try transaction.exists(path)
      try Cascade(transaction).remove(path)
      // A hook may have removed it.
      if isGuarded, wasThere, try !transaction.exists(path) { return }
      try transaction.log(operation)
    case .move(let source, let destination):
      try Cascade(transaction).move(source, to: destination)
      try transaction.log(operation)
      if source.parent != destination.parent { transaction.draft.restored.note(destination) }
      try HookCalls(transaction).askAboutRestored(destination, from: source)
    case .restore(let path, _):
      try transaction.log(operation)
      transaction.draft.restored.note(path)
      try HookCalls(transaction).askAboutRestored(path, from: nil)
    case .define, .event, .declare: try transaction.log(operation)
    default:
      try isGuarded
        ? HookCalls(transaction).change(operation)
        : transaction.log(DeclaredRules(transaction).obeying(operation))
    }
  }
}
