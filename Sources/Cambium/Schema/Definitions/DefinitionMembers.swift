import FoundationEssentials

/// Reads the parts of a declaration from a value, and reports the part that is wrong.
struct Members {
  private let record: ValueMap

  init(_ value: Value) throws {
    guard case .map(let record) = value else { throw Members.unknown("part", "\(value)") }
    self.record = record
  }

  subscript(name: String) -> Value? { record[name] }

  func text(_ name: String) throws -> String? {
    switch record[name] {
    case .string(let text)?: text
    case nil: nil
    case let other?: throw Members.unknown(name, "\(other)")
    }
  }

  func integer(_ name: String) throws -> Int64? {
    switch record[name] {
    case .integer(let number)?: number
    case nil: nil
    case let other?: throw Members.unknown(name, "\(other)")
    }
  }

  func flag(_ name: String) throws -> Bool {
    switch record[name] {
    case .bool(let flag)?: flag
    case nil: false
    case let other?: throw Members.unknown(name, "\(other)")
    }
  }

  func path(_ name: String) throws -> NodePath? {
    try text(name).map { text in
      do { return try NodePath(text) } catch { throw Members.unknown(name, "\(text): \(error)") }
    }
  }

  /// A condition, whose patterns are of the dialect stored with it.
  func condition(_ name: String) throws -> Condition? {
    let dialect = try integer("dialect")
    return try text(name).map { text in
      do {
        let condition = try Condition(parsing: text, values: [])
        return dialect == nil ? condition.ofFormerDialect : condition
      } catch let error as QueryError {
        throw Members.unknown(name, "\(text): \(error.reason)")
      }
    }
  }

  func choice<Choice: RawRepresentable<String>>(
    _ name: String, _ type: Choice.Type = Choice.self
  ) throws -> Choice? {
    guard let text = try text(name) else { return nil }
    guard let choice = Choice(rawValue: text) else { throw Members.unknown(name, text) }
    return choice
  }

  func values(_ name: String) throws -> [Value] {
    switch record[name] {
    case .array(let values)?: values
    case nil: []
    case let other?: throw Members.unknown(name, "\(other)")
    }
  }

  func list<Part: ValueCodable>(_ name: String) throws -> [Part] {
    try values(name).map { try Part($0) }
  }

  func texts(_ name: String) throws -> [String] {
    try values(name).map { value in
      guard case .string(let text) = value else { throw Members.unknown(name, "\(value)") }
      return text
    }
  }

  func needed<Part>(_ name: String, _ read: (String) throws -> Part?) throws -> Part {
    guard let part = try read(name) else {
      throw DatabaseError.corrupt(reason: "a collection's declaration has no '\(name)'")
    }
    return part
  }

  static func unknown(_ part: String, _ found: String) -> DatabaseError {
    .corrupt(reason: "a collection's declaration has an unknown \(part): \(found.prefix(200))")
  }
}

extension ValueMap {
  mutating func set(_ name: String, _ flag: Bool) { self[name] = flag ? .bool(true) : nil }

  mutating func set(_ name: String, _ values: [Value]) {
    self[name] = values.isEmpty ? nil : .array(values)
  }
}
