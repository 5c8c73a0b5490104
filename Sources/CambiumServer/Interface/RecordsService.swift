// Records for a store in another process, `RemoteStore`: what it needs beyond the commands' JSON,
// exactly. Everything is JSON that keeps types, as `cambium get -o json` shows it.
//
//     POST /v1/records                        one change, see RecordRequest; {"sequence", "record"}
//     GET  /v1/records?path=pets/1            {"sequence", "record": {"path", "modified", …}}
//     GET  /v1/records?place=pets             the key that a record created now would get
//     GET  /v1/records?schema=pets            the collection's declaration
//     GET  /v1/records?query=pets where …     the records that answer, each a line; then {"end"}
//     POST /v1/records/query                  the same, with the query as the body
//     GET  /v1/records/changes?path=pets      server-sent events: see RecordEvents.swift

import Cambium
import FoundationEssentials

/// Answers the requests of stores in other processes.
struct RecordsService: Service {
  static let path = "/v1/records"

  let database: Database
  let answered: AnsweredRequests
  let hub: CommitHub
  let streams: EventStreams
  private let writers = Workers.forBodies()

  /// True for the path of a request to this service.
  static func takes(_ path: String) -> Bool {
    path == RecordsService.path || path.hasPrefix(RecordsService.path + "/")
  }

  func answer(_ request: Request) async -> Response {
    do {
      switch (request.method, request.path) {
      case (.post, RecordsService.path): return try await change(request)
      case (.post, RecordsService.path + "/query"):
        return try list(String(decoding: request.body, as: UTF8.self), request)
      case (.get, RecordsService.path): return try read(request)
      case (.get, RecordsService.path + "/changes"):
        return try RecordEvents.answer(request, database, hub, streams)
      case (_, RecordsService.path):
        return Response(
          405, error: "wrong_method", "records are read by GET and changed by POST",
          headers: [("Allow", "GET, POST")])
      default: return Response(404, error: "not_found", "there is nothing at \(request.path)")
      }
    } catch { return RecordsService.answer(to: error, request.caller) }
  }

  // MARK: Changing

  private func change(_ request: Request) async throws -> Response {
    let change = try RecordRequest(request.body)
    guard request.caller.canWrite else {
      throw Refusal(
        status: 403, "read_only", "nothing may be written: the server, or this token, only reads")
    }
    try RecordsService.check(request.caller, change.path)
    try checkDeclared(change.collection)
    let metadata = request.caller.name.map { ["actor": $0] } ?? [:]
    let caller = request.caller
    let receipt = try await answered.write(request, metadata: metadata) { tx in
      let path = try change.perform(tx)
      try RecordsService.checkScope(caller, tx)
      return path
    }
    return try answer(receipt)
  }

  /// The answer to a change: the record as it was left by that transaction.
  private func answer(_ receipt: AnsweredRequests.Receipt) throws -> Response {
    var members: ValueMap = [
      "sequence": RecordsService.number(receipt.sequence),
      "changed": .bool(receipt.isRecorded),
    ]
    if case .string(let text) = receipt.value {
      members["path"] = .string(text)
      let path = try NodePath(text)
      do {
        try database.read(at: .sequence(receipt.sequence)) { snapshot in
          members["record"] = try RecordsService.record(snapshot[path])
        }
      } catch DatabaseError.compacted {
        // The change was made, and what it left can no longer be read.
        members["isGone"] = true
      }
    }
    return RecordsService.json(members)
  }

  /// Without a declaration no rule would hold.
  private func checkDeclared(_ collection: NodePath) throws {
    if try database.read({ try $0.definition(of: collection) }) != nil { return }
    throw DatabaseError.misuse(
      reason: "the collection \(collection) is not declared in the server's database; open it with "
        + "the app's models once, or use `cambium declare`")
  }

  // MARK: Reading

  private func read(_ request: Request) throws -> Response {
    if let text = request[parameter: "path"] {
      let path = try NodePath(text)
      try RecordsService.check(request.caller, path)
      return try database.read { snapshot in
        RecordsService.json([
          "sequence": RecordsService.number(snapshot.sequence),
          "record": try RecordsService.record(snapshot[path]) ?? .null,
        ])
      }
    }
    if let text = request[parameter: "place"] { return try place(try NodePath(text), request) }
    if let text = request[parameter: "schema"] {
      let path = try NodePath(text)
      try RecordsService.check(request.caller, path)
      let definition = try database.read { try $0.definition(of: path) }
      return RecordsService.json(["definition": try definition?.value ?? .null])
    }
    if let text = request[parameter: "query"] { return try list(text, request) }
    throw RecordRequest.Malformed(description: "path, place, schema or query is missing")
  }

  /// The place of a record that would be created now.
  private func place(_ path: NodePath, _ request: Request) throws -> Response {
    try RecordsService.check(request.caller, path)
    let key = try database.speculate { tx in try RecordRequest.freshKey(in: path, tx) }
    return RecordsService.json(["path": .string(path.appending(key).description)])
  }

  private func list(_ text: String, _ request: Request) throws -> Response {
    let snapshot = try database.snapshot()
    let query = try snapshot.records(text)
    guard query.isOfRecords else {
      throw RecordRequest.Malformed(description: "a list of records selects and groups nothing")
    }
    try RecordsService.check(request.caller, query)
    // Errors in the query are found before the answer begins.
    _ = try query.limit(0).fetch()
    return try RecordList(query: query, sequence: snapshot.sequence).response(writers)
  }

  // MARK: Parts of answers

  static func record(_ node: Node) throws -> Value? {
    guard let record = try node.record else { return nil }
    return .map([
      "path": .string(record.path.description),
      "modified": number(try node.modified ?? .zero), "values": .map(record.values),
    ])
  }

  static func number(_ sequence: SequenceNumber) -> Value {
    .integer(Int64(clamping: sequence.rawValue))
  }

  static func json(_ members: ValueMap, status: Int = 200) -> Response {
    var bytes: [UInt8] = []
    JSONWriter.append(members, to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
    return Response(status, json: bytes)
  }
}
