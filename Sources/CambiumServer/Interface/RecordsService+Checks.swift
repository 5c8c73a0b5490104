// Checks of what callers may do, and answers to errors.

import Cambium

/// A request that is understood and not allowed.
struct Refusal: Error, CustomStringConvertible {
  let status: Int
  let code: String
  let description: String

  init(status: Int, _ code: String, _ description: String) {
    self.status = status
    self.code = code
    self.description = description
  }
}

extension RecordsService {
  /// Refuses a path outside the caller's scope.
  static func check(_ caller: Caller, _ path: NodePath) throws {
    if caller.covers(path) { return }
    throw Refusal(status: 403, "out_of_scope", "this token's scope is \(caller.scope)")
  }

  /// Refuses a transaction that has changed something outside the caller's scope, as a delete rule
  /// may.
  static func checkScope(_ caller: Caller, _ tx: borrowing Database.Transaction) throws {
    if caller.scope.isRoot { return }
    try tx.changesSoFar().forEach { change in
      if caller.covers(change.path) { return }
      throw Refusal(
        status: 403, "out_of_scope",
        "this token's scope is \(caller.scope), and the change has consequences outside of it")
    }
  }

  /// The answer to an error, with enough to make it again.
  static func answer(to error: any Error) -> Response {
    switch error {
    case let refusal as Refusal:
      return Response(refusal.status, error: refusal.code, refusal.description)
    case let error as AnsweredRequests.KeyError:
      return Response(error.status, error: "idempotency_key", error.description)
    case is RecordRequest.Malformed, is InputError:
      return Response(400, error: "malformed", "\(error)")
    default: break
    }
    guard let members = ErrorValue.value(of: error) else {
      return Response(500, error: "failed", "the server could not do it: \(error)")
    }
    return json(["error": .map(members)], status: status(of: error))
  }

  private static func status(of error: any Error) -> Int {
    switch error {
    case DatabaseError.exists, DatabaseError.notUnique, DatabaseError.stillReferred,
      DatabaseError.conflict:
      409
    case DatabaseError.invalid, is ValidationError: 422
    case DatabaseError.notFound: 404
    case DatabaseError.compacted: 410
    case DatabaseError.readOnly: 403
    case DatabaseError.transactionTooLarge: 413
    case DatabaseError.busy: 503
    case DatabaseError.full: 507
    default: 400
    }
  }
}

extension QueryDescription {
  /// True if answers depend on records besides those of the collection.
  var reachesOthers: Bool {
    !joins.isEmpty || orderings.contains { $0.path.reachesOthers }
      || (condition?.test.reachesOthers ?? false)
  }
}

extension PropertyPath {
  fileprivate var reachesOthers: Bool { !hops.isEmpty || referrers != nil }
}

extension Condition.Test {
  fileprivate var reachesOthers: Bool {
    switch self {
    case .all(let tests), .any(let tests): tests.contains { $0.reachesOthers }
    case .not(let test): test.reachesOthers
    case .compare(let path, _, _), .oneOf(let path, _), .text(let path, _, _, _),
      .contains(let path, _):
      path.reachesOthers
    case .compareProperties(let path, _, let other): path.reachesOthers || other.reachesOthers
    case .related: true
    }
  }
}
