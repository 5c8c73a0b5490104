// A database as Firebase has it: a tree of objects and scalars, in which nothing is empty.
//
// Reading. Cambium's nodes have a value or a record, and children; Firebase's have either a scalar
// or children.
//
//     Cambium                                  JSON
//     node without value and children          absent, as null and empty objects are
//     node with children                       object
//     node with a record                       object: its properties, and its children beside them
//     node with a single value                 the scalar
//     node with a single value and children    object: the children, and ".value"
//     declared default of an absent property   the default
//     integer                                  number, with all digits
//     double                                   number, without ".0"; "nan", "inf", "-inf"
//     decimal                                  number if a double has its digits, otherwise text
//     date                                     "2013-01-01T10:00:00.25Z"
//     UUID                                     "0190163d-8694-739b-aea5-966c26f8ad91"
//     data                                     base64
//     reference                                the path, "users/ada"
//     blob                                     {"hash": "<64 digits>", "size": 1048576}
//     array, and map in a record               object; an array if its keys are dense integers
//
// Writing. A value that is the JSON of what is there changes nothing, so that whatever was read can
// be written back, and only what differs gets into the log.
//
//     where                                    is stored as
//     a declared property                      its type; an error if the value does not fit it
//     another property, a node with a value    the kind that was there if the text is one, else
//                                              JSON's
//     a new child of a declared collection     a record
//     a new name in a record                   a property if it is a scalar, otherwise a child node
//     elsewhere                                nodes, one for each scalar, so that each has its own
//                                              history and a deep write touches one
import Cambium
import FoundationEssentials

/// A part of the tree in memory: of a request, or of a stored value.
enum FirebaseTree: Equatable, Sendable {
  /// A value as JSON has it: never null, a container, or of a kind that JSON lacks.
  case scalar(Value)
  /// Members in the order of their keys; never empty.
  case object([Member])
  /// The time of the write, in milliseconds since 1970.
  case timestamp
  /// The number that is there, and so much more.
  case increment(Value)

  struct Member: Equatable, Sendable {
    let name: FirebaseName
    let tree: FirebaseTree
  }

  /// An object of members in any order; nil if there are none.
  static func of(_ members: [Member]) -> FirebaseTree? {
    members.isEmpty ? nil : .object(members.sorted { $0.name < $1.name })
  }

  /// The member under a name; nil for none, and for a scalar.
  subscript(_ name: FirebaseName) -> FirebaseTree? {
    guard case .object(let members) = self else { return nil }
    var (low, high) = (0, members.count)
    while low < high {
      let middle = (low + high) / 2
      if members[middle].name < name { low = middle + 1 } else { high = middle }
    }
    return low < members.count && members[low].name == name ? members[low].tree : nil
  }

  /// The members of an object.
  var members: [Member] {
    if case .object(let members) = self { members } else { [] }
  }

  var isObject: Bool { if case .object = self { true } else { false } }

  /// The tree at names below.
  func descendant(_ names: some Sequence<FirebaseName>) -> FirebaseTree? {
    var tree: FirebaseTree? = self
    for name in names { tree = tree?[name] }
    return tree
  }
}

/// A name among its siblings: a key, or a name in a stored value that cannot be one.
struct FirebaseName: Hashable, Comparable, Sendable {
  let text: String
  /// Nil for a text that cannot be a key, which is empty or too long.
  let key: Key?

  init(_ text: String) {
    self.text = text
    key = try? Key(text)
  }

  init(_ key: Key) {
    self.key = key
    text = key.description
  }

  /// The name of an element of an array.
  init(_ index: Int) { self.init(Key.integer(Int64(index))) }

  static func == (a: FirebaseName, b: FirebaseName) -> Bool {
    a.text.utf8.elementsEqual(b.text.utf8)
  }

