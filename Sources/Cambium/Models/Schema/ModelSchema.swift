/// The properties that a model stores, their names, and the rules that hold for them: made once per
/// type, in a `static let`.
///
///     static let schema = ModelSchema<Flight>("flights") {
///       Property(\.carrier).onDelete(.nullify)
///       Property(\.number).validated("must be positive") { $0 > 0 }
///       Index(\.origin, \.scheduled.descending)
///       Unique(\.carrier, \.number, \.scheduled)
///       Count(by: \.carrier)
///     }
///
/// The properties are found in the type itself; the schema lists only those that have more to say.
/// Computed properties are not stored, nor are those that it ignores (``Ignored``).
/// Parts that are data (domains, delete rules, indexes, views) are declared in the database and
/// bind every writer; parts that are code (``Property/validated(_:_:)``, ``Rule``) run in the app.
///
/// - Complexity: made once per type, in 15 to 100 µs.
public final class ModelSchema<M: Model>: Sendable {
  @usableFromInline let core: SchemaCore
  /// The model that a record without any property reads as.
  @usableFromInline let template: M
  let rules: [ModelRule<M>]
  /// The conditions under which some properties are stored.
  let conditions: [ModelCondition<M>]
  let hooks: ModelHooks<M>?
  /// Finds and replaces the references in an enum of models, by the schema of its case.
  let referencesOfCase: ModelReferences<M>?
  /// Finds what is wrong with an enum of models, by the schema of its case.
  let problemsOfCase: (@Sendable (inout M) -> [ValidationError])?
  /// True if anything is checked before a model is written.
  @usableFromInline let hasChecks: Bool
  @usableFromInline let hasHooks: Bool
  /// True if some properties are read only under a condition.
  @usableFromInline let hasReadConditions: Bool
  /// The steps that lead here from older forms, in order.
  let steps: [MigrationStep<M>]
  /// Migrates the records of an enum of models, by the schemas of its cases.
  let casesMigration: CasesMigration<M>?

  /// Finds the properties in the type.
  ///
  /// - Parameters:
  ///   - collection: The path of the collection's node; `flights`.
  ///   - version: The app's number of this form of the model. A database that was declared with a
  ///     higher one refuses to be opened.
  ///   - parts: The lines of the schema, which add what the type itself does not say.
  public convenience init(
    _ collection: String, version: Int = 1,
    @SchemaBuilder<M> _ parts: () -> [SchemaItem<M>] = { [] }
  ) {
    let template = M()
    var draft = ModelSchema.draft(collection, of: template)
    self.init(template, &draft, version, parts())
  }

  /// Takes the properties as they are listed: for programs that are built without the metadata that
  /// holds the names of properties.
  ///
  /// - Parameters:
  ///   - collection: The path of the collection's node.
  ///   - version: The app's number of this form of the model.
  ///   - parts: Every property with its name, `Property("id", \.id)` among them.
  public convenience init(
    listing collection: String, version: Int = 1, @SchemaBuilder<M> _ parts: () -> [SchemaItem<M>]
  ) {
    var draft = ModelSchema.draft(collection)
    draft.isDiscovered = false
    self.init(M(), &draft, version, parts())
  }

  static func draft(_ collection: String, of template: M) -> SchemaDraft {
    let found = Discovery(of: template, flattens: true)
    var draft = draft(collection)
    draft.properties = found.properties.map(PropertyInfo.init)
    draft.idOffset = found.idOffset
    draft.problem = found.problem
    draft.omissions.unstorable = found.unstorable
    return draft
  }

  static func draft(_ collection: String) -> SchemaDraft {
    SchemaDraft(
      name: collection, typeName: "\(M.self)", keyType: M.Key._keyType,
      idForm: PropertyShape(M.Key.self).form)
  }

  init(
    _ template: M, _ draft: inout SchemaDraft, _ version: Int, _ items: [SchemaItem<M>],
    hooks: ModelHooks<M>? = ModelHooks.found(), referencesOfCase: ModelReferences<M>? = nil,
    problemsOfCase: (@Sendable (inout M) -> [ValidationError])? = nil,
    casesMigration: CasesMigration<M>? = nil
  ) {
    for item in items { item.code?(&draft) }
    for item in items { item.change?(&draft, template) }
    draft.problem = draft.problem ?? draft.omissions.unstorable.first?.reason
    if draft.idOffset == nil { draft.problem = draft.problem ?? "\(M.self).id must be stored" }
    if let problem = draft.properties.lazy.compactMap(\.codecProblem).first {
      draft.problem = draft.problem ?? "\(M.self).\(problem)"
    }
    ModelSchema.settle(&draft, template)
    self.template = template
    rules = items.flatMap(\.rules)
    conditions = items.flatMap(\.conditions)
    self.hooks = hooks
    self.problemsOfCase = problemsOfCase
    self.referencesOfCase = referencesOfCase
    hasHooks = hooks != nil
    hasReadConditions = conditions.contains(where: \.decidesReads)
    self.casesMigration = casesMigration
    let sharing = draft.sharing
    steps = items.compactMap(\.step).map { $0.ofCase(sharing.caseName) }
    draft.evolution = Evolution(
      steps: sharing.steps + steps.map(\.info), removed: items.flatMap(\.removed),
      draft.properties, caseNames: sharing.caseNames)
    draft.problem = draft.problem ?? draft.evolution.problem(draft.properties)
    draft.guards = ModelSchema.guards(items, hooks, isUnion: problemsOfCase != nil)
    let parts = items.compactMap(\.define)
    core = SchemaCore(draft) {
      [properties = draft.properties, keyType = draft.keyType, cases = draft.sharing.cases, rules]
      in
      var definition = CollectionDefinition()
      definition.model = "\(M.self)"
      definition.version = version
      definition.keys = keyType
      definition.properties = properties.map(\.definition)
      definition.rulesInCode = rules.map(\.words)
      for (index, core) in cases.enumerated() {
        definition.take(core().ownDeclaration.definition, isFirst: index == 0)
      }
      var problem = cases.lazy.compactMap { $0().ownDeclaration.problem }.first
      for define in parts {
        do { try define(&definition) } catch { problem = problem ?? "\(error)" }
      }
      return SchemaDeclaration(definition: definition, problem: problem)
    }
    hasChecks =
      !rules.isEmpty || !conditions.isEmpty || !core.guarded.isEmpty || problemsOfCase != nil
  }

