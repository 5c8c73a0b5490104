// Declaring a collection: the app's declaration is checked before it is logged.

extension Database.Transaction {
  /// Declares the form of a collection's records: their properties, rules, indexes and views.
  ///
  /// A declaration binds every writer from then on. New indexes and views are built from the
  /// existing records; those that are no longer declared are removed. A declaration that equals the
  /// present one changes nothing.
  ///
  /// - Parameters:
  ///   - path: The node whose children are the records.
  ///   - definition: The new declaration; nil removes the present one, and leaves the records.
  /// - Throws: ``DatabaseError/badValue(_:reason:)`` for a declaration that contradicts itself;
  ///   ``DatabaseError/invalid(_:)`` and ``DatabaseError/notUnique(_:index:takenBy:)`` if an
  ///   existing record breaks a new rule. Nothing is changed then.
  /// - Complexity: 1 to 3 µs for each record and each new index, during which other writers wait;
  ///   they do not if the database declares: `Database.declare`.
  public func declare(_ path: NodePath, _ definition: CollectionDefinition?) throws {
    try running.declare(path, definition)
  }
}

extension RunningTransaction {
  func declare(_ path: NodePath, _ definition: CollectionDefinition?) throws {
    try use()
    let present = catalog.collections[path]?.definition
    if definition == present { return }
    try definition?.check(path)
    try definition?.checkConditions(path, catalog)
    if let definition { try defineNames(of: definition) }
    try issue(.declare(path, try definition?.value.stored()))
  }

  /// Defines the numbers of all names that a declaration uses.
  func defineNames(of definition: CollectionDefinition) throws {
    for name in definition.names { _ = try define(name) }
  }
}

extension Catalog {
  /// Assigns numbers to all names that a declaration uses, in this copy alone.
  mutating func defineNames(of definition: CollectionDefinition) throws {
    for name in definition.names where id(of: name) == nil { try define(name, as: NameID(count)) }
  }
}

extension CollectionDefinition {
  /// All names that the declaration uses.
  fileprivate var names: [String] {
    var names = properties.map(\.name)
    for index in indexes { names += index.terms.map(\.property) + index.covered }
    names += previews.flatMap { [$0.property, $0.copiedName] }
    for view in views { names += view.names }
    // A condition is compiled once, so that its names must have their numbers by then.
    for condition in indexes.map(\.condition) + views.map(\.condition) {
      names += condition?.propertyNames.sorted() ?? []
    }
    return names
  }

  /// Refuses a declaration that contradicts itself.
  fileprivate func check(_ path: NodePath) throws {
    func refuse(_ reason: String) throws -> Never {
      throw DatabaseError.badValue(path, reason: "its declaration is refused: \(reason)")
    }
    if path.isRoot { try refuse("the root is no collection") }
    var seen: Set<String> = []
    for property in properties {
      if !seen.insert(property.name).inserted { try refuse("\(property.name) is there twice") }
      if property.target == nil && (property.deleteRule != nil || property.mustExist) {
        try refuse("\(property.name) refers to nothing, so it can have no delete rule")
      }
      try property.checkElements(refuse)
      if property.deleteRule == .nullify && property.isRequired && !property.type.isPlural {
        try refuse("\(property.name) is required, so it cannot become null")
      }
    }
    for index in indexes {
      if index.terms.isEmpty || index.terms.count > 16 {
        try refuse("an index has 1 to 16 properties, not \(index.terms.count)")
      }
      if index.terms.count(where: { self[$0.property]?.type.isPlural ?? false }) > 1 {
        try refuse("an index can have one property with several values")
      }
    }
  }
}

extension PropertyDefinition {
  /// Refuses domains for elements and keys that there cannot be.
  fileprivate func checkElements(_ refuse: (String) throws -> Never) throws {
    if elementDomain != nil && type.member == nil {
      try refuse("\(name) is no array or map, so its elements can have no domain")
    }
    guard let keyDomain else { return }
    if case .array = type { try refuse("\(name) is an array, which has no keys") }
    if type.member == nil { try refuse("\(name) is no map, so its keys can have no domain") }
    if keyDomain.treatment != .reject {
      try refuse("\(name) can only refuse keys, not replace them")
    }
  }
}

extension CollectionDefinition {
  /// Refuses conditions that a record alone cannot answer.
  fileprivate func checkConditions(_ path: NodePath, _ catalog: Catalog) throws {
    var catalog = catalog
    try catalog.defineNames(of: self)
    let resolver = Resolver(definition: self, catalog: catalog)
    for condition in (indexes.map(\.condition) + views.map(\.condition)).compactMap(\.self) {
      do { _ = try ConditionProgram(condition, resolver) } catch let error as QueryError {
        throw DatabaseError.badValue(
          path, reason: "its declaration is refused: \(error.reason)")
      }
    }
  }
}

extension ViewDefinition {
  /// The properties that the view is derived from.
  package var names: [String] {
    switch content {
    case .groups(by: let names, let measures): names + measures.compactMap(\.property)
    case .top(by: let names, let terms): names + terms.map(\.property)
    case .text(let names, language: _): names
    }
  }
}

extension ViewDefinition.Aggregate {
  /// The property that it aggregates.
  package var property: String? {
    switch self {
    case .count: nil
    case .sum(let name), .average(let name), .minimum(let name), .maximum(let name): name
    }
  }
}

extension Snapshot {
  /// The declared collections, in path order: as of the newest transaction, for past snapshots too.
  public var collections: [(path: NodePath, definition: CollectionDefinition)] {
    get throws { try names.collections.all.map { ($0.path, $0.definition) } }
  }

  /// The declaration of a collection: as of the newest transaction, for past snapshots too.
  ///
  /// - Parameter path: The path of the collection.
  /// - Returns: The declaration, or nil if there is none.
  /// - Throws: ``DatabaseError/misuse(reason:)`` for a transaction's snapshot after the
  ///   transaction.
  public func definition(of path: NodePath) throws -> CollectionDefinition? {
    try names.collections[path]?.definition
  }

  /// The values that absent properties of a collection's records have at this moment.
  package func defaults(of path: NodePath) throws -> ValueMap {
    guard let plan = try names.collections[path] else { return ValueMap() }
    return ValueMap(
      plan.definition(asOf: moment).properties.compactMap { property in
        property.absence.map { (property.name, $0) }
      })
  }
}

extension Database.Transaction {
  /// The declaration of a collection, with what this transaction has done so far.
  func definition(of path: NodePath) throws -> CollectionDefinition? {
    try readingSnapshot().definition(of: path)
  }
}

extension RunningTransaction {
  /// Why what was at a place at a moment cannot come back: records there were migrated since.
  func olderForm(of path: NodePath, at moment: SequenceNumber) -> String? {
    let collections = catalog.collections
    let touched = collections.all(within: path) + [collections[of: path]].compactMap(\.self)
    for collection in touched {
      let last = collection.definition.steps.map(\.sequence).max() ?? .zero
      guard last > moment || collection.definition.migration != nil else { continue }
      return "the records of \(collection.path) were migrated since, and had an older form then"
    }
    return nil
  }
}
