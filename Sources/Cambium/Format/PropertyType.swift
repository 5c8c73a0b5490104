/// The type of a property's values, which may be null as well unless it is required.
public indirect enum PropertyType: Hashable, Sendable {
  /// Anything.
  case any
  /// True or false.
  case bool
  /// A whole number.
  case integer
  /// A floating-point number; a whole one is accepted as well.
  case double
  /// Text.
  case string
  /// Bytes.
  case data
  /// A moment.
  case date
  /// A universally unique identifier.
  case uuid
  /// A decimal number; a whole one is accepted as well.
  case decimal
  /// A large value beside the tree.
  case blob
  /// The key of a record in another collection, stored as integer, UUID or string.
  case reference(NodePath)
  /// Values in order.
  case array(PropertyType)
  /// Values by name.
  case map(PropertyType)
  /// Values by the keys of records in another collection.
  case keyed(by: NodePath, PropertyType)

  /// The collection that it refers to, itself or through its elements or keys.
  public var target: NodePath? {
    switch self {
    case .reference(let path), .keyed(by: let path, _): path
    case .array(let element): element.target
    default: nil
    }
  }

  /// The type of the elements of an array, or of the values of a map; nil for anything else.
  package var member: PropertyType? {
    switch self {
    case .array(let element), .map(let element), .keyed(by: _, let element): element
    default: nil
    }
  }

  /// True if it holds several values, each of which has an entry in an index.
  var isPlural: Bool {
    switch self {
    case .array, .keyed: true
    default: false
    }
  }

  /// The type of one of its values, if it holds several; otherwise the type itself.
  var element: PropertyType {
    switch self {
    case .array(let element): element
    case .keyed(by: let path, _): .reference(path)
    default: self
    }
  }
}

extension PropertyType: CustomStringConvertible {
  /// The type in words: `an array of text`.
  public var description: String {
    switch self {
    case .any: "any value"
    case .bool: "true or false"
    case .integer: "an integer"
    case .double: "a number"
    case .string: "text"
    case .data: "data"
    case .date: "a date"
    case .uuid: "a UUID"
    case .decimal: "a decimal"
    case .blob: "a blob"
    case .reference(let path): "the key of one of \(path)"
    case .array(let element): "an array, each \(element)"
    case .map(let element): "a map, each \(element)"
    case .keyed(by: let path, let element): "a map by keys of \(path), each \(element)"
    }
  }

  /// True if a stored value that is not null is of this type.
  func takes(_ value: RawSpan) throws -> Bool {
    let tag = try value.load(UInt8.self, at: 0)
    let isInteger = (ValueTag.integer1...ValueTag.integer8).contains(tag)
    switch self {
    case .any: return true
    case .bool: return tag == ValueTag.true || tag == ValueTag.false
    case .integer: return isInteger
    case .double: return tag == ValueTag.double || isInteger
    case .string: return tag == ValueTag.string
    case .data: return tag == ValueTag.data
    case .date: return tag == ValueTag.date
    case .uuid: return tag == ValueTag.uuid
    case .decimal: return tag == ValueTag.decimal || isInteger
    case .blob: return tag == ValueTag.blob
    case .reference: return isInteger || tag == ValueTag.string || tag == ValueTag.uuid
    case .array(let element):
      return try tag == ValueTag.array && element.takesAll(in: value, isMap: false)
    case .map(let element), .keyed(by: _, let element):
      return try tag == ValueTag.map && element.takesAll(in: value, isMap: true)
    }
  }

  private func takesAll(in value: RawSpan, isMap: Bool) throws -> Bool {
    if self == .any { return true }
    var offset = 1
    while offset < value.byteCount {
      if isMap { _ = try value.part(at: &offset) }
      let element = value.extracting(try value.part(at: &offset))
      if try element.load(UInt8.self, at: 0) == ValueTag.null { continue }
      if try !takes(element) { return false }
    }
    return true
  }
}