  /// Derives what follows from the template.
  private static func settle(_ draft: inout SchemaDraft, _ template: M) {
    // A case's default would count for the records of other cases as well.
    let initial =
      draft.properties.isEmpty || draft.sharing.caseName != nil ? nil : InitialValues(template)
    for index in draft.properties.indices {
      let found = draft.properties[index]
      // A value that is stored differently each time cannot be declared.
      if let initial, found.codec?.guarantee != .nothing {
        draft.properties[index].defaults.isShared = false
        draft.properties[index].defaults.initial = initial.value(of: found)
        draft.properties[index].defaults.isComputed = initial.isComputed(found)
        if draft.properties[index].defaults.isComputed {
          draft.properties[index].defaults.absence = nil
        }
      }
      let info = draft.properties[index]
      // A property that is computed where it is absent has to be there as null.
      draft.properties[index].defaults.storesNull =
        info.defaults.absence == nil
        && (!found.isAbsent(in: template) || info.older.computed != nil)
      draft.properties[index].shape = info.shape.converting(info.formerTypes)
      draft.properties[index].older.ofCase = draft.sharing.caseName
      if draft.properties.contains(where: { $0.name == info.name && $0.offset != info.offset }) {
        draft.problem = draft.problem ?? "\(M.self) has two properties named \(info.name)"
      }
    }
  }

  /// The collection's declaration; its `properties` are those of the model, in order.
  public var definition: CollectionDefinition { core.definition }

  /// The declaration of a property: its stored name, type, label, domain. For forms and tables that
  /// are made from the schema.
  ///
  ///     Flight.schema[\.number]?.label            // "Flight number"
  ///
  /// Nil for what is not stored as a property of its own, as the id and nested values are not.
  public subscript<V>(property: KeyPath<M, V>) -> PropertyDefinition? {
    guard let offset = MemoryLayout<M>.offset(of: property),
      let index = core.layout.index(at: offset),
      core.properties[index].shape.typeID == ObjectIdentifier(V.self)
    else { return nil }
    return core.properties[index].definition
  }
}

extension PropertyInfo {
  /// The property as the collection's declaration has it.
  var definition: PropertyDefinition {
    var definition = PropertyDefinition(name, shape.propertyType())
    definition.isRequired = rules.isRequiredToWrite
    definition.absence = defaults.absence
    if !defaults.isShared {
      definition.isNullable = isNullable
      definition.isRequired = rules.isRequiredToWrite || defaults.isComputed && !isNullable
      if defaults.absence == nil, !rules.isRequiredToWrite {
        definition.take(default: defaults.constant)
      }
    }
    definition.domain = rules.domain
    definition.elementDomain = rules.elementDomain
    definition.keyDomain = rules.keyDomain
    definition.deleteRule = rules.deleteRule
    definition.mustExist = rules.mustExist ?? (rules.deleteRule != nil)
    definition.label = label
    definition.documentation = documentation
    return definition
  }
}

extension PropertyDefinition {
  /// Lets absence stand for a value, which is stored all the same where a record has it.
  mutating func take(default value: Value?) {
    (absence, omitsAbsence) = (value, value == nil)
  }
}

/// One line of a schema.
public struct SchemaItem<M: Model>: Sendable {
  /// Stores properties by codecs, before anything else is said about them.
  var code: (@Sendable (inout SchemaDraft) -> Void)?
  /// Changes the properties.
  var change: (@Sendable (inout SchemaDraft, M) -> Void)?
  /// Declares an index or a view. Run late: it names properties by the schema that is being made.
  var define: (@Sendable (inout CollectionDefinition) throws -> Void)?
  /// The rules that are checked by code.
  var rules: [ModelRule<M>] = []
  /// The conditions under which some properties are stored.
  var conditions: [ModelCondition<M>] = []
  /// The step that leads here from an older form.
  var step: MigrationStep<M>?
  /// Properties whose values may go.
  var removed: [String] = []
  /// A case that is gone, and what becomes of its records.
  var caseRemoval: CaseRemoval<M>?
}

/// A line of a schema: ``Property``, ``Index``, ``Unique(_:)``, a view, a ``Rule``.
public protocol SchemaPart<M> {
  /// The model.
  associatedtype M: Model
  /// The item that the line adds to the schema.
  var item: SchemaItem<M> { get }
}

/// Takes a schema's lines.
@resultBuilder public enum SchemaBuilder<M: Model> {
  /// Takes a line. There is one overload: with several, a misspelt property would be reported as a
  /// wrong kind of line.
  public static func buildExpression<Part: SchemaPart<M>>(_ part: Part) -> SchemaItem<M> {
    part.item
  }

  /// Takes all lines.
  public static func buildBlock(_ items: SchemaItem<M>...) -> [SchemaItem<M>] { items }
}
