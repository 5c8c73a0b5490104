/// A form for a model, made from its schema, for any kind of user interface.
///
///     var form = try ModelForm(flight, in: database)
///     for property in form.properties {
///       show(property.label, property.editor, form.draft.text(of: property.name))
///     }
///     form.draft.set("number", text: "1545")
///     form.problems().forEach { print($0.property ?? "", $0.message) }
///     try form.save()
///
/// Saving writes the properties that were edited, in one transaction; what others have changed
/// meanwhile in other properties stays. An enum of models has no form of its own; each of its
/// models has.
///
/// Threads: it is a value; use it from one thread at a time.
public struct ModelForm<M: Model>: Sendable {
  /// The values that are edited.
  public var draft: FormDraft
  /// The model as it is stored; nil for one that is still to be inserted.
  public private(set) var stored: M?
  private let database: Database
  /// The model that a new one starts from.
  private let start: M

  /// Makes a form that edits a stored model.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` where the model cannot be used, or is an enum of
  ///   models.
  /// - Complexity: O(properties).
  public init(_ model: M, in database: Database) throws {
    try self.init(model, stored: model, database)
  }

  /// Makes a form for a model that is still to be inserted.
  ///
  /// - Parameters:
  ///   - model: The values to start with.
  ///   - database: The database that ``save(metadata:actor:)`` inserts it into.
  /// - Throws: As for a stored one.
  public init(new model: M = M(), in database: Database) throws {
    try self.init(model, stored: nil, database)
  }

  private init(_ model: M, stored: M?, _ database: Database) throws {
    let core = M.schema.core
    try core.check()
    guard core.sharing.cases.isEmpty else {
      throw DatabaseError.misuse(reason: "\(M.self) is an enum of models; make a form of a case's")
    }
    let choices = EnumChoices.found(in: M.schema.template)
    // A new UUID is generated; every other key has to be entered.
    let showsKey = stored != nil || core.keyType != .uuid
    let key = FormProperty(key: core.keyType, isReadOnly: stored != nil)
    let properties = core.properties.map { info in
      var property = FormProperty(info.definition, choices: choices[info.name])
      // A default serves records; a model has either a value or nil.
      property.isRequired = !info.isNullable || info.rules.isRequiredToWrite
      return property
    }
    draft = FormDraft((showsKey ? [key] : []) + properties, stored: ModelForm.values(of: model))
    (self.stored, self.database, start) = (stored, database, model)
  }

  /// The properties, in the order in which they are shown; an app may change them.
  public var properties: [FormProperty] {
    get { draft.properties }
    set { draft.properties = newValue }
  }

  /// True if there is anything to save.
  public var isEdited: Bool { stored == nil || draft.isEdited }

  /// The model with what is entered.
  ///
  /// - Throws: ``ValidationError`` with what cannot be a value of its property.
  public func model() throws -> M {
    var model = stored ?? start
    try enter(into: &model)
    return model
  }

  /// Everything that stands against saving: problems of single properties, and the rules in code.
  /// Only ``save(metadata:actor:)`` finds what depends on other records, such as a value that must
  /// be unique.
  ///
  /// - Returns: Every message with its property; empty where it can be saved.
  /// - Complexity: O(properties), and the rules.
  public func problems() -> [ValidationError] {
    let problems = draft.problems()
    let known = Set(problems.compactMap(\.property))
    func others(_ errors: [ValidationError]) -> [ValidationError] {
      errors.filter { error in error.property.map { !known.contains($0) } ?? true }
    }
    do {
      return try problems + others(model().validationErrors())
    } catch let error as ValidationError {
      return problems + others(error.causes)
    } catch {
      return problems + [ValidationError("\(error)")]
    }
  }

  /// Inserts the model, or writes the properties that were edited, in one transaction.
  ///
  /// - Parameters:
  ///   - metadata: Stored with the transaction.
  ///   - actor: Who makes the change; stored in the metadata as `actor`.
  /// - Returns: The model as it is stored then.
  /// - Throws: ``ValidationError`` with all ``problems()``; ``DatabaseError/notFound(_:reason:)``
  ///   where the model was deleted; otherwise as
  ///   `write` of the database. Nothing is stored then, and the form keeps what is entered.
  /// - Complexity: as the change in a transaction, and one durable flush (0.1 to 10 ms).
  @discardableResult
  public mutating func save(
    metadata: [String: String] = [:], actor: String? = nil
  ) throws -> M {
    let problems = problems()
    if !problems.isEmpty { throw ValidationError(causes: problems) }
    if let stored, !draft.isEdited { return stored }
    let form = self
    let saved = try database.write(metadata: metadata, actor: actor) { tx in
      guard let stored = form.stored else { return try tx.get(try tx.insert(form.model())) }
      return try tx.update(stored.id) { try form.enter(into: &$0) }.after
    }
    stored = saved
    draft.revert()
    draft.follow(ModelForm.values(of: saved))
    if let place = draft.properties.firstIndex(where: { $0.name == "id" }) {
      draft.properties[place].isReadOnly = true
    }
    return saved
  }

  /// Gives up what is entered.
  public mutating func revert() { draft.revert() }

  /// Takes over the model as it is stored now: properties that were edited stay so, and the others
  /// follow.
  public mutating func follow(_ model: M) {
    stored = model
    draft.follow(ModelForm.values(of: model))
  }

  // MARK: Between models and values

  private static func values(of model: M) -> [String: Value] {
    var values: [String: Value] = [:]
    for property in M.schema.core.properties where !property.isAbsent(in: model) {
      values[property.name] = property.value(in: model)
    }
    values["id"] = model.id.isAssigned ? model.id.storedValue : .null
    return values
  }

  /// Puts what is entered into a model.
  private func enter(into model: inout M) throws {
    let entries = draft.entries
    var problems: [ValidationError] = []
    for property in M.schema.core.properties {
      guard let value = entries[property.name] else { continue }
      do {
        try value.stored().lend { try property.read($0, depth: 0, into: &model) }
      } catch {
        let text = value == .null ? "is required" : "must be \(property.shape.propertyType())"
        problems.append(ValidationError(property: property.name, text))
      }
    }
    if let key = entries["id"], stored == nil {
      do { model.id = try M.ID(storedValue: key) } catch {
        problems.append(ValidationError(property: "id", "cannot be a key"))
      }
    }
    if !problems.isEmpty { throw ValidationError(causes: problems) }
  }
}
