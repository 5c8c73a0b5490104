import Cambium
import Synchronization

/// Who makes a request, and what they may do: everything that is read or written for a request is
/// asked of this first.
struct Caller: Sendable {
  /// The name under which changes are recorded where the request names nobody; nil for none.
  var name: String?
  /// The node at and below which the caller may read.
  var scope: NodePath
  var canWrite: Bool
  /// False for one without a token, who gets the inspector's own files and nothing else.
  var canRead = true
  /// Becomes true once the caller's token is withdrawn, which ends the streams that it opened.
  var withdrawal = Withdrawal()

  /// A caller who may do everything.
  static let everything = Caller(scope: .root, canWrite: true)

  /// A caller who may do nothing.
  static let nobody = Caller(scope: .root, canWrite: false, canRead: false)

  /// True if all that is at and below a node is within the scope.
  func covers(_ path: NodePath) -> Bool { canRead && path.isWithin(scope) }
}

/// Tells the streams of a token's holder that the token is withdrawn, or has other rights now.
final class Withdrawal: Sendable {
  private struct State {
    var isDone = false
    var successor: Caller?
    var actions: [UInt64: @Sendable (Caller?) -> Void] = [:]
    var last: UInt64 = 0
  }

  private let state = Mutex(State())

  var isDone: Bool { state.withLock { $0.isDone } }

  /// Calls `action` once the token is withdrawn: at once, if it was. It gets the caller that the
  /// token is of now; nil where the token is unknown. The number removes it.
  func onDone(_ action: @escaping @Sendable (Caller?) -> Void) -> UInt64 {
    let (number, successor): (UInt64?, Caller?) = state.withLock { state in
      if state.isDone { return (nil, state.successor) }
      state.last += 1
      state.actions[state.last] = action
      return (state.last, nil)
    }
    if let number { return number }
    action(successor)
    return 0
  }

  func remove(_ number: UInt64) { state.withLock { _ = $0.actions.removeValue(forKey: number) } }

  /// Withdraws the token; its caller is `successor` from now on.
  func withdraw(for successor: Caller? = nil) {
    let actions = state.withLock { state in
      (state.isDone, state.successor) = (true, successor)
      defer { state.actions = [:] }
      return Array(state.actions.values)
    }
    for action in actions { action(successor) }
  }
}

extension DatabaseError {
  /// True for one whose text may name records other than those of the request: a caller who may see
  /// a part of the tree alone must not read it.
  var namesOthers: Bool {
    switch self {
    case .stillReferred, .notUnique, .invalid: true
    default: false
    }
  }
}
