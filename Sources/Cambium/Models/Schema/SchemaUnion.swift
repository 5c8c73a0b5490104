// Schemas of models that share a collection: the enum's, and those of its cases. The collection's
// declaration is put together from all of them, whichever is asked for.

extension ModelSchema where M: ModelUnion {
  /// The schema of an enum of models.
  ///
  /// - Parameters:
  ///   - collection: The path of the collection's node.
  ///   - discriminator: The property that holds the case's name.
  ///   - version: The app's number of this form of the models.
  ///   - parts: Indexes and views about all cases.
  public convenience init(
    union collection: String, discriminator: String = "type", version: Int = 1,
    @SchemaBuilder<M> _ parts: () -> [SchemaItem<M>] = { [] }
  ) {
    var draft = ModelSchema.draft(collection)
    draft.idOffset = 0
    draft.sharing.discriminator = discriminator
    draft.sharing.cases = M.cases.all.map(\.core)
    let items = parts()
    let removals = items.compactMap(\.caseRemoval)
    draft.sharing.take(M.cases.all.map(\.names))
    draft.sharing.steps = removals.map {
      Evolution.Step(name: $0.step, changes: [], isReadable: true)
    }
    draft.problem = M.cases.problem(removals)
    draft.sharing.codec = UnionCodec(M.self, removals)
    if items.contains(where: { !$0.rules.isEmpty }) {
      draft.problem = draft.problem ?? "\(M.self): rules stand in the schemas of its cases"
    }
    self.init(
      M(), &draft, version, items, hooks: ModelHooks(M.cases.all),
      referencesOfCase: ModelReferences(M.cases.all),
      problemsOfCase: { model in
        for known in M.cases.all {
          if let problems = known.problems(&model) { return problems }
        }
        return []
      }, casesMigration: CasesMigration(M.self, removals))
  }
}

extension ModelSchema {
  /// The schema of a case of an enum of models, in the enum's collection.
  ///
  /// - Parameters:
  ///   - union: The enum, which lists the model.
  ///   - parts: The lines of the schema, which add what the type itself does not say.
  public convenience init<U: ModelUnion>(
    caseOf union: U.Type, @SchemaBuilder<M> _ parts: () -> [SchemaItem<M>] = { [] }
  ) where U.Key == M.Key {
    let template = M()
    var draft = ModelSchema.draft(U.schema.core.name, of: template)
    draft.sharing.discriminator = U.schema.core.sharing.discriminator
    draft.sharing.owner = { U.schema.core }
    draft.sharing.union = U.self
    draft.sharing.take(U.cases.all.map(\.names))
    if let own = U.cases.all.first(where: { $0.type == ObjectIdentifier(M.self) }) {
      let name = draft.sharing.discriminator ?? ""
      let place = MemoryLayout<M>.size
      draft.sharing.caseNames = own.names.all
      draft.properties.append(PropertyInfo(own.names, at: place, name))
      if own.names.takesNameless {
        draft.sharing.steps.append(
          Evolution.Step(
            name: Evolution.name("\(name) was absent", ofCase: own.name),
            changes: [place..<place + 1], isReadable: true))
      }
    } else {
      draft.problem = "\(U.self) lists no case for \(M.self)"
    }
    self.init(template, &draft, 1, parts())
  }
}

extension PropertyInfo {
  /// The property that holds the case's name in each record. In the model it has no place of its
  /// own: it lies behind the others, where nothing is read or written.
  fileprivate init(_ names: CaseNames, at offset: Int, _ name: String) {
    let shape = PropertyShape(caseName: names.own, formerly: names.former)
    self.init(DiscoveredProperty(name: name, offset: offset, shape: shape))
    (rules.isRequiredToRead, rules.isRequiredToWrite) = (!names.takesNameless, true)
    older.caseNames = names.former
  }
}

/// A model's part in a collection that several models share: their union, or one case of it.
/// Nothing is set for a model that has its collection for itself.
struct SharedCollection: Sendable {
  /// The property that says which case a record is.
  var discriminator: String?
  /// The names of the case in this model's records, the present one first; none for the union.
  var caseNames: [String] = [] {
    didSet { caseName = caseNames.first }
  }
  /// The name of the case in this model's records; nil for the union.
  private(set) var caseName: String?
  /// The name of the case whose records have none; nil where all have one.
  private(set) var namelessCase: String?
  /// The schemas of a union's cases.
  var cases: [@Sendable () -> SchemaCore] = []
  /// The union that this is a case of.
  var owner: (@Sendable () -> SchemaCore)?
  /// The type of that union.
  var union: (any Model.Type)?
  /// The steps that follow from the names of the cases.
  var steps: [Evolution.Step] = []
  /// Takes the table's place where the model is an enum of models.
  var codec: UnionCodec?