  func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }

  /// Integers by value, then UUIDs, then texts by their bytes; last, what cannot be a key.
  static func < (a: FirebaseName, b: FirebaseName) -> Bool {
    switch (a.key, b.key) {
    case (let a?, let b?): a < b
    case (nil, nil): a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
    case (let a, _): a != nil
    }
  }

  /// The place in an array; nil for other keys.
  var index: Int? {
    if case .integer(let number) = key, number >= 0 { Int(number) } else { nil }
  }

  static let value = FirebaseName(".value")
}

extension FirebaseTree {
  /// The tree of a stored value; nil for null and for what is empty.
  init?(stored value: Value) {
    switch value {
    case .map(let record):
      let members = record.members.compactMap { member in
        FirebaseTree(stored: member.value).map {
          Member(name: FirebaseName(member.name), tree: $0)
        }
      }
      guard let tree = FirebaseTree.of(members) else { return nil }
      self = tree
    case .array(let elements):
      let members = elements.enumerated().compactMap { index, element in
        FirebaseTree(stored: element).map { Member(name: FirebaseName(index), tree: $0) }
      }
      guard let tree = FirebaseTree.of(members) else { return nil }
      self = tree
    case .blob(let blob):
      let digits = blob.hash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
      self = .object([
        Member(name: FirebaseName("hash"), tree: .scalar(.string(digits.joined()))),
        Member(name: FirebaseName("size"), tree: .scalar(.integer(Int64(clamping: blob.size)))),
      ])
    default:
      let scalar = FirebaseScalar.rendered(value)
      if scalar == .null { return nil }
      self = .scalar(scalar)
    }
  }

  /// The value that the tree is in a record or an array: dense integer keys make an array.
  var stored: Value {
    switch self {
    case .scalar(let value): return value
    case .timestamp, .increment: return .null
    case .object(let members):
      if let count = FirebaseTree.arrayCount(of: members) {
        var elements = [Value](repeating: .null, count: count)
        for member in members {
          if let index = member.name.index { elements[index] = member.tree.stored }
        }
        return .array(elements)
      }
      return .map(ValueMap(members.map { ($0.name.text, $0.tree.stored) }))
    }
  }

  /// The number of elements if members are an array's.
  static func arrayCount(of members: [Member]) -> Int? {
    guard let first = members.first?.name.index, first >= 0, let last = members.last?.name.index
    else { return nil }
    return FirebaseTree.isDense(last: last, count: members.count) ? last + 1 : nil
  }

  /// Firebase's rule for integer keys from 0 up: an array if they are less than twice as many.
  static func isDense(last: Int, count: Int) -> Bool {
    last < count.multipliedReportingOverflow(by: 2).partialValue
  }
}

/// Values of kinds that JSON lacks, as JSON.
enum FirebaseScalar {
  /// The scalar that stands for a stored one: null, true, false, an integer, a finite double, text.
  static func rendered(_ value: Value) -> Value {
    switch value {
    case .null, .bool, .integer, .string: value
    case .double(let number): rendered(number)
    case .decimal(let number): rendered(number)
    case .date(let date): .string(DateText.text(moment: date.microseconds))
    case .uuid(let uuid): .string(uuid.uuidString.lowercased())
    case .data(let data): .string(data.base64EncodedString())
    case .reference(let path): .string(path.description)
    case .array, .map, .blob: .null
    }
  }

  private static func rendered(_ number: Double) -> Value {
    if number.isNaN { return .string("nan") }
    if number.isInfinite { return .string(number < 0 ? "-inf" : "inf") }
    // Beyond 2⁵³ a double that reads as an integer would claim digits that it does not have.
    if number.magnitude <= 9_007_199_254_740_992, let whole = Int64(exactly: number) {
      return .integer(whole)
    }
    return .double(number)
  }

  private static func rendered(_ number: Decimal) -> Value {
    let text = DecimalText.text(number)
    guard !number.isNaN else { return .string(text) }
    if let whole = Int64(text) { return .integer(whole) }
    if let double = Double(text), double.isFinite,
      DecimalText.parse(Array(double.description.utf8).span) == number
    {
      return rendered(double)
    }
    return .string(text)
  }
}
