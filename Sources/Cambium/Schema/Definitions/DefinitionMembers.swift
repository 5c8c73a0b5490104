import FoundationEssentials

/// Reads the parts of a declaration from a value, and reports the part that is wrong.
struct Members {
  private let record: ValueMap

  init(_ value: Value) throws {
    guard case .map(let record) = value else { throw Members.unknown("part", "\(value)") }
    self.record = record
  }

  subscript(name: String) -> Value? { record[name] }

  /// A member that must be of one kind, if it is there.
  private func found<Part>(_ name: String, _ take: (Value) -> Part?) throws -> Part? {
    guard let value = record[name] else { return nil }
    guard let part = take(value) else { throw Members.unknown(name, "\(value)") }
    return part
  }

  func text(_ name: String) throws -> String? {
    try found(name) { if case .string(let text) = $0 { text } else { nil } }
  }

  func integer(_ name: String) throws -> Int64? {
    try found(name) { if case .integer(let number) = $0 { number } else { nil } }
  }

  func flag(_ name: String) throws -> Bool {
    try found(name) { if case .bool(let flag) = $0 { flag } else { nil } } ?? false
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
    try found(name) { if case .array(let values) = $0 { values } else { nil } } ?? []
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
