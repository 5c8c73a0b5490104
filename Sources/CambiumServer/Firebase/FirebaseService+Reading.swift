// Reading: whole where it is short, piece by piece where it is long.

import Cambium
import FoundationEssentials

extension FirebaseService {
  /// An answer is longer than what is made before it is sent.
  private struct TooLong: Error {}

  func read(
    _ path: NodePath, _ request: Request, _ options: FirebaseOptions
  ) throws -> Response {
    let query = try FirebaseQuery(request)
    let snapshot = try database.snapshot(at: options.moment)
    let view = FirebaseView(snapshot)
    var headers: [(name: String, value: String)] = [
      ("X-Cambium-Sequence", snapshot.sequence.description)
    ]
    if let query, case .node(let node) = try view.place(at: path),
      try query.isUnindexed(at: node, in: view)
    {
      headers.append(("X-Cambium-Unindexed", query.header(path)))
    }
    let seen = request[header: "if-none-match"]
    if request[header: "x-firebase-etag"] == "true" || seen != nil {
      let tag = try FirebaseService.tag(of: path, view, query, options)
      headers.append(("ETag", tag))
      if let seen, FirebaseETag.matches(seen, tag) { return Response(304, headers: headers) }
    }
    if options.isSilent { return Response(204, headers: headers) }
    do {
      var whole: [UInt8] = []
      try FirebaseService.render(path, view, query, options) { piece in
        if whole.count + piece.count > FirebaseService.wholeBytesMax { throw TooLong() }
        whole += piece
      }
      return Response(json: whole, headers: headers)
    } catch is TooLong {
      return try long(path, snapshot, query, options, headers)
    }
  }

  /// Sends an answer while it is made.
  private func long(
    _ path: NodePath, _ snapshot: Snapshot, _ query: FirebaseQuery?, _ options: FirebaseOptions,
    _ headers: [(name: String, value: String)]
  ) throws -> Response {
    let pipe = BodyPipe()
    let isStarted = writers.write {
      do {
        try FirebaseService.render(path, FirebaseView(snapshot), query, options) { piece in
          try pipe.write(piece)
        }
        pipe.finish()
      } catch {
        // The client sees a body that is broken off, and not one that looks whole.
        pipe.abandon()
      }
    }
    guard isStarted else { throw FirebaseError.tooManyBodies }
    return Response(
      200, headers: [("Content-Type", "application/json; charset=utf-8")] + headers,
      body: .pipe(pipe))
  }

  /// Writes what lies at a path as JSON.
  static func render(
    _ path: NodePath, _ view: FirebaseView, _ query: FirebaseQuery?, _ options: FirebaseOptions,
    _ sink: @escaping ([UInt8]) throws -> Void
  ) throws {
    let json = FirebaseJSON(isPretty: options.isPretty, sink: sink)
    var deadline = FirebaseDeadline(options.timeout)
    try withoutActuallyEscaping({ () throws -> Void in try deadline.check() }) { check in
      let renderer = FirebaseRenderer(
        view: view, json: json, asArrays: !options.isExport, check: check)
      let place = try view.place(at: path)
      if options.isShallow {
        try renderer.shallow(place)
      } else if let query {
        try renderer.results(of: query, place)
      } else {
        try renderer.place(nil, place)
      }
      try json.finish()
    }
  }

  /// The tag of what lies at a path.
  static func tag(
    of path: NodePath, _ view: FirebaseView, _ query: FirebaseQuery? = nil,
    _ options: FirebaseOptions? = nil
  ) throws -> String {
    var tag = FirebaseETag()
    let json = FirebaseJSON { tag.add($0) }
    var deadline = FirebaseDeadline(options?.timeout)
    try withoutActuallyEscaping({ () throws -> Void in try deadline.check() }) { check in
      let renderer = FirebaseRenderer(view: view, json: json, check: check)
      let place = try view.place(at: path)
      if let query {
        try renderer.results(of: query, place)
      } else {
        try renderer.place(nil, place)
      }
    }
    let isEmpty = json.isEmpty
    try json.finish()
    return isEmpty ? FirebaseETag.null : tag.text
  }
}

extension FirebaseQuery {
  /// The places for which an index is missing: `flights/departureDelay`.
  func header(_ path: NodePath) -> String {
    var keys = path.keys
    if case .child(let names) = order { keys += names }
    let text = NodePath(keys: keys).description
    return text.unicodeScalars.map { $0.isASCII && $0.value >= 0x20 ? String($0) : "?" }.joined()
  }
}

extension FirebaseRenderer {
  /// Renders the answers of a query as an object.
  func results(of query: FirebaseQuery, _ place: FirebaseView.Place) throws {
    json.begin(nil)
    try answers(of: query, place) { name, child in try self.child(name, child) }
    json.end()
  }

  private func answers(
    of query: FirebaseQuery, _ place: FirebaseView.Place,
    _ body: (FirebaseName, FirebaseView.Child) throws -> Void
  ) throws {
    switch place {
    case .nothing: break
    case .node(let node):
      try query.run(node, view, check: check) { result, child in
        try body(result.name, child)
        return true
      }
    case .part(let tree):
      for result in try query.results(in: tree, view) {
        if let child = tree[result.name] { try body(result.name, .part(child)) }
      }
    }
  }
}

extension FirebaseQuery {
  /// The answers within a record's or an array's part, which is in memory.
  func results(in tree: FirebaseTree, _ view: FirebaseView) throws -> [FirebaseResult] {
    let all = try tree.members.compactMap { member -> FirebaseResult? in
      let value = try sortValue(member.name, .part(member.tree), view)
      guard contains(value) else { return nil }
      return FirebaseResult(value: value, name: member.name)
    }.sorted()
    guard let limit else { return all }
    return Array(isFromEnd ? all.suffix(limit) : all.prefix(limit))
  }
}
