import Cambium

/// A refusal as Firebase sends it: a status, and `{"error": "text"}`.
struct FirebaseError: Error, Equatable {
  var status: Int
  var message: String

  init(_ status: Int, _ message: String) {
    self.status = status
    self.message = message
  }

  /// A request that cannot be understood.
  static func bad(_ message: String) -> FirebaseError { FirebaseError(400, message) }

  static let badObject = bad(
    "Invalid data; couldn't parse JSON object. Are you sending a JSON object with valid key names?")

  /// The caller may not do that there. Firebase says no more, so that nothing can be learned.
  static let denied = FirebaseError(401, "Permission denied")

  /// As many long answers are being sent as there may be.
  static let tooManyBodies = FirebaseError(
    503, "Too many large answers are being sent; try again, or ask for less")
  /// The condition of a write does not hold; the answer has what is there.
  static let unmet = FirebaseError(412, "Precondition failed")

  var response: Response {
    var json: [UInt8] = Array("{\"error\":".utf8)
    JSONText.append(message, to: &json)
    json.append(UInt8(ascii: "}"))
    return Response(status, json: json)
  }
}

/// As it is kept for a request that comes again.
extension FirebaseError: KeptRefusal {
  var value: Value {
    .map(["status": .integer(Int64(status)), "message": .string(message)])
  }

  init(_ value: Value) {
    guard case .map(let members) = value, case .integer(let status)? = members["status"],
      case .string(let message)? = members["message"]
    else {
      self.init(502, "A kept refusal is unknown")
      return
    }
    self.init(Int(status), message)
  }
}

extension FirebaseError {
  /// The refusal for an error of the engine.
  ///
  /// Clients repeat a request that is answered by 500 or 503, pushes included. So 503 is for what
  /// has certainly stored nothing, and 500 is never sent.
  init(_ error: any Error, _ caller: Caller) {
    switch error {
    case let error as DatabaseError where error.namesOthers && !caller.scope.isRoot:
      self.init(FirebaseError.status(error), "What is declared for the data does not allow this")
    case let error as FirebaseError: self = error
    case let error as AnsweredRequests.KeyError: self.init(error.status, "\(error)")
    case let error as DatabaseError: self.init(FirebaseError.status(error), "\(error)")
    default: self.init(422, "\(error)")
    }
  }

  private static func status(_ error: DatabaseError) -> Int {
    switch error {
    case .badKey, .badValue, .invalid, .notFound, .misuse, .exists, .notUnique, .stillReferred:
      400
    case .noSuchMoment, .compacted: 400
    case .transactionTooLarge: 413
    case .conflict: 409
    case .busy, .closed: 503
    case .readOnly: 403
    case .full: 507
    case .outcomeUnknown: 504
    default: 502
    }
  }
}
