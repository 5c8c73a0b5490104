import Cambium
import Dispatch
import FoundationEssentials
import Synchronization

/// Answers as the Firebase Realtime Database does, so that its clients can use this one unchanged:
/// `GET`, `PUT`, `PATCH`, `POST` and `DELETE` of `/<path>.json`, and streams of events.
///
///     request ──▶ path, options, scope ──▶ GET     FirebaseView ──▶ FirebaseRenderer ──▶ JSON
///                                          stream  FirebaseStreams ──▶ put, patch
///                                          other   FirebaseEdit ──▶ FirebaseWriter ──▶ commit
///
/// ``FirebaseTree`` says how the two trees are mapped.
final class FirebaseService: Service {
  /// The bytes of an answer up to which it is made before it is sent. A longer one is sent while it
  /// is made, and an error breaks it off.
  static let wholeBytesMax = 1 << 20

  let database: Database
  let streams: FirebaseStreams
  let writers = Workers.forBodies()
  private let answered: AnsweredRequests
  private let pushIDs: PushIDs
  private let clock: @Sendable () -> Date

  /// - Parameters:
  ///   - database: The database that is served.
  ///   - answered: Makes the writes, so that one with an `Idempotency-Key` is made once.
  ///   - hub: Reads the commits for the streams.
  ///   - events: The server's open streams.
  ///   - clock: The time of day, for push ids and server values.
  init(
    database: Database, answered: AnsweredRequests, hub: CommitHub, events: EventStreams,
    clock: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.database = database
    self.answered = answered
    self.clock = clock
    pushIDs = PushIDs(clock: clock)
    streams = FirebaseStreams(database, hub, events)
  }

  func answer(_ request: Request) async -> Response {
    do {
      let method = try FirebaseService.method(of: request)
      let path = try FirebasePath.read(request.path)
      let options = try FirebaseOptions(request)
      guard request.caller.covers(path) else { throw FirebaseError.denied }
      switch method {
      case .get, .head:
        if FirebaseService.wantsEvents(request) {
          return try await stream(path, request, options)
        }
        return try read(path, request, options)
      case .options: return Response(204, headers: [("Allow", "GET, PUT, PATCH, POST, DELETE")])
      case .put, .patch, .post, .delete:
        guard request.caller.canWrite else { throw FirebaseError.denied }
        return try await write(path, method, request, options)
      }
    } catch {
      return FirebaseError(error, request.caller).response
    }
  }

  /// The method, which a POST may override: some networks let no other pass. A GET may not, since
  /// it could come from another site.
  private static func method(of request: Request) throws -> Request.Method {
    guard request.method == .post,
      let name = request[header: "x-http-method-override"]
        ?? request[parameter: "x-http-method-override"]
    else { return request.method }
    guard let method = Request.Method(rawValue: name.uppercased()) else {
      throw FirebaseError.bad("X-HTTP-Method-Override names an unknown method")
    }
    return method
  }

  private static func wantsEvents(_ request: Request) -> Bool {
    request[header: "accept"]?.contains("text/event-stream") ?? false
  }

  private func stream(
    _ path: NodePath, _ request: Request, _ options: FirebaseOptions
  ) async throws -> Response {
    if options.isPast { throw FirebaseError.bad("at and a stream exclude each other") }
    if options.isShallow { throw FirebaseError.bad("shallow and a stream exclude each other") }
    let query = try FirebaseQuery(request)
    try await streams.catchUp()
    return try streams.open(path, query, request)
  }

  // MARK: Writing

  private func write(
    _ path: NodePath, _ method: Request.Method, _ request: Request, _ options: FirebaseOptions
  ) async throws -> Response {
    if options.isPast { throw FirebaseError.bad("the past cannot be written to") }
    if request.body.count > options.writeBytesMax {
      throw FirebaseError.bad("Data to write exceeds the maximum size that writeSizeLimit allows")
    }
    try FirebasePath.checkWritable(path)
    switch method {
    case .put:
      let tree = try FirebaseTree.parse(request.body, below: path)
      return try await put(path, tree, request, options)
    case .delete: return try await put(path, nil, request, options)
    case .patch: return try await patch(path, request, options)
    default: return try await push(path, request, options)
    }
  }

