import Cambium

/// A change as a stream tells it: a place below the listened node, and what is there now.
struct FirebaseChange {
  enum Content: Equatable {
    case nothing
    /// The newer moment's tree there.
    case place
    /// The answers of the stream's query; of the listened node alone.
    case results
  }

  let keys: [Key]
  let content: Content
}

/// Finds the changes that a listened node's clients are told, as few and as high as possible.
///
/// A node that appears is told as a whole, once, at the highest place where nothing was; one that
/// goes, at the highest place at which nothing is left; both below the listened node. Where a
/// scalar gets children, or children leave a scalar behind, the scalar's place is told as a whole.
struct FirebaseChangeFinder {
  let listened: NodePath
  let old: FirebaseView
  let new: FirebaseView

  /// The changes at places relative to the listened node, none within another. The ones in `whole`
  /// are told even if nothing seems to have changed there.
  func changes(at places: [[Key]], whole: [[Key]] = []) throws -> [FirebaseChange] {
    var changes: [FirebaseChange] = []
    for place in places {
      let all = whole.contains(place) ? all(of: place) : nil
      guard let change = try change(at: place) ?? all else { continue }
      if let last = changes.last, change.keys.starts(with: last.keys) { continue }
      changes.append(change)
    }
    return changes
  }

  private func all(of place: [Key]) -> FirebaseChange {
    FirebaseChange(keys: FirebaseChangeFinder.nameable(place), content: .place)
  }

  private func change(at place: [Key]) throws -> FirebaseChange? {
    let place = FirebaseChangeFinder.nameable(place)
    for count in place.indices {
      let keys = Array(place[..<count])
      let (before, after) = (try shape(old, keys), try shape(new, keys))
      if before == after {
        if after == .nothing { return nil }
      } else if count > 0 || before != .nothing && after != .nothing {
        return FirebaseChange(keys: keys, content: after == .nothing ? .nothing : .place)
      }
    }
    let (before, after) = (try shape(old, place), try shape(new, place))
    switch after {
    case .nothing: return before == .nothing ? nil : FirebaseChange(keys: place, content: .nothing)
    case .scalar where before == after: return nil
    default: return FirebaseChange(keys: place, content: .place)
    }
  }

  /// The form of a place. Where it changes above a changed place, the client must have all of it,
  /// since it cannot make one form from another: only the server knows the value that a child was
  /// put beside, or that is left when the last child goes.
  private enum Shape: Equatable {
    case nothing
    case scalar(Value)
    /// A single value and children: an object with `.value`.
    case mixed
    case object
  }

  private func shape(_ view: FirebaseView, _ keys: [Key]) throws -> Shape {
    switch try view.place(at: keys.reduce(listened) { $0.appending($1) }) {
    case .nothing: return .nothing
    case .part(.scalar(let value)): return .scalar(value)
    case .part: return .object
    case .node(let node):
      if case .scalar(let value)? = try view.ownTree(node) {
        return try node.hasChildren ? .mixed : .scalar(value)
      }
      return try view.hasContent(node) ? .object : .nothing
    }
  }

  /// The part of a place up to the first key that the path of an event cannot name.
  static func nameable(_ place: [Key]) -> [Key] {
    let end = place.firstIndex { $0.description.utf8.contains(UInt8(ascii: "/")) }
    return Array(place[..<(end ?? place.count)])
  }
}

/// Writes the events of streams, piece by piece.
struct FirebaseEventWriter {
  let listened: NodePath
  let query: FirebaseQuery?
  let view: FirebaseView
  let sink: ([UInt8]) throws -> Void

  /// The event that tells the whole listened node, or the answers of the query.
  func whole(_ id: SequenceNumber) throws {
    try changes([FirebaseChange(keys: [], content: query == nil ? .place : .results)], id)
  }

  /// One event for all changes of a commit: `put` for one place, `patch` for several.
  func changes(_ changes: [FirebaseChange], _ id: SequenceNumber) throws {
    guard let first = changes.first else { return }
    let json = FirebaseJSON(sink: sink)
    json.raw("id: \(id)\nevent: \(changes.count == 1 ? "put" : "patch")\ndata: {\"path\":".utf8)
    let base = changes.count == 1 ? first.keys : FirebaseEventWriter.common(changes)
    var path: [UInt8] = []
    JSONText.append(FirebasePath.text(base), to: &path)
    json.raw(path)
    json.raw(",\"data\":".utf8)
    if changes.count == 1 {
      try data(first, json)
    } else {
      var separator = "{"
      for change in changes {
        var name: [UInt8] = []
        JSONText.append(
          change.keys[base.count...].map(\.description).joined(separator: "/"), to: &name)
        json.raw(separator.utf8)
        json.raw(name)
        json.raw(":".utf8)
        separator = ","
        try data(change, json)
      }
      json.raw("}".utf8)
    }
    json.raw("}\n\n".utf8)
    try json.flush()
  }

  /// The longest path that all changes lie below, and none is at.
  private static func common(_ changes: [FirebaseChange]) -> [Key] {
    var common = changes[0].keys.dropLast()
    for change in changes {
      let count = zip(common, change.keys.dropLast()).prefix { $0 == $1 }.count
      common = common.prefix(count)
    }
    return Array(common)
  }

  private func data(_ change: FirebaseChange, _ json: FirebaseJSON) throws {
    json.restart()
    let renderer = FirebaseRenderer(view: view, json: json)
    let path = change.keys.reduce(listened) { $0.appending($1) }
    switch change.content {
    case .nothing: break
    case .place: try renderer.place(nil, try view.place(at: path))
    case .results:
      if let query { try renderer.results(of: query, try view.place(at: path)) }
    }
    if json.isEmpty { json.raw("null".utf8) }
  }
}
