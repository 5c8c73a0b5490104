// Bodies and parameters: JSON, by Firebase's rules for keys and depth.

import Cambium

extension FirebaseTree {
  /// Reads a body. Null, and what is empty, is nil.
  ///
  /// - Throws: ``FirebaseError`` for what is no JSON, and for what Firebase's rules forbid.
  static func parse(_ body: [UInt8], below path: NodePath) throws -> FirebaseTree? {
    try tree(of: try json(body), depth: path.depth)
  }

  /// The members of an object, with their names as they were sent: paths for PATCH.
  static func parseMembers(_ body: [UInt8]) throws -> [(name: String, value: Value)] {
    guard case .map(let record) = try json(body) else {
      throw FirebaseError.badObject
    }
    return record.members.map { ($0.name, $0.value) }
  }

  /// Any JSON value.
  static func json(_ body: [UInt8]) throws -> Value {
    if body.allSatisfy({ $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }) {
      throw FirebaseError.bad("Invalid data; couldn't parse JSON object, array, or value.")
    }
    do {
      var reader = try JSONReader(
        ByteSource(bytes: body, name: "body", bufferBytes: body.count + 1),
        digits: .keptWherePossible)
      let value = try reader.value() ?? .null
      _ = try reader.next()
      return value
    } catch {
      throw FirebaseError.bad(
        "Invalid data; couldn't parse JSON object, array, or value: \(error.reason)")
    }
  }

  /// The tree of a JSON value, which lies so deep.
  static func tree(of json: Value, depth: Int) throws -> FirebaseTree? {
    if depth > FirebasePath.depthMax {
      throw FirebaseError.bad("Invalid data; the tree is deeper than 32 levels")
    }
    switch json {
    case .map(let record): return try object(record, depth: depth)
    case .array(let elements):
      let members = try elements.enumerated().compactMap { index, element in
        try tree(of: element, depth: depth + 1).map {
          Member(name: FirebaseName(index), tree: $0)
        }
      }
      return .of(members)
    default:
      let scalar = number(json)
      return scalar == .null ? nil : .scalar(scalar)
    }
  }

  /// Firebase has doubles; integers keep the digits that 64 bits hold.
  private static func number(_ json: Value) -> Value {
    switch json {
    case .decimal(let number): .double(Double(DecimalText.text(number)) ?? .nan)
    case .double(let number): FirebaseScalar.rendered(.double(number))
    default: json
    }
  }

  private static func object(_ record: ValueMap, depth: Int) throws -> FirebaseTree? {
    if let server = record[".sv"] { return try serverValue(server, record) }
    var members: [Member] = []
    for member in record.members {
      if member.name == ".priority" {
        if member.value == .null { continue }
        throw FirebaseError.bad("Invalid data; priorities are not kept: leave .priority out")
      }
      let name = FirebaseName(member.name)
      try check(name)
      let isValue = name == .value
      if isValue && (member.value.isContainer) {
        throw FirebaseError.bad("Invalid data; .value must be a boolean, a number or a string")
      }
      if let tree = try tree(of: member.value, depth: isValue ? depth : depth + 1) {
        if isValue && record.count == 1 { return tree }
        members.append(Member(name: name, tree: tree))
      }
    }
    if members.count == 1, members[0].name == .value { return members[0].tree }
    return .of(members)
  }

  private static func check(_ name: FirebaseName) throws {
    if name == .value { return }
    if name.text.utf8.count > FirebasePath.keyBytesMax {
      throw FirebaseError.bad(
        "Invalid data; a key has more than \(FirebasePath.keyBytesMax) bytes")
    }
    guard FirebasePath.isAllowed(name.text) else {
      throw FirebaseError.badObject
    }
    if name.key == nil {
      throw FirebaseError.bad(
        "Invalid data; a key has \(name.text.utf8.count) bytes; \(Key.textBytesMax) is the limit "
          + "of this database")
    }
  }

  private static func serverValue(_ value: Value, _ record: ValueMap) throws -> FirebaseTree {
    switch value {
    case .string("timestamp") where record.count == 1: return .timestamp
    case .map(let operation) where record.count == 1 && operation.count == 1:
      switch operation["increment"].map(number) {
      case (let step?) where step.isNumber: return .increment(step)
      default: break
      }
    default: break
    }
    throw FirebaseError.bad(
      "Invalid data; .sv must be \"timestamp\" or {\"increment\": a number}, alone in its object")
  }
}

extension Value {
  /// True if it is an array or a map.
  var isContainer: Bool {
    switch self {
    case .array, .map: true
    default: false
    }
  }

  var isNumber: Bool {
    switch self {
    case .integer, .double, .decimal: true
    default: false
    }
  }
}