  private func put(
    _ path: NodePath, _ tree: FirebaseTree?, _ request: Request, _ options: FirebaseOptions
  ) async throws -> Response {
    let edit = FirebaseEdit(at: path.keys, .replace(tree))
    let wanted = request[header: "if-match"]
    let wantsTag = wanted != nil || request[header: "x-firebase-etag"] == "true"
    var attempt = 0
    while true {
      var condition: Condition?
      if let wanted {
        let snapshot = try database.snapshot()
        let tag = try FirebaseService.tag(of: path, FirebaseView(snapshot))
        let isMet = FirebaseETag.matches(wanted, tag)
        condition = Condition(snapshot: snapshot, tag: tag, isMet: isMet)
      }
      do {
        let outcome = try await commit(edit, path, request, condition, wantsTag: wantsTag)
        var headers: [(name: String, value: String)] = []
        if let tag = outcome.tag { headers.append(("ETag", tag)) }
        if options.isSilent { return Response(204, headers: headers) }
        let tree = outcome.resolved(edit).value(at: path.keys)
        return Response(json: try json(tree, options), headers: headers)
      } catch let error as Outrun {
        // Somebody else has written there; perhaps the value is still, or again, the same.
        attempt += 1
        if attempt > 20 { throw error.conflict }
      } catch let error as FirebaseError {
        guard let condition, error == .unmet else { throw error }
        return try refusal(path, condition, options)
      }
    }
  }

  /// The condition of a write, as of a snapshot.
  private struct Condition: Sendable {
    let snapshot: Snapshot
    let tag: String
    let isMet: Bool
  }

  /// The value was written to after the snapshot at which the condition held.
  private struct Outrun: Error {
    let conflict: DatabaseError
  }

  /// The refusal of a conditional write: the value that is there, with its tag.
  private func refusal(
    _ path: NodePath, _ condition: Condition, _ options: FirebaseOptions
  ) throws -> Response {
    let view = FirebaseView(condition.snapshot)
    let json = FirebaseJSON(isPretty: options.isPretty)
    try FirebaseRenderer(view: view, json: json).place(nil, try view.place(at: path))
    try json.finish()
    return Response(412, json: json.bytes, headers: [("ETag", condition.tag)])
  }

  private func patch(
    _ path: NodePath, _ request: Request, _ options: FirebaseOptions
  ) async throws -> Response {
    let members = try FirebaseTree.parseMembers(request.body)
    var changes: [(keys: ArraySlice<Key>, tree: FirebaseTree?)] = []
    for member in members {
      let keys = try FirebasePath.keys(inText: member.name)
      if keys.isEmpty { throw FirebaseError.bad("Invalid data; a path of the update is empty") }
      let place = keys.reduce(path) { $0.appending($1) }
      try FirebasePath.checkWritable(place)
      guard request.caller.covers(place) else { throw FirebaseError.denied }
      let tree = try FirebaseTree.tree(of: member.value, depth: place.depth)
      changes.append((keys[...], tree))
    }
    let edit = members.isEmpty ? .merge([]) : try FirebaseEdit(changes)
    let whole = FirebaseEdit(at: path.keys, edit)
    let outcome = try await commit(whole, path, request)
    if options.isSilent { return Response(204) }
    if members.isEmpty { return Response(json: Array("{}".utf8)) }
    let json = FirebaseJSON(isPretty: options.isPretty)
    let resolved = edit.hasServerValues ? outcome.resolved(whole) : nil
    json.begin(nil)
    for (member, change) in zip(members, changes) {
      let name = FirebaseName(member.name)
      let tree = resolved.map { $0.value(at: path.keys + change.keys) } ?? change.tree
      if let tree {
        try json.tree(name, tree, asArrays: true)
      } else {
        try json.scalar(name, .null)
      }
    }
    json.end()
    try json.finish()
    return Response(json: json.bytes)
  }

