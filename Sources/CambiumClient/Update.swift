import Cambium

/// One attempt to change a model: the model as it was read, and the request that changes it.
struct Update<M: Model>: Sendable {
  /// The model; what is kept where there is nothing to change.
  let model: M
  /// The request; nil where nothing differs.
  let request: ValueMap?

  /// Reads the model and runs the body.
  ///
  /// - Throws: As `ModelStore.update`.
  init(
    _ id: ModelID<M>, _ path: NodePath, _ client: Client,
    _ body: @Sendable (inout M) throws -> Void
  ) async throws {
    guard let old = try await client.find(M.self, path, isPatient: true) else {
      throw DatabaseError.notFound(path, reason: "there is no such \(M.self)")
    }
    var new = old.model
    try body(&new)
    guard new.id == id else {
      throw DatabaseError.misuse(reason: "an update of \(id) has changed its id to \(new.id)")
    }
    try new.checkRules()
    var (before, after) = (old.record, old.record)
    try old.model.write(into: &before)
    try new.write(into: &after)
    model = old.model
    request = before == after ? nil : Update.request(old.record, after, old.modified)
  }

  /// The request for what differs.
  private static func request(
    _ old: DynamicRecord, _ new: DynamicRecord, _ modified: SequenceNumber
  ) -> ValueMap {
    var set = ValueMap()
    for member in new.values.members where old.values[member.name] != member.value {
      set[member.name] = member.value
    }
    let gone = old.names.filter { new.values[$0] == nil }
    return [
      "op": "update", "path": .string(old.path.description),
      "sequence": .integer(Int64(clamping: modified.rawValue)), "set": .map(set),
      "unset": .array(gone.map { .string($0) }),
    ]
  }
}

extension Client {
  /// A record that is a model of a type, and the transaction that changed it last; nil where there
  /// is none.
  func find<M: Model>(
    _ type: M.Type, _ path: NodePath, isPatient: Bool
  ) async throws -> (model: M, record: DynamicRecord, modified: SequenceNumber)? {
    try await check(type, isPatient: isPatient)
    let members = try await get(("path", path.description), isPatient: isPatient)
    guard let found = try ServerAnswer.record(members["record"]) else { return nil }
    if let model = try M.reading(found.record) { return (model, found.record, found.modified) }
    throw DatabaseError.notFound(path, reason: "the record is another case than \(M.self)")
  }
}

extension ServerAnswer {
  /// The body of a request.
  static func bytes(_ members: ValueMap) -> [UInt8] {
    var bytes: [UInt8] = []
    JSONWriter.append(members, to: &bytes)
    return bytes
  }
}
