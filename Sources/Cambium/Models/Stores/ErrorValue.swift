// Errors as values, and back: so that a store in another process refuses with the same error.
//
//     {"code": "notUnique", "path": "owners/ida", "index": ["name"], "takenBy": "owners/ada"}
//
// Every error has a code and a message, for readers that know neither; what else it has depends on
// the code. A reader that does not know a code has the message.

/// The errors of requests that can be sent and rebuilt.
package enum ErrorValue {
  /// An error as a value; nil for one that is not about the request.
  package static func value(of error: any Error) -> ValueMap? {
    var members: ValueMap?
    switch error {
    case let error as ValidationError: members = value(error)
    case let error as QueryError:
      members = [
        "reason": .string(error.reason), "text": error.text.map { .string($0) } ?? .null,
        "offset": .integer(Int64(error.offset)), "count": .integer(Int64(error.count)),
      ]
      members?["code"] = "query"
    case let error as DatabaseError: members = value(error)
    default: members = nil
    }
    members?["message"] = .string("\(error)")
    return members
  }

  /// The error that a value was made of; nil where it is none of this version's.
  package static func error(of value: Value) -> (any Error)? {
    guard case .map(let members) = value, let code = members.text("code") else { return nil }
    switch code {
    case "validation": return validation(members)
    case "query":
      var error = QueryError(members.text("reason") ?? "")
      error.text = members.text("text")
      error.offset = members.count("offset")
      error.count = members.count("count")
      return error
    default: return databaseError(code, members)
    }
  }

  // MARK: Problems of models

  private static func value(_ error: ValidationError) -> ValueMap {
    var members: ValueMap = ["code": "validation", "text": .string(error.message)]
    members["path"] = error.path.map { .string($0.description) }
    members["property"] = error.property.map { .string($0) }
    members["element"] = error.element
    if !error.causes.isEmpty { members["causes"] = .array(error.causes.map { .map(value($0)) }) }
    return members
  }

  private static func validation(_ members: ValueMap) -> ValidationError {
    ValidationError(
      path: members.path("path"), property: members.text("property"), element: members["element"],
      members.text("text") ?? "",
      causes: members.list("causes").compactMap {
        if case .map(let cause) = $0 { validation(cause) } else { nil }
      })
  }

  private static func value(_ violation: Violation) -> Value {
    var members: ValueMap = [
      "path": .string(violation.path.description), "reason": .string(violation.reason),
    ]
    members["property"] = violation.property.map { .string($0) }
    members["element"] = violation.element
    return .map(members)
  }

  private static func violation(_ value: Value) -> Violation? {
    guard case .map(let members) = value, let path = members.path("path") else { return nil }
    return Violation(
      path, members.text("property"), element: members["element"], members.text("reason") ?? "")
  }

  // MARK: Errors of the database

  private static func value(_ error: DatabaseError) -> ValueMap? {
    func about(_ code: String, _ path: NodePath, _ reason: String) -> ValueMap {
      [
        "code": .string(code), "path": .string(path.description), "reason": .string(reason),
      ]
    }
    func plain(_ code: String, _ reason: String) -> ValueMap {
      ["code": .string(code), "reason": .string(reason)]
    }
    switch error {
    case .badKey(let key, let reason):
      return ["code": "badKey", "key": .string(key), "reason": .string(reason)]
    case .badValue(let path, let reason): return about("badValue", path, reason)
    case .notFound(let path, let reason): return about("notFound", path, reason)
    case .exists(let path, let reason): return about("exists", path, reason)
    case .invalid(let violations):
      return ["code": "invalid", "violations": .array(violations.map { value($0) })]
    case .notUnique(let path, let index, let other):
      return [
        "code": "notUnique", "path": .string(path.description),
        "index": .array(index.map { .string($0) }), "takenBy": .string(other.description),
      ]
    case .stillReferred(let path, let other, let property):
      return [
        "code": "stillReferred", "path": .string(path.description),
        "by": .string(other.description), "property": .string(property),
      ]
    case .conflict(let path, let expected, let found):
      return [
        "code": "conflict", "path": .string(path.description), "expected": number(expected),
        "found": number(found),
      ]
    case .misuse(let reason): return plain("misuse", reason)
    case .transactionTooLarge(let bytes, let limit):
      return [
        "code": "transactionTooLarge", "bytes": .integer(Int64(bytes)),
        "limit": .integer(Int64(limit)),
      ]
    case .busy(let reason): return plain("busy", reason)
    case .noSuchMoment(let reason): return plain("noSuchMoment", reason)
    case .readOnly(let reason): return plain("readOnly", reason)
    case .full(let reason): return plain("full", reason)
    case .compacted(let oldest): return ["code": "compacted", "oldest": number(oldest)]
    default: return nil
    }
  }

  private static func databaseError(_ code: String, _ members: ValueMap) -> DatabaseError? {
    let reason = members.text("reason") ?? ""
    switch code {
    case "badKey": return .badKey(members.text("key") ?? "", reason: reason)
    case "invalid": return .invalid(members.list("violations").compactMap(violation))
    case "misuse": return .misuse(reason: reason)
    case "busy": return .busy(reason: reason)
    case "noSuchMoment": return .noSuchMoment(reason: reason)
    case "readOnly": return .readOnly(reason: reason)
    case "full": return .full(reason: reason)
    case "compacted": return .compacted(oldest: members.sequence("oldest"))
    case "transactionTooLarge":
      return .transactionTooLarge(bytes: members.count("bytes"), limit: members.count("limit"))
    default: break
    }
    guard let path = members.path("path") else { return nil }
    switch code {
    case "badValue": return .badValue(path, reason: reason)
    case "notFound": return .notFound(path, reason: reason)
    case "exists": return .exists(path, reason: reason)
    case "notUnique":
      let index = members.list("index").compactMap { value -> String? in
        if case .string(let name) = value { name } else { nil }
      }
      return .notUnique(path, index: index, takenBy: members.path("takenBy") ?? .root)
    case "stillReferred":
      return .stillReferred(
        path, by: members.path("by") ?? .root, property: members.text("property") ?? "")
    case "conflict":
      return .conflict(
        path, expected: members.sequence("expected"), found: members.sequence("found"))
    default: return nil
    }
  }

  private static func number(_ sequence: SequenceNumber) -> Value {
    .integer(Int64(clamping: sequence.rawValue))
  }
}

extension ValueMap {
  /// The text of a member; nil where there is none.
  package func text(_ name: String) -> String? {
    if case .string(let text)? = self[name] { text } else { nil }
  }

  /// The path that the text of a member is; nil where there is none.
  package func path(_ name: String) -> NodePath? {
    text(name).flatMap { try? NodePath($0) }
  }

  /// The number of a member, 0 where there is none.
  package func count(_ name: String) -> Int {
    if case .integer(let number)? = self[name] { Int(clamping: number) } else { 0 }
  }

  /// The sequence number of a member, zero where there is none.
  package func sequence(_ name: String) -> SequenceNumber {
    SequenceNumber(UInt64(clamping: count(name)))
  }

  /// The elements of a member, none where it is no array.
  package func list(_ name: String) -> [Value] {
    if case .array(let elements)? = self[name] { elements } else { [] }
  }
}
