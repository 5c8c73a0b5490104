// Checks one stored record against the declared rules of its collection.

import LMDB

/// A rule, declared for a record's collection, that the record breaks.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
  /// The record.
  public let path: Path
  /// The property; nil where the rule is about the record as a whole.
  public let property: String?
  /// The reason, as the rest of a sentence that the property begins: `must be positive`.
  public let reason: String

  package init(_ path: Path, _ property: String?, _ reason: String) {
    self.path = path
    self.property = property
    self.reason = reason
  }

  /// The whole sentence.
  public var description: String {
    property.map { "\(path): \($0) \(reason)" } ?? "\(path) \(reason)"
  }
}

extension CollectionPlan {
  /// Holds a record against the rules.
  ///
  /// - Throws: ``DatabaseError/invalid(_:)`` with everything that is wrong.
  func check(_ record: RawSpan, key: RawSpan, _ catalog: Catalog) throws {
    let table = try RecordTable(record)
    var broken: [(property: String?, reason: String)] = []
    if let reason = try definition.keys?.refusal(key) { broken.append((nil, reason)) }
    var place = 0
    for property in properties {
      while place < table.count, try table.name(record, place) < property.name { place += 1 }
      let isThere = try place < table.count && table.name(record, place) == property.name
      let reason =
        isThere
        ? try property.refusal(record.extracting(table.value(record, place)))
        : property.isMissed ? "is required" : nil
      if let reason { broken.append((property.definition.name, reason)) }
    }
    if broken.isEmpty { return }
    let path = path.appending(try Key(key))
    throw DatabaseError.invalid(broken.map { Violation(path, $0.property, $0.reason) })
  }
}

extension CollectionDefinition.KeyType {
  /// Why a key is not one of this type. Text that reads as an integer is one.
  fileprivate func refusal(_ key: RawSpan) throws -> String? {
    let tag = try key.load(UInt8.self, at: 0)
    return switch self {
    case .string: nil
    case .integer: tag == KeyTag.integer ? nil : "has a key that is no integer"
    case .uuid: tag == KeyTag.uuid ? nil : "has a key that is no UUID"
    }
  }
}

extension PropertyPlan {
  /// True if a record may not be without it.
  fileprivate var isMissed: Bool { definition.isRequired && standIn.ofAbsence.isEmpty }

  /// Why a stored value is not one that the property may have.
  @inline(__always)
  fileprivate func refusal(_ value: RawSpan) throws -> String? {
    if try value.load(UInt8.self, at: 0) == ValueTag.null {
      return definition.isRequired && standIn.ofNull.isEmpty ? "is required" : nil
    }
    if try !definition.type.takes(value) { return "must be \(definition.type)" }
    if let domain, try !domain.holds(value) { return "must be \(domain)" }
    return nil
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
      if isMap { offset += try value.length(at: &offset) }
      let count = try value.length(at: &offset)
      let element = value.extracting(offset..<(offset + count))
      offset += count
      if try element.load(UInt8.self, at: 0) == ValueTag.null { continue }
      if try !takes(element) { return false }
    }
    return true
  }
}
