import Cambium
import FoundationEssentials

/// A question to the children of a node: an order, a range in that order, and a limit.
struct FirebaseQuery: Hashable, Sendable {
  enum Order: Hashable, Sendable {
    case key
    case value
    /// Nothing has a priority, so this is the order of the keys; values in the range are null.
    case priority
    /// By what lies at a path below each child.
    case child([Key])
  }

  struct Bound: Hashable, Sendable {
    let value: FirebaseSortValue
    let isExclusive: Bool
  }

  var order: Order
  var lower: Bound?
  var upper: Bound?
  var limit: Int?
  /// True if the limit keeps the last ones.
  var isFromEnd = false

  /// The most that a limit may keep where no index gives the order, and in a stream.
  static let limitMax = 100_000
}

/// A value that children are sorted by, in Firebase's order of values.
enum FirebaseSortValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  case string(String)
  /// A date, in microseconds. Firebase has none: they sort as moments, behind all texts.
  case moment(Int64)
  case key(FirebaseName)
  case object

  init(stored value: Value) {
    switch value {
    case .date(let date): self = .moment(date.microseconds)
    case .decimal(let number):
      let text = DecimalText.text(number)
      self = number.isNaN ? .string(text) : .double(Double(text) ?? .nan)
    case .map, .array, .blob: self = FirebaseTree(stored: value) == nil ? .null : .object
    default: self.init(scalar: FirebaseScalar.rendered(value))
    }
  }

  init(scalar value: Value) {
    self =
      switch value {
      case .bool(let value): .bool(value)
      case .integer(let number): .integer(number)
      case .double(let number): .double(number)
      case .string(let text): .string(text)
      default: .null
      }
  }

  init(_ tree: FirebaseTree) {
    if case .scalar(let value) = tree { self.init(scalar: value) } else { self = .object }
  }

  private var rank: Int {
    switch self {
    case .null: 0
    case .bool(let value): value ? 2 : 1
    case .integer, .double: 3
    case .string: 4
    case .moment: 5
    case .key: 6
    case .object: 7
    }
  }
}

extension FirebaseSortValue: Comparable {
  static func < (a: FirebaseSortValue, b: FirebaseSortValue) -> Bool {
    switch (a, b) {
    case (.integer(let a), .integer(let b)): a < b
    case (.integer(let a), .double(let b)): Double(a) < b
    case (.double(let a), .integer(let b)): a < Double(b)
    case (.double(let a), .double(let b)): a < b
    case (.string(let a), .string(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
    case (.moment(let a), .moment(let b)): a < b
    case (.key(let a), .key(let b)): a < b
    default: a.rank < b.rank
    }
  }

  static func == (a: FirebaseSortValue, b: FirebaseSortValue) -> Bool {
    switch (a, b) {
    case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
    default: !(a < b) && !(b < a)
    }
  }

  func hash(into hasher: inout Hasher) {
    switch self {
    case .integer(let number): hasher.combine(Double(number))
    case .double(let number): hasher.combine(number)
    case .string(let text): for byte in text.utf8 { hasher.combine(byte) }
    case .moment(let time): hasher.combine(time)
    case .key(let name): hasher.combine(name)
    default: hasher.combine(rank)
    }
  }

  /// As a bound sees it: a text that is a date is compared with dates as a moment.
  func compared(with value: FirebaseSortValue) -> FirebaseSortValue {
    guard case .moment = value, case .string(let text) = self,
      let date = DateText.parse(Array(text.utf8).span)
    else { return self }
    return .moment(date.microseconds)
  }
}

extension FirebaseQuery {
  /// True if a child with this value, or under this key, is in the range.
  func contains(_ value: FirebaseSortValue) -> Bool {
    if let lower {
      let bound = lower.value.compared(with: value)
      if value < bound || lower.isExclusive && value == bound { return false }
    }
    if let upper {
      let bound = upper.value.compared(with: value)
      if bound < value || upper.isExclusive && value == bound { return false }
    }
    return true
  }

  /// The order of the children's values, and what of it a child has.
  func sortValue(
    _ name: FirebaseName, _ child: FirebaseView.Child, _ view: FirebaseView
  ) throws -> FirebaseSortValue {
    switch order {
    case .key: .key(name)
    case .priority: .null
    case .value: try view.sortValue(child, [])
    case .child(let path): try view.sortValue(child, path[...])
    }
  }
}

extension FirebaseView {
  /// The value at a path below a child, to be sorted by.
  func sortValue(_ child: Child, _ path: ArraySlice<Key>) throws -> FirebaseSortValue {
    switch child {
    case .part(let tree):
      let found = tree.descendant(path.map { FirebaseName($0) })
      return found.map { FirebaseSortValue($0) } ?? .null
    case .node(let node):
      // The quick way to a property of a record, which decodes nothing else.
      if path.count == 1, let key = path.first, let value = try node[key.description] {
        return FirebaseSortValue(stored: value)
      }
      switch try place(at: path, below: node) {
      case .nothing: return .null
      case .part(let tree): return FirebaseSortValue(tree)
      case .node(let place): return try sortValue(of: place)
      }
    }
  }

  private func sortValue(of node: Node) throws -> FirebaseSortValue {
    guard try !node.hasChildren else { return try hasContent(node) ? .object : .null }
    guard let value = try node.value else { return .null }
    if case .map = value { return try ownTree(node) == nil ? .null : .object }
    return FirebaseSortValue(stored: value)
  }
}
