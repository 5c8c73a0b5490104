/// The properties of a kind of records, as they look outside; one table for each kind.
package final class InterchangeTable: Sendable {
  package struct Property: Sendable {
    /// The declared name; what lies in a nested value has a dotted one.
    var name: String
    var shape: InterchangeShape
    /// True if a record without it is read as something else than null.
    var writesNull = false
  }

  /// The name of the kind of records in messages.
  let name: String
  let id: InterchangeShape
  let properties: [Property]

  init(name: String, id: InterchangeShape, properties: [Property]) {
    self.name = name
    self.id = id
    self.properties = properties
  }

  /// The content under a name.
  indirect enum Content: Sendable {
    case id
    case property(Int)
    case object([Member])
  }

  /// A name, outside and inside.
  struct Member: Sendable {
    let outside: String
    let declared: String
    let content: Content
  }

  /// The names of an object, as a profile wants them.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` where two properties would have one name.
  func members(_ profile: InterchangeProfile) throws -> [Member] {
    let written = profile.keyCase.written
    let id = Member(outside: written("id"), declared: "id", content: .id)
    let all = properties.enumerated().map { ($1.name.split(separator: ".")[...], $0) }
    if profile.nesting == .objects { return try checked([id] + objects(all, profile)) }
    return try checked(
      [id]
        + all.map { parts, index in
          Member(
            outside: parts.map { written(String($0)) }.joined(separator: "."),
            declared: properties[index].name, content: .property(index))
        })
  }

  private func objects(
    _ all: [(parts: ArraySlice<Substring>, index: Int)], _ profile: InterchangeProfile
  ) throws -> [Member] {
    var members: [Member] = []
    var known: Set<Substring> = []
    for (parts, index) in all {
      guard let first = parts.first, known.insert(first).inserted else { continue }
      let inner = all.filter { $0.parts.first == first && $0.parts.count > 1 }
        .map { ($0.parts.dropFirst(), $0.index) }
      if !inner.isEmpty, let whole = all.first(where: { $0.parts == [first] }) {
        throw DatabaseError.misuse(
          reason: "\(name): \(properties[whole.index].name) would be both a value and an object of "
            + "what lies in it; dotted names keep them apart")
      }
      let content: Content =
        inner.isEmpty ? .property(index) : .object(try checked(objects(inner, profile)))
      members.append(
        Member(
          outside: profile.keyCase.written(String(first)), declared: String(first),
          content: content))
    }
    return members
  }

  private func checked(_ members: [Member]) throws -> [Member] {
    var names: [String: String] = [:]
    for member in members {
      guard let other = names.updateValue(member.declared, forKey: member.outside) else { continue }
      throw DatabaseError.misuse(
        reason: "\(name): \(other) and \(member.declared) would both be written as "
          + "\(member.outside)")
    }
    return members
  }
}
