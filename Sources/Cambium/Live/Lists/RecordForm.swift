/// A form for a record whose type the program does not know, made from the declaration of its
/// collection: for tools and consoles. ``ModelForm`` is the one for models.
///
///     var form = try RecordForm(of: "flights/UA1545", in: database)
///     form.draft.set("delay", text: "12")
///     try form.save()
///
/// Threads: it is a value; use it from one thread at a time.
public struct RecordForm: Sendable {
  /// The path of the record.
  public let path: NodePath
  /// The values that are edited.
  public var draft: FormDraft
  /// True if the record is still to be inserted.
  public private(set) var isNew: Bool
  private let database: Database

  /// Makes a form that edits a record, or is for one that is still to be inserted.
  ///
  /// - Parameters:
  ///   - path: The path of the record, which need not be there.
  ///   - database: The database that has it.
  /// - Throws: ``DatabaseError/corrupt(reason:)``; ``DatabaseError/misuse(reason:)`` for the root.
  /// - Complexity: O(properties), and one read.
  public init(of path: NodePath, in database: Database) throws {
    guard let collection = path.parent else {
      throw DatabaseError.misuse(reason: "the root is in no collection, and has no form")
    }
    let snapshot = try database.snapshot()
    let record = try snapshot[path].record
    let definition = try snapshot.definition(of: collection) ?? CollectionDefinition()
    let declared = Set(definition.properties.map(\.name))
    // Properties that nothing declares can be edited where the record has them.
    let others = (record?.names ?? []).filter { !declared.contains($0) }
    let properties =
      definition.properties.map { FormProperty($0) } + others.map { FormProperty(.init($0, .any)) }
    (self.path, self.database, isNew) = (path, database, record == nil)
    draft = FormDraft(
      [FormProperty(key: definition.keys, isReadOnly: true)] + properties,
      stored: RecordForm.values(of: record ?? DynamicRecord(path), properties))
  }

  /// Inserts the record, or writes the properties that were edited, in one transaction.
  ///
  /// - Parameters:
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  /// - Throws: ``ValidationError`` with all ``FormDraft/problems()``;
  ///   ``DatabaseError/notFound(_:reason:)`` where the record was deleted; otherwise as
  ///   `write` of the database. Nothing is stored then, and the form keeps what is entered.
  /// - Complexity: as the change in a transaction, and one durable flush (0.1 to 10 ms).
  public mutating func save(metadata: [String: String] = [:], actor: String? = nil) throws {
    let problems = draft.problems()
    if !problems.isEmpty { throw ValidationError(path: path, causes: problems) }
    if !isNew && !draft.isEdited { return }
    let (path, isNew, entries) = (path, isNew, draft.entries)
    let saved = try database.write(metadata: metadata, actor: actor) { tx in
      if isNew {
        var record = DynamicRecord(path)
        RecordForm.enter(entries, into: &record)
        try tx.insert(record)
      } else {
        try tx.update(path) { RecordForm.enter(entries, into: &$0) }
      }
      return try tx[path].record
    }
    self.isNew = false
    draft.revert()
    if let saved { draft.follow(RecordForm.values(of: saved, draft.properties)) }
  }

  /// Gives up what is entered.
  public mutating func revert() { draft.revert() }

  private static func enter(_ entries: [String: Value], into record: inout DynamicRecord) {
    for (name, value) in entries { record[name] = value == .null ? nil : value }
  }

  private static func values(of record: DynamicRecord, _ properties: [FormProperty]) -> [String:
    Value]
  {
    var values: [String: Value] = [:]
    for property in properties { values[property.name] = record[property.name] }
    values["id"] = record.key.map(FormText.value)
    return values
  }
}
