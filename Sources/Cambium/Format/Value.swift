import FoundationEssentials

/// A value that a node or a property holds.
///
/// Every value comes back exactly as it was stored: NaN keeps its bits, −0.0 its sign, an integer
/// stays an integer and a double a double. Dates are kept to the microsecond. Equality is that of
/// the stored bytes, so NaN equals itself, and two texts are equal only when their bytes are.
public enum Value: Sendable {
  /// An explicit null, as in JSON; something absent has no value at all.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// A floating-point number; any bit pattern.
  case double(Double)
  /// Text; stored as UTF-8, not normalized.
  case string(String)
  /// Bytes; for more than a few hundred KB use a ``Blob``.
  case data(Data)
  /// A moment, in microseconds since 1970, UTC, up to 285,000 years before and after 2001.
  case date(Date)
  /// A universally unique identifier.
  case uuid(UUID)
  /// A decimal number of up to 38 digits.
  case decimal(Decimal)
  /// Values in order.
  case array([Value])
  /// Values by name. A node whose value is a map is a *record*: its members are properties that can
  /// be read and changed one by one.
  case map(ValueMap)
  /// The path of another node.
  case reference(NodePath)
  /// A large value, stored beside the tree.
  case blob(Blob)

  /// True if it is a map, which a node holds as a record.
  var isMap: Bool { if case .map = self { true } else { false } }

  /// The largest number of bytes that one stored value or record may take: 1 MiB.
  public static let bytesMax = 1 << 20

  /// The maximum nesting depth of arrays and maps in one value.
  public static let nestingMax = 100
}

/// A large value, by its content: the same bytes take space only once, however often they are
/// stored.
///
/// Store one with `Database.store` or ``Database/Transaction/store(_:)``, read it with
/// ``Snapshot/read(_:_:)``.
public struct Blob: Hashable, Sendable {
  /// BLAKE2b-256 of the content, 32 bytes.
  public let hash: [UInt8]
  /// The content's length in bytes.
  public let size: UInt64

  package init(hash: [UInt8], size: UInt64) {
    self.hash = hash
    self.size = size
  }
}

/// Named values, ordered by the bytes of their names, each name once.
///
///     let ada: ValueMap = ["name": "Ada", "born": 1815]
public struct ValueMap: Sendable {
  /// A name and its value.
  public struct Member: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The value.
    public var value: Value

    package init(_ name: String, _ value: Value) {
      self.name = name
      self.value = value
    }

    /// Compares names and values by their bytes.
    public static func == (a: Member, b: Member) -> Bool {
      ByteOrder.areEqual(a.name, b.name) && a.value == b.value
    }
  }

  /// The names and values, in order of the names' bytes.
  public struct Members: RandomAccessCollection, Sendable {
    fileprivate let pairs: [(String, Value)]

    /// The first place: 0.
    public var startIndex: Int { 0 }
    /// The place after the last: the number of members.
    public var endIndex: Int { pairs.count }

    /// The member at a place.
    public subscript(index: Int) -> Member { Member(pairs[index].0, pairs[index].1) }
  }

  /// The pairs, in order of the names' bytes; as tuples, so that a literal's are kept and not
  /// copied.
  private(set) var pairs: [(String, Value)]

  /// The names and values, in order of the names' bytes.
  public var members: Members { Members(pairs: pairs) }

  /// A record without members.
  public init() { pairs = [] }

  /// Takes members in any order; if two have the same name the later one wins.
  public init(_ members: some Sequence<(name: String, value: Value)>) {
    self.init(pairs: members.map { ($0.name, $0.value) })
  }

  /// Takes members that are already in order.
  package init(sorted members: [Member]) { pairs = members.map { ($0.name, $0.value) } }

  /// Takes pairs that are already in order.
  init(sorted pairs: [(String, Value)]) { self.pairs = pairs }

  /// Takes pairs in any order; if two have the same name the later one wins.
  init(pairs: [(String, Value)]) {
    self.pairs = pairs
    if pairs.lend({ $0.areSorted }) { return }
    self.pairs = []
    self.pairs.reserveCapacity(pairs.count)
    for (name, value) in pairs { self[name] = value }
  }

  /// The value under a name, or nil if there is none. Assigning nil removes the member.
  ///
  /// - Complexity: O(log n) to read, O(n) to change.
  public subscript(name: String) -> Value? {
    get {
      let (index, found) = pairs.lend { $0.position(of: name) }
      return found ? pairs[index].1 : Value?.none  // a bare nil would be .null
    }
    set {
      let (index, found) = pairs.lend { $0.position(of: name) }
      switch (found, newValue) {
      case (true, let value?): pairs[index].1 = value
      case (false, let value?): pairs.insert((name, value), at: index)
      case (true, nil): pairs.remove(at: index)
      case (false, nil): break
      }
    }
  }

  /// The number of members.
  public var count: Int { pairs.count }

  /// True if there are no members.
  public var isEmpty: Bool { pairs.isEmpty }
}