  /// Takes what the names of all cases say about records without one.
  fileprivate mutating func take(_ cases: [CaseNames]) {
    namelessCase = cases.first(where: \.takesNameless)?.own
  }
}

extension ModelCases {
  /// The reason why the names of the cases are not valid; nil if they are.
  fileprivate func problem(_ removals: [CaseRemoval<Union>]) -> String? {
    var seen: Set<String> = []
    for name in all.flatMap(\.names.all) + removals.map(\.name) where !seen.insert(name).inserted {
      return "\(Union.self) gives the name '\(name)' to two cases"
    }
    if all.count(where: \.names.takesNameless) < 2 { return nil }
    return "\(Union.self) says of two cases that they had the collection alone"
  }
}

extension SchemaCore {
  /// The condition that selects the model's records, where others share its collection.
  var caseCondition: Condition? {
    sharing.discriminator.flatMap { caseCondition(at: PropertyPath($0)) }
  }

  /// The condition that the name of a case, at a path, is one of the model's.
  func caseCondition(at path: PropertyPath) -> Condition? {
    guard let caseName = sharing.caseName else { return nil }
    let names = sharing.caseNames.map { Value.string($0) }
    let isNamed =
      names.count > 1
      ? Condition(.oneOf(path, names)) : Condition(.compare(path, .equal, .string(caseName)))
    if sharing.namelessCase != caseName { return isNamed }
    return isNamed || Condition(.compare(path, .equal, .null))
  }

  /// Throws where cases of one union contradict each other.
  func checkCases() throws {
    if let owner = sharing.owner { return try owner().checkCases() }
    if let problem = evolution.problem(with: sharing.cases.map { $0() }) {
      throw DatabaseError.misuse(reason: "\(typeName): \(problem)")
    }
    var known: [String: (PropertyDefinition, String)] = [:]
    for core in sharing.cases.map({ $0() }) {
      try core.check()
      for var property in core.ownDeclaration.definition.properties.map(\.rule) {
        // Cases may differ in whether it is required, and in its label and documentation.
        property.isRequired = false
        let previous = known.updateValue((property, core.typeName), forKey: property.name)
        guard let (other, typeName) = previous else { continue }
        guard other == property else {
          throw DatabaseError.misuse(
            reason: """
              the property \(property.name) is not the same in \(typeName) and \(core.typeName), \
              which share the collection \(path)
              """)
        }
      }
    }
  }
}

extension CollectionDefinition {
  /// Adds what a case declares. A property is required where all cases require it.
  mutating func take(_ other: CollectionDefinition, isFirst: Bool) {
    for index in properties.indices where other[properties[index].name] == nil {
      properties[index].isRequired = false
    }
    for var property in other.properties {
      if let index = properties.firstIndex(where: { $0.name == property.name }) {
        properties[index].isRequired = properties[index].isRequired && property.isRequired
      } else {
        property.isRequired = property.isRequired && isFirst
        properties.append(property)
      }
    }
    indexes += other.indexes.filter { !indexes.contains($0) }
    for view in other.views { add(view) }
    rulesInCode += other.rulesInCode.filter { !rulesInCode.contains($0) }
  }
}

// MARK: In queries

extension Fields where M: ModelUnion {
  /// The name of the case.
  public var type: Operand<String> {
    let core = M.schema.core
    return Operand(
      path: PropertyPath(hops: hops, core.sharing.discriminator), core: core, offset: nil)
  }

  /// The model's id.
  public var id: Operand<ModelID<M>> {
    Operand(path: PropertyPath(hops: hops, nil), core: M.schema.core, offset: nil)
  }
}

// As with the calls of an operand, what these need is said on them; see Conditions.swift.
extension Fields {
  /// Tests whether the model is of a case.
  public func `is`<C: Model>(_ type: C.Type) -> Condition where M: ModelUnion {
    C.schema.core.caseCondition(at: self.type.path) ?? (self.type == "")
  }

  /// The properties of a case. A property that other cases have under the same name is asked for in
  /// their records as well; combine with ``is(_:)`` where that is not wanted.
  public func `as`<C: Model>(_ type: C.Type) -> Fields<C> where M: ModelUnion {
    Fields<C>(hops: hops)
  }
}

extension Operand {
  /// A reference to a union, as one to a case, to name the case's properties.
  public func `as`<C: Model>(_ type: C.Type) -> Operand<ModelID<C>> where V.Members: ModelUnion {
    Operand<ModelID<C>>(path: path, core: core, offset: offset)
  }
}
