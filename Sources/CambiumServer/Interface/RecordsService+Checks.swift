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

  /// Refuses a query whose answer depends on what lies outside the caller's scope.
  static func check(_ caller: Caller, _ query: DynamicQuery) throws {
    try check(caller, query.collection)
    if caller.scope.isRoot { return }
    let reach = try query.reach()
    if !reach.isOpen, reach.collections.allSatisfy(caller.covers) { return }
    throw Refusal(
      status: 403, "out_of_scope",
      "this token's scope is \(caller.scope), and the query asks what lies outside of it")
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
  static func answer(to error: any Error, _ caller: Caller) -> Response {
    switch error {
    case let refusal as Refusal:
      return Response(refusal.status, error: refusal.code, refusal.description)
    case let error as AnsweredRequests.KeyError:
      return Response(error.status, error: "idempotency_key", error.description)
    case is RecordRequest.Malformed, is InputError:
      return Response(400, error: "malformed", "\(error)")
    case let error as DatabaseError where error.namesOthers && !caller.scope.isRoot:
      return Response(
        status(of: error), error: "not_allowed",
        "what is declared for the records does not allow this")
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
    case DatabaseError.busy, DatabaseError.closed, DatabaseError.outcomeUnknown: 503
    case DatabaseError.corrupt: 500
    case DatabaseError.full: 507
    default: 400
    }
  }
}
