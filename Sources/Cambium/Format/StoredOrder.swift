/// Compares stored values as conditions do: within one kind, in the order of ``OrderedBytes``.
///
/// Numbers are integers and doubles; an integer compares with a decimal as well.
enum StoredOrder {
  /// Less than, equal to or greater than zero; nil if the values are of different kinds, or differ
  /// without having an order.
  static func compare(_ a: RawSpan, _ b: RawSpan) throws -> Int? {
    guard a.byteCount > 0, b.byteCount > 0 else { return nil }
    let (first, second) = (try a.load(UInt8.self, at: 0), try b.load(UInt8.self, at: 0))
    switch (Kind(first), Kind(second)) {
    case (.bool, .bool): return Int(first) - Int(second)
    case (.integer, .integer):
      return order(try OrderedBytes.integer(a, first), try OrderedBytes.integer(b, second))
    case (.double, .double): return order(try double(a), try double(b))
    case (.integer, .double): return order(try OrderedBytes.integer(a, first), try double(b))
    case (.double, .integer): return -order(try OrderedBytes.integer(b, second), try double(a))
    case (.decimal, .decimal), (.decimal, .integer), (.integer, .decimal):
      return try compareDecimals(a, b)
    case (.date, .date):
      return order(try a.load(Int64.self, at: 1), try b.load(Int64.self, at: 1))
    case (.uuid, .uuid), (.string, .string), (.data, .data):
      return a.extracting(droppingFirst: 1).compare(b.extracting(droppingFirst: 1))
    case (.opaque, .opaque): return a.equals(b) ? 0 : nil
    default: return nil
    }
  }

  /// The kind of a stored value, which determines the values it can be compared with.
  private enum Kind {
    case null, bool, integer, double, decimal, date, uuid, string, data, opaque

    init(_ tag: UInt8) {
      self =
        switch tag {
        case ValueTag.null: .null
        case ValueTag.false, ValueTag.true: .bool
        case ValueTag.integer1...ValueTag.integer8: .integer
        case ValueTag.double: .double
        case ValueTag.string: .string
        case ValueTag.data: .data
        case ValueTag.date: .date
        case ValueTag.uuid: .uuid
        case ValueTag.decimal: .decimal
        default: .opaque
        }
    }
  }

  private static func double(_ value: RawSpan) throws -> Double {
    Double(bitPattern: try value.load(UInt64.self, at: 1))
  }

  private static func order<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }

  /// Compares two doubles: both zeros are equal; NaN comes last, and equals itself.
  private static func order(_ a: Double, _ b: Double) -> Int {
    if a.isNaN || b.isNaN { return (a.isNaN ? 1 : 0) - (b.isNaN ? 1 : 0) }
    return a < b ? -1 : a == b ? 0 : 1
  }

  /// Compares exactly: the integer is not converted to a double, which would round it.
  private static func order(_ a: Int64, _ b: Double) -> Int {
    if b.isNaN || b >= 0x1p63 { return -1 }
    if b < -0x1p63 { return 1 }
    let whole = Int64(b.rounded(.towardZero))
    return a == whole ? order(0.0, b - b.rounded(.towardZero)) : order(a, whole)
  }

  private static func compareDecimals(_ a: RawSpan, _ b: RawSpan) throws -> Int {
    var one = ByteBuffer(capacity: 64)
    var other = ByteBuffer(capacity: 64)
    try OrderedBytes.append(stored: a, as: .decimal, to: &one)
    try OrderedBytes.append(stored: b, as: .decimal, to: &other)
    return one.lend { one in other.lend { one.compare($0) } }
  }
}

/// Keys and the plain values that name them: an integer, a UUID or text.
enum StoredKey {
  /// The key that a stored value names, in its stored form; nil if it cannot be a key.
  static func bytes(naming value: RawSpan) throws -> [UInt8]? {
    var bytes: [UInt8] = []
    switch try value.load(UInt8.self, at: 0) {
    case let tag where tag >= ValueTag.integer1 && tag <= ValueTag.integer8:
      Key.integer(try OrderedBytes.integer(value, tag)).append(to: &bytes)
    case ValueTag.uuid:
      try value.check(1, 16)
      bytes.append(KeyTag.uuid)
      bytes.append(value.extracting(1..<17))
    case ValueTag.string:
      let text = value.extracting(droppingFirst: 1)
      if try isPlainText(text) {
        bytes.append(KeyTag.text)
        bytes.append(text)
      } else {
        guard let key = try? Key(try value.string(1, text.byteCount)) else { return nil }
        key.append(to: &bytes)
      }
    default: return nil
    }
    return bytes
  }

  /// The key that a stored value names, or the last key of a stored path.
  static func bytes(endOf value: RawSpan) throws -> [UInt8]? {
    guard try value.load(UInt8.self, at: 0) == ValueTag.reference else {
      return try bytes(naming: value)
    }
    guard case .reference(let path) = try Value(value) else { return nil }
    return path.last?.stored
  }

  /// True if a text's length and beginning show that the key of that text is the text itself.
  private static func isPlainText(_ text: RawSpan) throws -> Bool {
    guard text.byteCount > 0, text.byteCount <= Key.textBytesMax, text.byteCount != 36 else {
      return false
    }
    let first = try text.load(UInt8.self, at: 0)
    let isDigit = first >= UInt8(ascii: "0") && first <= UInt8(ascii: "9")
    return !isDigit && first != UInt8(ascii: "-") && !text.contains(0, from: 0)
  }

  /// Lends a stored key as text, the form in which it compares if keys are declared as texts.
  static func lendText<R>(of key: RawSpan, _ body: (RawSpan) -> R) -> R {
    if let tag = try? key.load(UInt8.self, at: 0), tag != KeyTag.text, let key = try? Key(key) {
      return Array(key.description.utf8).lend { body($0) }
    }
    return body(key.extracting(droppingFirst: min(1, key.byteCount)))
  }

  /// The stored value that names a key; with `asText`, the key's text, whatever it reads as.
  static func value(of key: RawSpan, asText: Bool) throws -> [UInt8] {
    guard asText else { return try value(of: key) }
    var bytes = [ValueTag.string]
    lendText(of: key) { bytes.append($0) }
    return bytes
  }

  /// The stored value that names a key.
  static func value(of key: RawSpan) throws -> [UInt8] {
    let tag = try key.load(UInt8.self, at: 0)
    if tag == KeyTag.text {
      var bytes = [ValueTag.string]
      bytes.append(key.extracting(droppingFirst: 1))
      return bytes
    }
    return try value(of: Key(key)).stored()
  }

  /// The value that names a key.
  static func value(of key: Key) -> Value {
    switch key {
    case .integer(let number): .integer(number)
    case .uuid(let uuid): .uuid(uuid)
    case .text(let text): .string(text)
    }
  }

  /// The key that a value names, or nil.
  static func key(naming value: Value) -> Key? {
    switch value {
    case .integer(let number): .integer(number)
    case .uuid(let uuid): .uuid(uuid)
    case .string(let text): try? Key(text)
    default: nil
    }
  }

  /// The stored value in the key's only form: text that reads as an integer becomes one.
  static func plain(_ value: RawSpan) throws -> [UInt8]? {
    try bytes(naming: value).map { try $0.lend { try StoredKey.value(of: $0) } }
  }

  /// True if two keys can be compared: both are integers, UUIDs, or texts.
  static func areOfOneKind(_ a: RawSpan, _ b: RawSpan) -> Bool {
    a.byteCount > 0 && b.byteCount > 0
      && a.extracting(0..<1).equals(b.extracting(0..<1))
  }
}
