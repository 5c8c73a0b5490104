// Models as the records that they are stored as, and back, for a store that has no database at
// hand: it sends records, and its own process checks what is code. Nothing here reads or writes.

import FoundationEssentials

extension Model {
  /// The collection of the models.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` for a model that cannot be stored.
  package static var recordCollection: NodePath {
    get throws {
      try schema.core.check()
      try schema.core.checkDefinition()
      return schema.core.path
    }
  }

  /// The reason why records of a declaration cannot be read and written as the model; nil if they
  /// can. Another program may have declared more.
  ///
  /// - Parameter declared: The declaration of the collection where the records are kept; nil where
  ///   it has none.
  /// - Returns: The refusal.
  package static func refusal(of declared: CollectionDefinition?) -> DatabaseError? {
    schema.core.refusal(of: declared)
  }

  /// True for a model that is one case of several in its collection.
  package static var isOneCase: Bool { schema.core.sharing.caseName != nil }

  /// Makes the id of a new model as an insert does, where that can be done without a database.
  ///
  /// - Returns: False where only the database knows the next id, since ids are integers.
  /// - Throws: ``ValidationError`` where only the app knows ids.
  package mutating func takeFreshID() throws -> Bool {
    if id.isAssigned { return true }
    if Key._keyType == .integer { return false }
    id = try ModelID.fresh { nil }
    return true
  }

  /// Puts values into their domains where those say so, and checks everything that can be checked
  /// without a database, as a write does first.
  ///
  /// - Throws: ``ValidationError`` with all problems.
  package mutating func checkRules() throws { try Self.schema.validate(&self) }

  /// Reads a model.
  ///
  /// - Parameter record: The record, with the values that are stored.
  /// - Returns: The model; nil where the record is another case of an enum of models.
  /// - Throws: ``PropertyError`` where what is stored is not of the model's types.
  package static func reading(_ record: DynamicRecord) throws -> Self? {
    let core = schema.core
    try core.check()
    if let union = Self.self as? any ModelUnion.Type {
      return try union.read(record) as? Self
    }
    if !core.sharing.owns(record) { return nil }
    let completed = DynamicRecord(record.path, record.values, DeclaredDefaults(core.definition))
    var model = try core.read(completed, into: schema.template, steps: [])
    if schema.hasReadConditions { schema.hideUnread(&model) }
    return model
  }

  /// Writes the model's properties into a record; what else is in it stays.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` for a model that cannot be stored, and errors of
  ///   the app's own types.
  package func write(into record: inout DynamicRecord) throws {
    try Self.schema.core.check()
    if let union = self as? any ModelUnion { return try union.write(inRecord: &record) }
    Self.schema.core.write(self, into: &record)
  }
}

extension SharedCollection {
  /// True if a record is one of the model's, where several models share a collection.
  fileprivate func owns(_ record: DynamicRecord) -> Bool {
    guard caseName != nil, let discriminator else { return true }
    guard case .string(let name)? = record.values[discriminator] else {
      return namelessCase == caseName
    }
    return caseNames.contains { ByteOrder.areEqual($0, name) }
  }
}

extension ModelUnion {
  /// Reads the case that a record is.
  fileprivate static func read(_ record: DynamicRecord) throws -> Self? {
    guard let known = cases.all.first(where: { $0.core().sharing.owns(record) }) else { return nil }
    var profile = InterchangeProfile.exact
    (profile.nesting, profile.unknownNames) = (.dottedNames, .ignored)
    var values = record.values
    values["id"] = record.key.map { Key(_treeKey: $0)?.storedValue ?? .null }
    if let discriminator = schema.core.sharing.discriminator {
      values[discriminator] = .string(known.name)
    }
    return try known.template().merged(with: values, profile)
  }

  fileprivate func write(inRecord record: inout DynamicRecord) throws {
    var profile = InterchangeProfile.exact
    profile.nesting = .dottedNames
    var written = ValueMap(pairs: try dictionary(profile).map { ($0, $1) })
    written["id"] = nil
    let others = Self.schema.core.storedProperties.map(\.name)
    for name in others { record.values[name] = nil }
    for member in written.members { record.values[member.name] = member.value }
  }
}

extension Listing {
  /// The question that the listing asks.
  ///
  /// - Throws: ``QueryError`` for a property that cannot be asked about,
  ///   ``DatabaseError/misuse(reason:)`` for a model that cannot be stored.
  package var question: QueryDescription {
    get throws {
      let core = M.schema.core
      try core.check()
      var description = QueryDescription(core.path, where: core.caseCondition)
      if let condition {
        description.condition = description.condition.map { $0 && condition } ?? condition
      }
      (description.orderings, description.limit) = (orderings, limit)
      description.offset = offset
      for path in description.paths { if let problem = path.problem { throw QueryError(problem) } }
      return description
    }
  }
}
