import Cambium

/// A change of one record, as a store in another process asks for it: the body of `POST
/// /v1/records`, in JSON that keeps types.
///
///     {"op": "create", "path": "owners/ada", "values": {"name": "Ada"}}
///     {"op": "create", "collection": "pets", "values": {"owner": "ada"}}
///     {"op": "update", "path": "pets/1", "sequence": 12, "set": {"age": 3}, "unset": ["chip"]}
///     {"op": "delete", "path": "pets/1", "sequence": 12}
///
/// The second lets the database choose the key: the integer behind the greatest that there ever
/// was. With `sequence` it is only done if that transaction was the last to change the record.
struct RecordRequest: Sendable {
  enum Change: Sendable {
    case create(values: ValueMap)
    case update([(String, Value?)])
    case delete
  }

  /// A request that cannot be understood.
  struct Malformed: Error, CustomStringConvertible {
    let description: String
  }

  /// The record; of one that is to be created without a key, its collection.
  var path: NodePath
  var needsKey = false
  var change: Change
  var sequence: SequenceNumber?

  init(_ body: [UInt8]) throws {
    let text = String(decoding: body, as: UTF8.self)
    guard case .map(let members) = try JSONReader.value(of: text, name: "the body") else {
      throw Malformed(description: "the body is no object")
    }
    let known: Set<String> = ["op", "path", "collection", "values", "sequence", "set", "unset"]
    for member in members.members where !known.contains(member.name) {
      throw Malformed(description: "a change of a record has no \(member.name)")
    }
    let place = members.text("path") ?? members.text("collection")
    guard let place else { throw Malformed(description: "path is missing") }
    path = try NodePath(place)
    if members["sequence"] != nil { sequence = members.sequence("sequence") }
    switch members.text("op") {
    case "create":
      needsKey = members["path"] == nil
      change = .create(values: try RecordRequest.map("values", members))
    case "update":
      let gone = members.list("unset").map { value -> (String, Value?) in
        if case .string(let name) = value { (name, nil) } else { ("", nil) }
      }
      let set = try RecordRequest.map("set", members).members.map {
        ($0.name, Value?.some($0.value))
      }
      change = .update(gone + set)
    case "delete": change = .delete
    default: throw Malformed(description: "op is create, update or delete")
    }
    if !needsKey, members["path"] == nil { throw Malformed(description: "path is missing") }
  }

  private static func map(_ name: String, _ members: ValueMap) throws -> ValueMap {
    switch members[name] {
    case .map(let map)?: return map
    case nil: return ValueMap()
    default: throw Malformed(description: "\(name) is no object")
    }
  }

  /// The node whose children are the records.
  var collection: NodePath { needsKey ? path : path.parent ?? .root }

  /// Makes the change.
  ///
  /// - Returns: The record's path; null where there was none to delete.
  /// - Throws: ``DatabaseError`` for what the database refuses.
  func perform(_ tx: borrowing Database.Transaction) throws -> Value {
    if let sequence { try tx.expect(path, at: sequence) }
    switch change {
    case .create(let values):
      let place = needsKey ? path.appending(try RecordRequest.freshKey(in: path, tx)) : path
      try tx.insert(DynamicRecord(place, values))
      return .string(place.description)
    case .update(let properties):
      guard try tx[path].exists else {
        throw DatabaseError.notFound(path, reason: "there is no record")
      }
      if !properties.isEmpty { try tx.update(path, properties) }
    case .delete:
      guard try tx[path].exists else { return .null }
      try tx.remove(path)
    }
    return .string(path.description)
  }

  /// The key that a new record gets.
  static func freshKey(
    in collection: NodePath, _ tx: borrowing Database.Transaction
  ) throws -> Key {
    let last = max(try tx.greatestKey(of: collection) ?? 0, 0)
    if last < .max { return .integer(last + 1) }
    throw DatabaseError.misuse(reason: "no integer is left for a key in \(collection)")
  }
}
