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
    if Set(M.cases.all.map(\.name)).count < M.cases.all.count {
      draft.problem = "\(M.self) gives one name to two cases"
    }
    draft.sharing.codec = UnionCodec(M.self)
    let items = parts()
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
      })
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
    if let own = U.cases.all.first(where: { $0.type == ObjectIdentifier(M.self) }) {
      draft.sharing.caseName = own.name
      draft.properties.append(
        PropertyInfo(
          caseName: own.name, at: MemoryLayout<M>.size, draft.sharing.discriminator ?? ""))
    } else {
      draft.problem = "\(U.self) lists no case for \(M.self)"
    }
    self.init(template, &draft, 1, parts())
  }
}

extension PropertyInfo {
  /// The property that holds the case's name in each record. In the model it has no place of its
  /// own: it lies behind the others, where nothing is read or written.
  fileprivate init(caseName: String, at offset: Int, _ name: String) {
    self.init(
      DiscoveredProperty(name: name, offset: offset, shape: PropertyShape(caseName: caseName)))
    (rules.isRequiredToRead, rules.isRequiredToWrite) = (true, true)
  }
}

/// A model's part in a collection that several models share: their union, or one case of it.
/// Nothing is set for a model that has its collection for itself.
struct SharedCollection: Sendable {
  /// The property that says which case a record is.
  var discriminator: String?
  /// The name of the case in this model's records; nil for the union.
  var caseName: String?
  /// The schemas of a union's cases.
  var cases: [@Sendable () -> SchemaCore] = []
  /// The union that this is a case of.
  var owner: (@Sendable () -> SchemaCore)?
  /// Takes the table's place where the model is an enum of models.
  var codec: UnionCodec?
}

extension SchemaCore {
  /// The condition that selects the model's records, where others share its collection.
  var caseCondition: Condition? {
    guard let caseName = sharing.caseName, let discriminator = sharing.discriminator else {
      return nil
    }
    return Condition(.compare(PropertyPath(discriminator), .equal, .string(caseName)))
  }

  /// Throws where cases of one union contradict each other.
  func checkCases() throws {
    if let owner = sharing.owner { return try owner().checkCases() }
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
    self.type == (C.schema.core.sharing.caseName ?? "")
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
