// JSON's scalars as stored values: of the declared type, or of the kind that was there.

import Cambium
import FoundationEssentials

extension FirebaseTree {
  /// The value that a property or a node gets.
  ///
  /// - Parameters:
  ///   - type: The declared type; `.any` where there is none.
  ///   - old: The value that is there, whose kind is kept where the text is one of that kind.
  ///   - place: The place, for the error.
  /// - Returns: The value.
  /// - Throws: ``FirebaseError`` where the tree is of another type.
  func stored(as type: PropertyType, old: Value?, at place: String) throws -> Value {
    // The JSON of what is there stands for it, so that what was read can be written back.
    if let old, FirebaseTree(stored: old) == self { return old }
    switch type {
    case .any: return storedLike(old)
    case .array(let element):
      guard let count = elementCount else { throw FirebaseTree.misfit(type, place) }
      var elements = [Value](repeating: .null, count: count)
      for member in members {
        guard let index = member.name.index else { continue }
        elements[index] = try member.tree.stored(
          as: element, old: old?.part(member.name), at: "\(place)/\(index)")
      }
      return .array(elements)
    case .map(let element), .keyed(by: _, let element):
      guard isObject else { throw FirebaseTree.misfit(type, place) }
      return .map(
        ValueMap(
          try members.map { member in
            (
              member.name.text,
              try member.tree.stored(
                as: element, old: old?.part(member.name), at: "\(place)/\(member.name.text)")
            )
          }))
    default:
      guard let value = scalar(as: type) else { throw FirebaseTree.misfit(type, place) }
      return value
    }
  }

  private static func misfit(_ type: PropertyType, _ place: String) -> FirebaseError {
    FirebaseError.bad("Invalid data; \(place) is declared as \(type)\(FirebaseTree.form(type))")
  }

  /// The text that stands for a value of a type.
  private static func form(_ type: PropertyType) -> String {
    switch type {
    case .date: ", written as \"2013-01-01T10:00:00Z\""
    case .uuid: ", written as \"0190163d-8694-739b-aea5-966c26f8ad91\""
    case .data: ", written in base64"
    case .blob: ", which this interface does not write"
    default: ""
    }
  }

  private func scalar(as type: PropertyType) -> Value? {
    guard case .scalar(let value) = self else { return nil }
    switch (type, value) {
    case (.bool, .bool), (.integer, .integer), (.string, .string), (.double, .double): return value
    case (.double, .integer(let number)): return Double(exactly: number).map { .double($0) }
    case (.double, .string(let text)):
      return ScalarText.special(Array(text.utf8).span).map { .double($0) }
    case (.decimal, .integer(let number)): return .decimal(Decimal(number))
    case (.decimal, .double(let number)): return FirebaseTree.decimal(number.description)
    case (.decimal, .string(let text)): return FirebaseTree.decimal(text)
    case (.date, .integer(let milliseconds)):
      let (time, isTooLarge) = milliseconds.multipliedReportingOverflow(by: 1000)
      return isTooLarge ? nil : .date(Date(microseconds: time))
    case (.date, .string(let text)):
      return ScalarText.date(Array(text.utf8).span, nil).map { .date($0) }
    case (.uuid, .string(let text)): return UUID(uuidString: text).map { .uuid($0) }
    case (.data, .string(let text)): return Data(base64Encoded: text).map { .data($0) }
    case (.reference, .integer): return value
    case (.reference, .string(let text)):
      return switch try? Key(text) {
      case .integer(let number): .integer(number)
      case .uuid(let uuid): .uuid(uuid)
      case .text, nil: value
      }
    default: return nil
    }
  }

  private static func decimal(_ text: String) -> Value? {
    DecimalText.parse(Array(text.utf8).span).map { .decimal($0) }
  }

  /// The value where nothing is declared: of the kind that is there, if this is one of it.
  private func storedLike(_ old: Value?) -> Value {
    switch (old, self) {
    case (.date, .scalar(.string)): scalar(as: .date) ?? stored
    case (.uuid, .scalar(.string)): scalar(as: .uuid) ?? stored
    case (.decimal, .scalar(.double)), (.decimal, .scalar(.integer)):
      scalar(as: .decimal) ?? stored
    case (.double, .scalar(.integer)): scalar(as: .double) ?? stored
    case (.array, .object(let members)) where elementCount != nil,
      (.map, .object(let members)):
      container(members, like: old)
    default: stored
    }
  }

  private func container(_ members: [Member], like old: Value?) -> Value {
    if case .array = old, let count = elementCount {
      var elements = [Value](repeating: .null, count: count)
      for member in members {
        guard let index = member.name.index else { continue }
        elements[index] = member.tree.stored(like: old?.part(member.name))
      }
      return .array(elements)
    }
    return .map(
      ValueMap(members.map { ($0.name.text, $0.tree.stored(like: old?.part($0.name))) }))
  }

  private func stored(like old: Value?) -> Value {
    if let old, FirebaseTree(stored: old) == self { return old }
    return storedLike(old)
  }

  /// The number of elements of the array that it is; nil where it is none.
  private var elementCount: Int? {
    guard case .object(let members) = self else { return nil }
    return FirebaseTree.arrayCount(of: members)
  }
}

extension Value {
  /// A member of a map, or an element of an array.
  func part(_ name: FirebaseName) -> Value? {
    switch self {
    case .map(let record): return record[name.text]
    case .array(let elements):
      guard let index = name.index, index < elements.count else { return nil }
      return elements[index]
    default: return nil
    }
  }
}
