// Queries as parameters of a request: `orderBy="age"&startAt=26&limitToFirst=10`.

import Cambium

extension FirebaseQuery {
  private static let ranges = ["startAt", "startAfter", "endAt", "endBefore", "equalTo"]

  /// The query of a request; nil for the whole node.
  init?(_ request: Request) throws {
    guard let text = request[parameter: "orderBy"] else {
      let isAsked =
        FirebaseQuery.ranges.contains { request[parameter: $0] != nil }
        || request[parameter: "limitToFirst"] != nil || request[parameter: "limitToLast"] != nil
      if isAsked {
        throw FirebaseError.bad(
          "orderBy must be defined when other query parameters are defined")
      }
      return nil
    }
    if request[parameter: "shallow"] == "true" {
      throw FirebaseError.bad("Mixing 'shallow' and querying parameters is not supported")
    }
    order = try FirebaseQuery.order(text)
    try readRange(request)
    try readLimit(request)
  }

  private static func order(_ text: String) throws -> Order {
    guard case .string(let path)? = try? JSONReader.value(of: text, name: "orderBy", isTyped: false)
    else { throw FirebaseError.bad("orderBy must be a valid JSON encoded path") }
    switch path {
    case "$key": return .key
    case "$value": return .value
    case "$priority": return .priority
    default:
      let keys = try FirebasePath.keys(inText: path)
      guard !keys.isEmpty, keys.allSatisfy({ FirebasePath.isAllowed($0.description) }) else {
        throw FirebaseError.bad("orderBy must be a valid JSON encoded path")
      }
      return .child(keys)
    }
  }

  private mutating func readRange(_ request: Request) throws {
    var bounds: [String: FirebaseSortValue] = [:]
    for name in FirebaseQuery.ranges {
      if let text = request[parameter: name] { bounds[name] = try bound(name, text) }
    }
    if let value = bounds["equalTo"] {
      if bounds.count > 1 {
        throw FirebaseError.bad("equalTo cannot be specified in addition to startAt or endAt")
      }
      lower = Bound(value: value, isExclusive: false)
      upper = lower
      return
    }
    if bounds["startAt"] != nil && bounds["startAfter"] != nil {
      throw FirebaseError.bad("Only one of startAt and startAfter can be specified")
    }
    if bounds["endAt"] != nil && bounds["endBefore"] != nil {
      throw FirebaseError.bad("Only one of endAt and endBefore can be specified")
    }
    lower =
      bounds["startAt"].map { Bound(value: $0, isExclusive: false) }
      ?? bounds["startAfter"].map { Bound(value: $0, isExclusive: true) }
    upper =
      bounds["endAt"].map { Bound(value: $0, isExclusive: false) }
      ?? bounds["endBefore"].map { Bound(value: $0, isExclusive: true) }
  }

  private func bound(_ name: String, _ text: String) throws -> FirebaseSortValue {
    guard let value = try? FirebaseTree.json(Array(text.utf8)), !value.isContainer else {
      throw FirebaseError.bad("Constraint index field must be a JSON primitive: \(name)")
    }
    guard order == .key else { return FirebaseSortValue(stored: value) }
    guard case .string(let key) = value else {
      throw FirebaseError.bad("\(name) must be a string when ordering by $key")
    }
    let found = FirebaseName(key)
    // Every key is after the empty text.
    if key.isEmpty && name.hasPrefix("start") { return .null }
    if found.key == nil { throw FirebaseError.bad("\(name) must be a valid key") }
    return .key(found)
  }

  private mutating func readLimit(_ request: Request) throws {
    let first = try FirebaseQuery.limit("limitToFirst", request)
    let last = try FirebaseQuery.limit("limitToLast", request)
    if first != nil && last != nil {
      throw FirebaseError.bad("Only one of limitToFirst and limitToLast can be specified")
    }
    limit = first ?? last
    isFromEnd = last != nil
  }

  private static func limit(_ name: String, _ request: Request) throws -> Int? {
    guard let text = request[parameter: name] else { return nil }
    guard let limit = Int(text), limit > 0 else {
      throw FirebaseError.bad("\(name) must be a positive integer")
    }
    return limit
  }
}
