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
    // A write may move the pages that a query's records are lent from.
    if openRuns > 0 {
      throw DatabaseError.misuse(
        reason: "a query's records are being read; take their keys first, then write")
    }
    try operation.checkPaths()
    let isGuarded = !isAsked && hooks.concern(operation)
    if !isGuarded && !group.stateWriter.isCompound(operation) {
      try log(try DeclaredRules(self).obeying(operation), isNew: isNew)
      if case .restore(let path, _) = operation { draft.restored.note(path) }
      return
    }
    assert(!isNew, "a node that must be new is set without hooks")
    try translating { try begin() }
    do {
      try perform(operation, isGuarded)
      try translating { try keep() }
    } catch {
      rollBack()
      throw error
    }
  }

  /// True if an operation entails no other, and calls no code of the app's.
  func isPlain(_ operation: Operation) throws -> Bool {
    try use()
    return !hooks.concern(operation) && !group.stateWriter.isCompound(operation)
  }

  private func perform(_ operation: Operation, _ isGuarded: Bool) throws {
    switch operation {
    case .remove(let path):
      let wasThere = try exists(path)
      try Cascade(self).remove(path)
      // A hook may have removed it.
      if isGuarded, wasThere, try !exists(path) { return }
      try log(operation)
    case .move(let source, let destination):
      try Cascade(self).move(source, to: destination)
      try log(operation)
      if source.parent != destination.parent { draft.restored.note(destination) }
      try HookCalls(self).askAboutRestored(destination, from: source)
    case .restore(let path, _):
      try log(operation)
      draft.restored.note(path)
      try HookCalls(self).askAboutRestored(path, from: nil)
    case .define, .event, .declare: try log(operation)
    default:
      try isGuarded
        ? HookCalls(self).change(operation) : log(DeclaredRules(self).obeying(operation))
    }
  }
}
