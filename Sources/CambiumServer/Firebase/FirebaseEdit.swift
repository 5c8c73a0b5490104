import Cambium

/// A change to the tree: what PUT and DELETE replace at one place, and PATCH at several at once.
indirect enum FirebaseEdit: Sendable {
  /// This takes the place of what is there; nil removes it.
  case replace(FirebaseTree?)
  /// Only these members change, each under a name once.
  case merge([Member])

  struct Member: Sendable {
    let name: FirebaseName
    var edit: FirebaseEdit
  }

  /// The edit of a place below.
  init(at keys: some BidirectionalCollection<Key>, _ edit: FirebaseEdit) {
    self = keys.reversed().reduce(edit) { inner, key in
      .merge([Member(name: FirebaseName(key), edit: inner)])
    }
  }

  /// The edit of several places.
  ///
  /// - Throws: ``FirebaseError`` where one place lies within another, or comes twice.
  init(_ changes: [(keys: ArraySlice<Key>, tree: FirebaseTree?)]) throws {
    if changes.count == 1, changes[0].keys.isEmpty {
      self = .replace(changes[0].tree)
      return
    }
    var order: [Key] = []
    var inner: [Key: [(keys: ArraySlice<Key>, tree: FirebaseTree?)]] = [:]
    for (keys, tree) in changes {
      guard let key = keys.first else {
        throw FirebaseError.bad("Invalid data; a path of the update lies within another one")
      }
      if inner[key] == nil { order.append(key) }
      inner[key, default: []].append((keys.dropFirst(), tree))
    }
    self = .merge(
      try order.map { key in
        Member(name: FirebaseName(key), edit: try FirebaseEdit(inner[key] ?? []))
      })
  }

  /// Applies the edit to a tree in memory; nil where nothing is left.
  func applied(to old: FirebaseTree?) -> FirebaseTree? {
    switch self {
    case .replace(let tree): return tree
    case .merge(let changes):
      let changed = Set(changes.map(\.name))
      var members = (old?.members ?? []).filter { !changed.contains($0.name) }
      for change in changes {
        if let new = change.edit.applied(to: old?[change.name]) {
          members.append(FirebaseTree.Member(name: change.name, tree: new))
        }
      }
      // A scalar stays unless something is put below it.
      if let old, !old.isObject, members.isEmpty { return old }
      return .of(members)
    }
  }

  /// True if a server value is anywhere in it.
  var hasServerValues: Bool {
    switch self {
    case .replace(let tree): tree?.hasServerValues ?? false
    case .merge(let members): members.contains { $0.edit.hasServerValues }
    }
  }

  /// The edit with server values in place, at a time in milliseconds since 1970; `base` gives the
  /// scalar that is at the place of an increment, and is called in the order of the edit.
  func resolved(
    now: Int64, at place: [FirebaseName] = [], base: ([FirebaseName]) throws -> Value
  ) rethrows -> FirebaseEdit {
    switch self {
    case .replace(let tree): .replace(try tree?.resolved(now: now, at: place, base: base))
    case .merge(let members):
      .merge(
        try members.map {
          Member(
            name: $0.name,
            edit: try $0.edit.resolved(now: now, at: place + [$0.name], base: base))
        })
    }
  }
}

extension FirebaseTree {
  fileprivate func resolved(
    now: Int64, at place: [FirebaseName], base: ([FirebaseName]) throws -> Value
  ) rethrows -> FirebaseTree {
    switch self {
    case .scalar: return self
    case .timestamp: return .scalar(.integer(now))
    case .increment(let step):
      let value = try base(place)
      return .scalar(value.isNumber ? FirebaseTree.sum(value, step) : step)
    case .object(let members):
      return .object(
        try members.map {
          Member(
            name: $0.name,
            tree: try $0.tree.resolved(now: now, at: place + [$0.name], base: base))
        })
    }
  }

  fileprivate var hasServerValues: Bool {
    switch self {
    case .scalar: false
    case .timestamp, .increment: true
    case .object(let members): members.contains { $0.tree.hasServerValues }
    }
  }

  private static func sum(_ a: Value, _ b: Value) -> Value {
    if case .integer(let a) = a, case .integer(let b) = b {
      let (sum, isTooLarge) = a.addingReportingOverflow(b)
      return isTooLarge ? .double(Double(a) + Double(b)) : .integer(sum)
    }
    return FirebaseScalar.rendered(.double(a.asDouble + b.asDouble))
  }
}

extension Value {
  fileprivate var asDouble: Double {
    switch self {
    case .integer(let number): Double(number)
    case .double(let number): number
    default: 0
    }
  }
}
