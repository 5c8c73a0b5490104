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

  /// Adds the replacement of a place below.
  ///
  /// - Throws: ``FirebaseError`` where one place lies within another, or comes twice.
  mutating func add(_ keys: ArraySlice<Key>, _ tree: FirebaseTree?) throws {
    guard case .merge(var members) = self, let key = keys.first else {
      throw FirebaseError.bad("Invalid data; a path of the update lies within another one")
    }
    let name = FirebaseName(key)
    if let index = members.firstIndex(where: { $0.name == name }) {
      try members[index].edit.add(keys.dropFirst(), tree)
    } else {
      members.append(
        Member(name: name, edit: FirebaseEdit(at: keys.dropFirst(), .replace(tree))))
    }
    self = .merge(members)
  }

  /// Applies the edit to a tree in memory; nil where nothing is left.
  func applied(to old: FirebaseTree?) -> FirebaseTree? {
    switch self {
    case .replace(let tree): return tree
    case .merge(let changes):
      var members = old?.members ?? []
      for change in changes {
        let index = members.firstIndex { $0.name == change.name }
        let new = change.edit.applied(to: index.map { members[$0].tree })
        if let index { members.remove(at: index) }
        if let new { members.append(FirebaseTree.Member(name: change.name, tree: new)) }
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

  /// The edit with server values in place, at a time in milliseconds since 1970; `old` gives the
  /// scalar that is at a place.
  func resolved(
    now: Int64, at place: [FirebaseName] = [],
    old: ([FirebaseName]) throws -> FirebaseTree?
  ) rethrows -> FirebaseEdit {
    switch self {
    case .replace(let tree): .replace(try tree?.resolved(now: now, at: place, old: old))
    case .merge(let members):
      .merge(
        try members.map {
          Member(
            name: $0.name,
            edit: try $0.edit.resolved(now: now, at: place + [$0.name], old: old))
        })
    }
  }
}

extension FirebaseTree {
  fileprivate func resolved(
    now: Int64, at place: [FirebaseName], old: ([FirebaseName]) throws -> FirebaseTree?
  ) rethrows -> FirebaseTree {
    switch self {
    case .scalar: return self
    case .timestamp: return .scalar(.integer(now))
    case .increment(let step):
      guard case .scalar(let value)? = try old(place), value.isNumber else { return .scalar(step) }
      return .scalar(FirebaseTree.sum(value, step))
    case .object(let members):
      return .object(
        try members.map {
          Member(
            name: $0.name,
            tree: try $0.tree.resolved(now: now, at: place + [$0.name], old: old))
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
