import Cambium
import Simulation

/// Firebase's tree as a nested dictionary, with its rules written down once more: nothing is empty,
/// a scalar goes where something is put below it, arrays are objects with the keys 0, 1, 2.
indirect enum NaiveTree: Equatable {
  case null
  case leaf(Value)
  case object([String: NaiveTree])

  /// From JSON that was read; numbers that are equal are one.
  init(json: Value) {
    switch json {
    case .null: self = .null
    case .map(let record):
      self = .object([:])
      for member in record.members { self[[member.name]] = NaiveTree(json: member.value) }
      if case .object(let members) = self, members.isEmpty { self = .null }
    case .array(let elements):
      self = .object([:])
      for (index, element) in elements.enumerated() {
        self[["\(index)"]] = NaiveTree(json: element)
      }
      if case .object(let members) = self, members.isEmpty { self = .null }
    case .double(let number) where Int64(exactly: number) != nil:
      self = .leaf(.integer(Int64(exactly: number) ?? 0))
    default: self = .leaf(json)
    }
  }

  init(text: String) throws {
    self.init(json: try JSONReader.value(of: text, name: "json", isTyped: false))
  }

  /// The tree at a path. Setting it makes and removes what is above.
  subscript(_ path: [String]) -> NaiveTree {
    get {
      guard let first = path.first else { return self }
      guard case .object(let members) = self else { return .null }
      return members[first]?[Array(path.dropFirst())] ?? .null
    }
    set {
      guard let first = path.first else {
        self = newValue
        return
      }
      var members: [String: NaiveTree] = [:]
      if case .object(let old) = self { members = old }
      var child = members[first] ?? .null
      child[Array(path.dropFirst())] = newValue
      if child == .null, case .leaf = self, newValue == .null { return }
      members[first] = child == .null ? nil : child
      self = members.isEmpty ? .null : .object(members)
    }
  }

  var children: [String: NaiveTree] {
    if case .object(let members) = self { members } else { [:] }
  }

  /// The tree as JSON, to be sent.
  var json: Value {
    switch self {
    case .null: .null
    case .leaf(let value): value
    case .object(let members): .map(ValueMap(members.map { ($0.key, $0.value.json) }))
    }
  }

  var text: String { JSONWriter.text(json, isPlain: true) }
}

/// A query as the naive model runs it: all children are sorted, filtered and cut.
struct NaiveQuery {
  var orderBy: String
  var startAt: Value?
  var startAfter: Value?
  var endAt: Value?
  var endBefore: Value?
  var first: Int?
  var last: Int?

  /// The rank and the values by which the tree's values are ordered.
  private static func place(_ tree: NaiveTree) -> (Int, Double, String) {
    switch tree {
    case .null: (0, 0, "")
    case .leaf(.bool(let value)): (value ? 2 : 1, 0, "")
    case .leaf(.integer(let number)): (3, Double(number), "")
    case .leaf(.double(let number)): (3, number, "")
    case .leaf(.string(let text)): (4, 0, text)
    default: (5, 0, "")
    }
  }

  /// Integers before other keys, by value; others by their bytes.
  private static func keyPlace(_ key: String) -> (Int, Double, String) {
    Int(key).map { (0, Double($0), "") } ?? (1, 0, key)
  }

  private func value(_ key: String, _ tree: NaiveTree) -> (Int, Double, String) {
    switch orderBy {
    case "$key": NaiveQuery.keyPlace(key)
    case "$value": NaiveQuery.place(tree)
    case "$priority": (0, 0, "")
    default: NaiveQuery.place(tree[orderBy.split(separator: "/").map(String.init)])
    }
  }

  private func bound(_ value: Value) -> (Int, Double, String) {
    if orderBy == "$key", case .string(let key) = value { return NaiveQuery.keyPlace(key) }
    return NaiveQuery.place(NaiveTree(json: value))
  }

  func answer(_ tree: NaiveTree) -> NaiveTree {
    // A node's own value beside its children is no child.
    let children = tree.children.filter { $0.key != ".value" }
    var found = children.map { (key: $0.key, place: value($0.key, $0.value)) }
    found.sort { a, b in
      a.place != b.place
        ? a.place < b.place : NaiveQuery.keyPlace(a.key) < NaiveQuery.keyPlace(b.key)
    }
    found = found.filter { item in
      if let startAt, item.place < bound(startAt) { return false }
      if let startAfter, item.place <= bound(startAfter) { return false }
      if let endAt, item.place > bound(endAt) { return false }
      if let endBefore, item.place >= bound(endBefore) { return false }
      return true
    }
    if let first { found = Array(found.prefix(first)) }
    if let last { found = Array(found.suffix(last)) }
    let members = found.map { ($0.key, tree.children[$0.key] ?? .null) }
    return members.isEmpty ? .null : .object(Dictionary(uniqueKeysWithValues: members))
  }

  /// The query as parameters.
  var parameters: [(String, String)] {
    var list = [("orderBy", JSONWriter.text(.string(orderBy)))]
    let bounds = [
      ("startAt", startAt), ("startAfter", startAfter), ("endAt", endAt), ("endBefore", endBefore),
    ]
    for (name, value) in bounds {
      if let value { list.append((name, JSONWriter.text(value, isPlain: true))) }
    }
    if let first { list.append(("limitToFirst", "\(first)")) }
    if let last { list.append(("limitToLast", "\(last)")) }
    return list
  }
}

/// Makes up trees, paths and queries.
struct NaiveMaker {
  var generator: SeededGenerator
  let keys = ["a", "b", "c", "name", "0", "1", "2", "7", "-3", "k\u{e9}", "Z"]

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func scalar() -> Value {
    switch generator.below(8) {
    case 0: .bool(generator.oneIn(2))
    case 1, 2, 3: .integer(Int64(generator.below(7)) - 2)
    case 4: .double(Double(generator.below(9)) / 4)
    case 5: .string(generator.pick(["", "x", "y", "z\u{1F600}", "a\"b\\\n", "1"]))
    default: .string(generator.pick(["red", "green", "blue"]))
    }
  }

  mutating func tree(depth: Int = 0) -> NaiveTree {
    if generator.oneIn(9) { return .null }
    if depth > 2 || generator.oneIn(2) { return NaiveTree(json: scalar()) }
    var tree = NaiveTree.null
    for _ in 0..<generator.below(5) { tree[[generator.pick(keys)]] = self.tree(depth: depth + 1) }
    return tree
  }

  mutating func path(_ most: Int = 4) -> [String] {
    (0..<generator.below(most + 1)).map { _ in generator.pick(keys) }
  }

  mutating func query() -> NaiveQuery {
    var query = NaiveQuery(
      orderBy: generator.pick(["$key", "$value", "$priority", "a", "name", "b/c", "0"]))
    func bound(_ maker: inout NaiveMaker) -> Value {
      if query.orderBy == "$key" { return .string(maker.generator.pick(maker.keys)) }
      return maker.generator.oneIn(6) ? .null : maker.scalar()
    }
    switch generator.below(4) {
    case 0: query.startAt = bound(&self)
    case 1: query.startAfter = bound(&self)
    default: break
    }
    switch generator.below(4) {
    case 0: query.endAt = bound(&self)
    case 1: query.endBefore = bound(&self)
    default: break
    }
    switch generator.below(3) {
    case 0: query.first = generator.below(4) + 1
    case 1: query.last = generator.below(4) + 1
    default: break
    }
    return query
  }
}
