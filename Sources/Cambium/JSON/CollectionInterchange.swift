/// The records of a declared collection, as they look outside: for tools, which have the
/// declaration and no types.
package struct CollectionInterchange: Sendable {
  package let path: NodePath
  package let definition: CollectionDefinition
  private let table: InterchangeTable

  package init(_ path: NodePath, _ definition: CollectionDefinition) {
    self.path = path
    self.definition = definition
    table = InterchangeTable(
      name: path.description, id: InterchangeShape(definition.keys),
      properties: definition.properties.map { property in
        let shape = InterchangeShape(property.type)
        return .init(
          name: property.name, shape: property.isRequired ? shape : .optional(shape),
          writesNull: property.absence != nil)
      })
  }

  /// The id or the property that a name outside stands for.
  package enum Name: Equatable {
    case id
    case property(PropertyDefinition)
  }

  /// The id and the properties by their names outside, where a record is flat.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` where two properties would have one name.
  package func names(_ profile: InterchangeProfile) throws -> [String: Name] {
    var names: [String: Name] = [:]
    for member in try table.members(profile) {
      switch member.content {
      case .id: names[member.outside] = .id
      case .property(let index): names[member.outside] = .property(definition.properties[index])
      case .object: break
      }
    }
    return names
  }

  /// Reads a record.
  ///
  /// - Parameters:
  ///   - value: The record, as an object.
  ///   - profile: The form that it has outside.
  /// - Returns: Its key, where it has one, and its properties.
  /// - Throws: ``ValidationError`` with everything that is wrong.
  package func read(
    _ value: Value, _ profile: InterchangeProfile
  ) throws -> (key: Key?, record: ValueMap) {
    guard case .map(let outside) = value else {
      throw ValidationError(causes: [ValidationError("must be an object, not \(value.kindText)")])
    }
    var reader = InterchangeDecoder(profile)
    let found = try reader.record(outside, table)
    if !reader.problems.isEmpty { throw ValidationError(causes: reader.problems) }
    var record = ValueMap()
    for (index, value) in found.values {
      let property = definition.properties[index]
      if value != .null || property.absence != nil { record[property.name] = value }
    }
    return (found.id.flatMap { StoredKey.key(naming: $0) }, record)
  }

  /// Writes a record. Properties that are not declared follow by their own names, as far as the
  /// profile shows them.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` where two names would be one.
  package func write(
    _ record: ValueMap, _ key: Key, _ writer: inout InterchangeEncoder
  ) throws -> ValueMap {
    var written = try writer.record(table, at: nil) { index in
      guard let index else {
        return definition.keys == .string ? .string(key.description) : StoredKey.value(of: key)
      }
      let property = definition.properties[index]
      return record[property.name] ?? property.absence ?? .null
    }
    for member in record.members where definition[member.name] == nil {
      guard writer.profile.shows(InterchangeProfile.parts(member.name)) else { continue }
      if try writer.members(of: table).contains(where: {
        ByteOrder.areEqual($0.outside, member.name)
      }) {
        throw DatabaseError.misuse(
          reason: "\(path.appending(key)): \(member.name) is not declared, and what is declared is "
            + "written by that name; rename it, or choose another key case")
      }
      written[member.name] = writer.plain(member.value)
    }
    return written
  }
}