  private func push(
    _ path: NodePath, _ request: Request, _ options: FirebaseOptions
  ) async throws -> Response {
    let name = pushIDs.next()
    let place = path.appending(try Key(name))
    try FirebasePath.checkWritable(place)
    let tree = try FirebaseTree.parse(request.body, below: place)
    let edit = FirebaseEdit(at: place.keys, .replace(tree))
    let outcome = try await commit(edit, place, request, name: name)
    // From here on nothing may fail: the client would push again.
    if options.isSilent { return Response(204) }
    return Response(json: Array("{\"name\":\"\(outcome.name ?? name)\"}".utf8))
  }

  /// Makes a write, or finds the outcome of the same request that was made before: then its
  /// condition, which it may have changed itself, does not count.
  ///
  /// - Throws: ``Outrun``, ``FirebaseError``, ``DatabaseError``, ``AnsweredRequests/KeyError``.
  private func commit(
    _ edit: FirebaseEdit, _ path: NodePath, _ request: Request, _ condition: Condition? = nil,
    wantsTag: Bool = false, name: String? = nil
  ) async throws -> FirebaseOutcome {
    if condition?.isMet == false, request[header: "idempotency-key"] == nil {
      throw FirebaseError.unmet
    }
    let schema = try database.snapshot()
    let guarded = try condition.map { _ in try FirebaseView(schema).guardedPath(path) }
    let now = clock().microseconds / 1000
    let caller = request.caller
    let metadata = caller.name.map { ["actor": $0] } ?? [:]
    let receipt = try await answered.write(
      request, metadata: metadata, refusal: FirebaseError.self
    ) { tx in
      if let condition, let guarded { try FirebaseService.check(condition, guarded, tx) }
      let writer = FirebaseWriter(schema: schema, caller: caller, now: now)
      var outcome = FirebaseOutcome(now: now, name: name)
      outcome.bases = try writer.apply(edit, tx)
      try FirebaseService.checkScope(caller, tx)
      if wantsTag {
        outcome.tag = try FirebaseService.tag(of: path, FirebaseView(tx, schema: schema))
      }
      return outcome.value
    }
    return FirebaseOutcome(receipt.value)
  }

  private static func check(
    _ condition: Condition, _ guarded: NodePath, _ tx: borrowing Database.Transaction
  ) throws {
    if !condition.isMet { throw FirebaseError.unmet }
    do { try tx.expect(unchanged: guarded, since: condition.snapshot.sequence) } catch {
      guard let error = error as? DatabaseError, case .conflict = error else { throw error }
      throw Outrun(conflict: error)
    }
  }

  /// Refuses consequences outside of a caller's scope, such as those of delete rules. A change of a
  /// property is one of its record, which may lie above the scope.
  private static func checkScope(
    _ caller: Caller, _ tx: borrowing Database.Transaction
  ) throws {
    if caller.scope.isRoot { return }
    try tx.changesSoFar().forEach { change in
      guard caller.covers(change.path) || caller.scope.isWithin(change.path) else {
        throw FirebaseError.denied
      }
    }
  }

  private func json(_ tree: FirebaseTree?, _ options: FirebaseOptions) throws -> [UInt8] {
    let json = FirebaseJSON(isPretty: options.isPretty)
    if let tree { try json.tree(nil, tree, asArrays: !options.isExport) }
    try json.finish()
    return json.bytes
  }
}

extension FirebaseEdit {
  /// The value that a place gets; nil for none.
  fileprivate func value(at keys: [Key]) -> FirebaseTree? {
    var edit = self
    for key in keys {
      guard case .merge(let members) = edit,
        let member = members.first(where: { $0.name == FirebaseName(key) })
      else { return nil }
      edit = member.edit
    }
    return edit.applied(to: nil)
  }
}

extension FirebaseView {
  /// The node or property that guards a place: what lies within a property is guarded by it.
  fileprivate func guardedPath(_ path: NodePath) throws -> NodePath {
    var node = root
    var guarded = NodePath.root
    for key in path.keys {
      guarded = guarded.appending(key)
      node = node.child(key)
      if try !node.isNode {
        // Of an array that is a node's value, the node.
        guard let parent = guarded.parent, case .array = try root.descendant(parent).value else {
          return guarded
        }
        return parent
      }
    }
    return guarded
  }
}

extension Node {
  fileprivate func descendant(_ path: NodePath) -> Node {
    path.keys.reduce(self) { $0.child($1) }
  }
}