extension ValueMap: ExpressibleByDictionaryLiteral {
  /// Makes a record from a literal.
  public init(dictionaryLiteral elements: (String, Value)...) {
    self.init(pairs: elements)
  }
}

extension ValueMap: Hashable {
  /// Compares names and values by their bytes.
  public static func == (a: ValueMap, b: ValueMap) -> Bool {
    a.members.elementsEqual(b.members)
  }

  /// Hashes names and values.
  public func hash(into hasher: inout Hasher) {
    for member in members {
      for byte in member.name.utf8 { hasher.combine(byte) }
      hasher.combine(member.value)
    }
  }
}

extension Value: Hashable {
  /// Compares the stored bytes.
  public static func == (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
    case (.string(let a), .string(let b)): ByteOrder.areEqual(a, b)
    case (.data(let a), .data(let b)): a == b
    case (.date(let a), .date(let b)): a.microseconds == b.microseconds
    case (.uuid(let a), .uuid(let b)): a == b
    case (.decimal(let a), .decimal(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.map(let a), .map(let b)): a == b
    case (.reference(let a), .reference(let b)): a == b
    case (.blob(let a), .blob(let b)): a == b
    default: false
    }
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value.bitPattern)
    case .string(let value): for byte in value.utf8 { hasher.combine(byte) }
    case .data(let value): hasher.combine(value)
    case .date(let value): hasher.combine(value.microseconds)
    case .uuid(let value): hasher.combine(value)
    case .decimal(let value): hasher.combine(value)
    case .array(let value): hasher.combine(value)
    case .map(let value): hasher.combine(value)
    case .reference(let value): hasher.combine(value)
    case .blob(let value): hasher.combine(value)
    }
  }
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A floating-point number.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// True or false.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Values in order.
  public init(arrayLiteral elements: Value...) { self = .array(elements) }
  /// Values by name.
  public init(dictionaryLiteral elements: (String, Value)...) {
    self = .map(ValueMap(pairs: elements))
  }
}

extension Date {
  /// The time from 1970 to 2001, the reference date of `Date`.
  private static let referenceMicroseconds: Int64 = 978_307_200_000_000

  /// Microseconds since 1970 as they are stored.
  ///
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for a moment that is out of range or none.
  package func storedMicroseconds() throws -> Int64 {
    // Negated, so that NaN fails.
    if !(abs(timeIntervalSinceReferenceDate) < Date.rangeSeconds) {
      // Older builds stored moments out of range as these two; read again, they can be kept.
      if self == Date(microseconds: .max) { return .max }
      if self == Date(microseconds: .min) { return .min }
      throw DatabaseError.badValue(
        .root,
        reason: """
          a date that is \(timeIntervalSince1970) seconds after 1970 cannot be stored: the range \
          is 285,000 years before and after 2001
          """)
    }
    return microseconds
  }

  /// Reads what ``storedMicroseconds()`` gives.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)`` for a moment that is never stored.
  init(storedMicroseconds: Int64) throws {
    self.init(microseconds: storedMicroseconds)
    if abs(timeIntervalSinceReferenceDate) < Date.rangeSeconds { return }
    guard storedMicroseconds == .max || storedMicroseconds == .min else {
      throw DatabaseError.corrupt(reason: "a stored date is out of range")
    }
  }

  /// The seconds before and after 2001 that can be stored.
  private static var rangeSeconds: Double { 9e12 }

  /// Microseconds since 1970, rounded to the nearest; moments out of range are clamped, as a
  /// constant to compare with may be.
  package var microseconds: Int64 {
    // Whole seconds and the rest are converted separately, on the basis that `Date` itself has: a
    // single product would round, and the moment would not come back.
    let time = timeIntervalSinceReferenceDate
    if time.isNaN { return 0 }
    let whole = time.rounded(.down)
    guard abs(whole) < Date.rangeSeconds else { return time < 0 ? .min : .max }
    let rest = Int64(((time - whole) * 1_000_000).rounded())
    return Int64(whole) * 1_000_000 + rest + Date.referenceMicroseconds
  }

  package init(microseconds: Int64) {
    let (time, overflow) = microseconds.subtractingReportingOverflow(Date.referenceMicroseconds)
    let (quotient, remainder) = (overflow ? .min : time).quotientAndRemainder(dividingBy: 1_000_000)
    let isBefore = remainder < 0
    let seconds = Double(isBefore ? quotient - 1 : quotient)
    let rest = Double(isBefore ? remainder + 1_000_000 : remainder) / 1_000_000
    self.init(timeIntervalSinceReferenceDate: seconds + rest)
  }
}
