import Cambium

/// The answers that a stream of a query shows.
///
/// Without a limit it holds nothing: whether a child was in the range and whether it is can be seen
/// at the two moments. With a limit it holds the values and keys of at most so many children, since
/// one that goes may let in another that has not changed.
struct FirebaseWindow: Sendable {
  let query: FirebaseQuery
  let listened: NodePath
  /// The answers in order; nil without a limit.
  private var kept: [FirebaseResult]?

  /// The window at a moment.
  init(_ query: FirebaseQuery, _ listened: NodePath, _ view: FirebaseView) throws {
    self.query = query
    self.listened = listened
    if let limit = query.limit {
      guard limit <= FirebaseQuery.limitMax else {
        throw FirebaseError.bad("A stream's limit is at most \(FirebaseQuery.limitMax)")
      }
      kept = try results(view)
    }
  }

  /// Moves the window to the next moment.
  ///
  /// - Returns: The changes that the stream is told, of the changed places below its node.
  mutating func step(
    _ places: [[Key]], from old: FirebaseView, to new: FirebaseView
  ) throws -> [FirebaseChange] {
    if places.contains([]) {
      if query.limit != nil { kept = try results(new) }
      return [FirebaseChange(keys: [], content: .results)]
    }
    let finder = FirebaseChangeFinder(listened: listened, old: old, new: new)
    var touched: [FirebaseName: [[Key]]] = [:]
    for place in places where !place.isEmpty {
      touched[FirebaseName(place[0]), default: []].append(place)
    }
    if touched.keys.contains(where: { $0.text.utf8.contains(UInt8(ascii: "/")) }) {
      if query.limit != nil { kept = try results(new) }
      return [FirebaseChange(keys: [], content: .results)]
    }
    let (before, after) = try move(touched.keys, old, new)
    var changes: [FirebaseChange] = []
    for name in Set(touched.keys).union(before.symmetricDifference(after)).sorted() {
      guard let key = name.key else { continue }
      switch (before.contains(name), after.contains(name)) {
      case (true, true): changes += try finder.changes(at: touched[name] ?? [])
      case (true, false): changes.append(FirebaseChange(keys: [key], content: .nothing))
      case (false, true): changes.append(FirebaseChange(keys: [key], content: .place))
      case (false, false): break
      }
    }
    return changes
  }

  /// The names of the answers before and after, as far as they may differ.
  private mutating func move(
    _ touched: some Collection<FirebaseName>, _ old: FirebaseView, _ new: FirebaseView
  ) throws -> (before: Set<FirebaseName>, after: Set<FirebaseName>) {
    guard let limit = query.limit, let shown = kept else {
      return (
        Set(try touched.filter { try result($0, old) != nil }),
        Set(try touched.filter { try result($0, new) != nil })
      )
    }
    let names = Set(touched)
    let moved = try names.compactMap { try result($0, new) }
    var next = (shown.filter { !names.contains($0.name) } + moved).sorted()
    // A child out of sight lies beyond the last one shown; nearer ones are known.
    let isFull = shown.count == limit
    if let edge = query.isFromEnd ? shown.first : shown.last, isFull {
      let near = next.filter { query.isFromEnd ? !($0 < edge) : !(edge < $0) }.count
      if near < limit { next = try results(new) }
    }
    next = Array(query.isFromEnd ? next.suffix(limit) : next.prefix(limit))
    kept = next
    return (Set(shown.map(\.name)), Set(next.map(\.name)))
  }

  /// A child as an answer at a moment; nil if it is none.
  private func result(_ name: FirebaseName, _ view: FirebaseView) throws -> FirebaseResult? {
    guard let key = name.key else { return nil }
    let child: FirebaseView.Child
    switch try view.place(at: listened.appending(key)) {
    case .node(let node): child = .node(node)
    case .part(let tree): child = .part(tree)
    case .nothing: return nil
    }
    let value = try query.sortValue(name, child, view)
    guard query.contains(value), try view.hasContent(child) else { return nil }
    return FirebaseResult(value: value, name: name)
  }

  private func results(_ view: FirebaseView) throws -> [FirebaseResult] {
    switch try view.place(at: listened) {
    case .nothing: return []
    case .part(let tree): return try query.results(in: tree, view)
    case .node(let node):
      var found: [FirebaseResult] = []
      try query.run(node, view) { result, _ in
        found.append(result)
        return true
      }
      return found.sorted()
    }
  }
}
