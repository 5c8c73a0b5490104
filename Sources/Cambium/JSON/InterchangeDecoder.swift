// Converts values from their form outside the database. Nothing is lost silently: whatever does not
// fit its type is a problem, and all problems are reported together.

import FoundationEssentials

/// Reads records that were written as dictionaries.
package struct InterchangeDecoder {
  let profile: InterchangeProfile
  /// The problems found so far, in the order in which they were found.
  package private(set) var problems: [ValidationError] = []

  package init(_ profile: InterchangeProfile) { self.profile = profile }

  /// The id and the properties that were read from a record.
  package struct Found {
    /// The id's stored value; null and nil where there is none.
    package var id: Value?
    /// The properties that are there, by their places in the table.
    package var values: [(property: Int, value: Value)] = []
  }

  /// Where a value is: for messages with positions and keys, for masks by names alone.
  struct Place: Refinable {
    private(set) var names: [String]
    private(set) var text: String

    init(_ names: [String]) {
      self.names = names
      text = names.joined(separator: ".")
    }

    /// A member that is a property.
    func member(_ name: String) -> Place {
      changed {
        $0.names.append(name)
        $0.text += "." + name
      }
    }

    /// Something in it that data names.
    func part(_ text: String) -> Place { changed { $0.text += text } }
  }

  mutating func note(_ place: String, _ message: String) {
    problems.append(ValidationError(property: place, message))
  }

  /// Reads a record.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` where two names would be one. Problems with the
  ///   values are in ``problems``.
  package mutating func record(_ record: ValueMap, _ table: InterchangeTable) throws -> Found {
    var found = Found()
    read(record, try table.members(profile), table, [], &found)
    return found
  }

  private mutating func read(
    _ record: ValueMap, _ members: [InterchangeTable.Member], _ table: InterchangeTable,
    _ place: [String], _ found: inout Found
  ) {
    for (name, value) in record.pairs {
      let member = members.first { ByteOrder.areEqual($0.outside, name) }
      let own = place + (member?.declared ?? name).split(separator: ".").map(String.init)
      var isID = false
      if case .id? = member?.content { isID = true }
      guard let member, profile.shows(own, isID: isID) else {
        refuse(name, place)
        continue
      }
      switch member.content {
      case .id: found.id = stored(value, .optional(table.id), Place(["id"]))
      case .property(let index):
        let property = table.properties[index]
        if let value = converted(value, property.shape, Place(own)) {
          found.values.append((index, value))
        }
      case .object(let inner):
        guard case .map(let object) = value else {
          note(own.joined(separator: "."), "must be an object, not \(value.kindText)")
          continue
        }
        read(object, inner, table, own, &found)
      }
    }
  }

  private mutating func refuse(_ name: String, _ place: [String]) {
    if profile.unknownNames == .ignored { return }
    note((place + [name]).joined(separator: "."), "is not known")
  }

  // MARK: Values

  /// The value of a property, which may have a form of its own; nil where it is a problem.
  private mutating func converted(
    _ value: Value, _ shape: InterchangeShape, _ place: Place
  ) -> Value? {
    guard value != .null, let form = profile.conversion(at: place.names) else {
      return stored(value, shape, place)
    }
    return read(value, as: form, place)
  }

  private mutating func read(
    _ value: Value, as form: InterchangeConversion, _ place: Place
  ) -> Value? {
    do { return try form.back(value) } catch {
      note(place.text, "cannot be read: \(error)")
      return nil
    }
  }

  /// The value of its form outside; nil where there is a problem.
  mutating func stored(
    _ value: Value, _ shape: InterchangeShape, _ place: Place
  ) -> Value? {
    switch (shape, value) {
    case (.typed(let type, let inner), _):
      guard value != .null, let form = profile.conversion(of: type) else {
        return stored(value, inner, place)
      }
      return read(value, as: form, place)
    case (.optional, .null), (.any, .null), (.scalar(.any), .null): return .null
    case (.optional(let inner), _): return stored(value, inner, place)
    case (.reference(let reference), .null) where reference.unassigned != nil:
      return reference.unassigned
    case (_, .null):
      note(place.text, "must not be null")
      return nil
    case (.any, _): return value
    case (.scalar(let type), _): return scalar(value, type, place)
    case (.reference(let reference), _): return key(value, reference, place)
    case (.array(let element), .array(let elements)):
      let shape = element()
      let count = problems.count
      let found = elements.indices.map {
        stored(elements[$0], shape, place.part("[\($0)]")) ?? .null
      }
      return problems.count == count ? .array(found) : nil
    case (.array, _): return refuse(value, "an array", place)
    case (.map(let element), .map(let record)):
      let shape = element()
      return members(record) { reader, name, value in
        (name, reader.stored(value, shape, place.part(".\(name)")))
      }
    case (.nested(let properties), .map(let record)):
      let properties = properties()
      return members(record) { $0.nested($1, $2, properties, place) }
    case (.union(let cases), .map(let record)): return union(record, cases(), place)
    case (.map, _), (.nested, _), (.union, _): return refuse(value, "an object", place)
    case (.json, .string) where profile.kinds == .kept: return value
    case (.json, _): return .string(JSONWriter.text(value, isPlain: true))
    }
  }

  mutating func refuse(_ value: Value, _ expected: String, _ place: Place) -> Value? {
    note(place.text, "must be \(expected), not \(value.kindText)")
    return nil
  }

  /// The members of an object; nil where one of them is a problem.
  private mutating func members(
    _ record: ValueMap,
    _ read: (inout InterchangeDecoder, String, Value) -> (String, Value?)?
  ) -> Value? {
    let count = problems.count
    var pairs: [(String, Value)] = []
    for (name, value) in record.pairs {
      if let (name, value) = read(&self, name, value), let value { pairs.append((name, value)) }
    }
    return problems.count == count ? .map(ValueMap(pairs: pairs)) : nil
  }

  /// The member of a nested value, by its declared name; nil where it is ignored.
  private mutating func nested(
    _ name: String, _ value: Value, _ properties: [InterchangeMember], _ place: Place
  ) -> (String, Value?)? {
    let property = properties.first {
      ByteOrder.areEqual(profile.keyCase.written($0.name), name)
    }
    guard let property, profile.shows(place.names + [property.name]) else {
      refuse(name, [place.text])
      return nil
    }
    return (property.name, converted(value, property.shape, place.member(property.name)))
  }

  private mutating func union(
    _ record: ValueMap, _ cases: [InterchangeMember], _ place: Place
  ) -> Value? {
    guard record.count == 1, let (name, payload) = record.pairs.first,
      let known = cases.first(where: { ByteOrder.areEqual($0.name, name) })
    else {
      let names = cases.map(\.name).joined(separator: ", ")
      note(place.text, "must be an object with the name of one case: \(names)")
      return nil
    }
    guard let payload = stored(payload, known.shape, place.part(".\(name)")) else { return nil }
    return .map(ValueMap(pairs: [(known.name, payload)]))
  }

  /// The key that refers to a record; of the record itself its id.
  private mutating func key(
    _ value: Value, _ reference: InterchangeReference, _ place: Place
  ) -> Value? {
    if case .map(let record) = value, let id = record[profile.keyCase.written("id")] {
      return key(id, reference, place)
    }
    switch reference.keys {
    case .uuid: return scalar(value, .uuid, place)
    case .integer: return scalar(value, .integer, place)
    case .string: return scalar(value, .string, place)
    case nil:
      switch value {
      case .integer, .uuid: return value
      case .string(let text):
        // A key that reads as a number or a UUID is one.
        if let key = try? Key(text) { return StoredKey.value(of: key) }
        return refuse(value, "a key", place)
      default: return refuse(value, "a key", place)
      }
    }
  }
}
