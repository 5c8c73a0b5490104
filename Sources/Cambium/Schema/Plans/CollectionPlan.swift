/// A declared collection as writers and readers use it: names and indexes are numbers.
final class CollectionPlan: Sendable {
  let path: NodePath
  let definition: CollectionDefinition
  /// The declared properties, in ascending order of their names' numbers.
  let properties: [PropertyPlan]
  /// The part of each property's rules that tags of values decide, in the same order.
  let tagRules: [TagRule]
  /// The declared indexes, and one for each reference that has no index.
  let indexes: [IndexPlan]
  /// True if any index is unique.
  let hasUniqueIndex: Bool
  let views: [ViewPlan]
  /// The indexes and views, in the order in which their numbers are stored.
  let folds: [Fold]
  /// The defaults before the present ones, ascending by the transaction that changed them.
  let formerDefaults: [FormerDefault]
  /// The present defaults of absent values; nil if there are none.
  let presentDefaults: DeclaredDefaults?
  /// True if a rule may change written values, or must read other records.
  let changesValues: Bool
  /// True if a change in place of an absent value may begin with a default.
  let hasDefaults: Bool

  /// Resolves a declaration.
  ///
  /// - Parameters:
  ///   - path: The collection.
  ///   - definition: The declaration.
  ///   - numbers: The numbers of the indexes, then those of the views, in order.
  ///   - catalog: The catalog, which has all names that the declaration uses.
  ///   - formerDefaults: The defaults of earlier declarations.
  /// - Throws: ``DatabaseError/corrupt(reason:)`` if a name or a number is missing.
  init(
    _ path: NodePath, _ definition: CollectionDefinition, numbers: [UInt32], _ catalog: Catalog,
    formerDefaults: [FormerDefault] = []
  ) throws {
    self.path = path
    self.formerDefaults = formerDefaults
    self.definition = definition
    let effective = CollectionPlan.indexes(of: definition)
    guard numbers.count == effective.count + definition.views.count else {
      throw DatabaseError.corrupt(reason: "the declaration of \(path) has too few numbers")
    }
    properties = try definition.properties
      .map { try PropertyPlan($0, name: try catalog.defined($0.name)) }
      .sorted { $0.name < $1.name }
    tagRules = try properties.map { try TagRule($0) }
    changesValues = properties.contains {
      $0.hasDomains || $0.omitted != nil || $0.definition.mustExist
    }
    hasDefaults = properties.contains { !$0.addsToNothing }
    presentDefaults = DeclaredDefaults(definition)
    let resolver = Resolver(definition: definition, catalog: catalog)
    indexes = try zip(numbers, effective).map { try IndexPlan($0, $1, resolver) }
    hasUniqueIndex = effective.contains(where: \.isUnique)
    views = try zip(numbers.dropFirst(effective.count), definition.views).map {
      try ViewPlan($0, $1, resolver)
    }
    folds = indexes.map { .index($0) } + views.map { Fold($0) }
  }

  /// Resolves a declaration that has not been stored yet, so that nothing has a number.
  convenience init(
    drafting path: NodePath, _ definition: CollectionDefinition, _ catalog: Catalog
  ) throws {
    let count = CollectionPlan.indexes(of: definition).count + definition.views.count
    try self.init(path, definition, numbers: Array(repeating: 0, count: count), catalog)
  }

  /// The indexes that a declaration requires: its own, and one for each reference that no other
  /// index of all records begins with, since the inverse relation is read through it.
  static func indexes(of definition: CollectionDefinition) -> [IndexDefinition] {
    var indexes = definition.indexes
    for property in definition.properties where property.target != nil {
      let isIndexed = indexes.contains { index in
        // A record without elements in a later term has no entry.
        index.condition == nil && index.terms.first?.property == property.name
          && !index.terms.dropFirst().contains { definition[$0.property]?.type.isPlural ?? false }
      }
      if !isIndexed { indexes.append(IndexDefinition([.init(property.name)])) }
    }
    return indexes
  }

  /// The numbers of indexes and views, in the order in which they are stored.
  var numbers: [UInt32] { folds.map(\.number) }

  /// The index whose entries are the same as those of another declaration's index.
  func index(like other: IndexPlan) -> IndexPlan? {
    let alike = indexes.filter { $0.hasSameEntries(as: other) }
    return alike.first { $0.isUnique == other.isUnique } ?? alike.first
  }

  /// The view whose content is the same as that of another declaration's view.
  func view(like other: ViewPlan) -> ViewPlan? { views.first { $0.hasSameContent(as: other) } }

  /// The plan of a property; nil if it is not declared.
  func property(_ name: NameID) -> PropertyPlan? { properties.first { $0.name == name } }

  /// The index through which the records that refer to others by a property are found.
  func edge(_ property: NameID) -> IndexPlan? {
    indexes.first {
      $0.condition == nil && $0.terms.first?.name == property && ($0.plural ?? 0) == 0
    }
  }
}

/// A declared property, resolved: its name is a number, and its defaults are in their stored form.
final class PropertyPlan: Sendable {
  let name: NameID
  let definition: PropertyDefinition
  let domain: DomainPlan?
  /// The domains of the elements and keys; nil if there are none.
  let elements: ElementPlan?
  let standIn: StandIn
  /// The value that is left out of records, in its stored form; nil for none.
  let omitted: [UInt8]?
  /// True if changing an absent value in place does not require its default.
  let addsToNothing: Bool

  init(_ definition: PropertyDefinition, name: NameID) throws {
    self.name = name
    self.definition = definition
    standIn = try StandIn(definition)
    omitted = definition.omitsAbsence ? try definition.absence?.stored() : nil
    addsToNothing = try omitted == nil && standIn.isNeutral
    domain = try definition.domain.map { try DomainPlan($0, as: definition.type) }
    elements = try ElementPlan(definition)
  }

  /// True if values outside a domain are replaced or refused.
  var hasDomains: Bool { domain != nil || elements != nil }

  /// The value that replaces a stored one which is not null: itself, if it is inside, is to be
  /// refused, or is of another type; nil for null.
  func insideDomains(_ value: [UInt8]) throws -> [UInt8]? {
    guard hasDomains, try value.lend({ try definition.type.takes($0) }) else { return value }
    var inside: [UInt8]? = value
    if let domain { inside = try domain.treated(value) }
    guard let elements, let whole = inside else { return inside }
    return try elements.treated(whole)
  }
}

/// Resolves the names in a declaration.
struct Resolver {
  let definition: CollectionDefinition
  let catalog: Catalog

  func name(_ name: String) throws -> NameID { try catalog.defined(name) }

  func type(_ name: String) -> PropertyType { definition[name]?.type ?? .any }

  /// The stand-in for a value of a property that a record does not have.
  func standIn(_ name: String) throws -> StandIn { try StandIn(definition[name]) }
}

extension Catalog {
  /// The number of a name that must be defined.
  func defined(_ name: String) throws -> NameID {
    guard let id = id(of: name) else {
      throw DatabaseError.corrupt(reason: "the name \(name) is declared and not defined")
    }
    return id
  }
}

/// All declared collections, by path.
struct Collections: Sendable {
  /// The number of declarations so far, which distinguishes this from an older version.
  private(set) var version: UInt32 = 0
  /// The objects of higher layers that are valid for this version of declarations and names.
  var slots = Slots.ofNothing
  /// The indexes and views whose entries are incomplete, or not yet removed, by number.
  var unfinished: [UInt32: Unfinished] = [:]
  private var plans: [[UInt8]: CollectionPlan] = [:]
  /// The most bytes of a collection's path: longer paths are not looked up.
  private var pathBytesMax = 0
  /// The collections that records refer to.
  private var targets: Set<NodePath> = []
  /// The indexes that preview records of a collection, by its path's bytes.
  private var previewers: [[UInt8]: [Previewer]] = [:]

  init() {}

  init(_ plans: [CollectionPlan], version: UInt32) {
    self.version = version
    slots = Slots()
    self.plans = Dictionary(plans.map { ($0.path.bytes, $0) }) { _, later in later }
    pathBytesMax = plans.map(\.path.bytes.count).max() ?? 0
    gatherRelations()
  }

  var isEmpty: Bool { plans.isEmpty }

  /// All of them, in path order.
  var all: [CollectionPlan] { all(within: .root) }

  subscript(path: NodePath) -> CollectionPlan? { plans[path.bytes] }

  /// The collection whose path has these bytes.
  subscript(bytes: ArraySlice<UInt8>) -> CollectionPlan? {
    bytes.count > pathBytesMax ? nil : plans[Array(bytes)]
  }

  /// True if a path or anything below it is a collection.
  func hasAny(within path: NodePath) -> Bool {
    if path.bytes.count > pathBytesMax { return false }
    if path.bytes.count == pathBytesMax { return plans[path.bytes] != nil }
    return plans.keys.contains { $0.starts(with: path.bytes) }
  }

  /// The collections at a path and below it, in path order.
  func all(within path: NodePath) -> [CollectionPlan] {
    if !hasAny(within: path) { return [] }
    return plans.values.filter { $0.path.isWithin(path) }.sorted { $0.path < $1.path }
  }

  /// The properties by which records refer to those of a collection.
  func references(to path: NodePath) -> [(collection: CollectionPlan, property: PropertyPlan)] {
    all.flatMap { collection in
      collection.properties.lazy.filter { $0.definition.target == path }.map { (collection, $0) }
    }
  }

  /// True if records of any collection may refer to those of the one at a path, declared or not.
  func isReferredTo(_ path: NodePath) -> Bool { targets.contains(path) }

  /// True if records refer to those of a collection at a path or below it.
  func hasTarget(within path: NodePath) -> Bool { targets.contains { $0.isWithin(path) } }

  /// True if removing a node may remove declared collections, or records that others refer to.
  func mayCascade(removing path: NodePath) -> Bool {
    if hasAny(within: path) { return true }
    if targets.isEmpty { return false }
    return hasTarget(within: path) || path.parent.map { isReferredTo($0) } ?? false
  }

  /// The collections at a path or below it that records refer to, in path order.
  func targets(within path: NodePath) -> [NodePath] {
    targets.filter { $0.isWithin(path) }.sorted()
  }

  mutating func declare(_ plan: CollectionPlan) {
    version += 1
    slots = Slots()
    plans[plan.path.bytes] = plan
    pathBytesMax = max(pathBytesMax, plan.path.bytes.count)
    gatherRelations()
  }

  mutating func takeBack(_ path: NodePath) {
    version += 1
    slots = Slots()
    plans[path.bytes] = nil
    gatherRelations()
  }

  private mutating func gatherRelations() {
    targets = Set(plans.values.flatMap { $0.properties.compactMap(\.definition.target) })
    previewers = Dictionary(
      grouping: all.flatMap(\.previewers), by: \.target.bytes
    ).mapValues { $0.map(\.previewer) }
  }

  // MARK: Previews

  /// True if an index holds copies of properties of the records that its own records refer to.
  var hasPreviews: Bool { !previewers.isEmpty }

  /// The indexes that preview records of a collection.
  func previewers(of path: ArraySlice<UInt8>) -> [Previewer] { previewers[Array(path)] ?? [] }

  /// The indexes that preview records of any collection at a path or below it, each once.
  func previewers(within path: NodePath) -> [Previewer] {
    var seen: Set<UInt32> = []
    return previewers.filter { $0.key.starts(with: path.bytes) }.flatMap(\.value)
      .sorted { $0.index.number < $1.index.number }.filter { seen.insert($0.index.number).inserted }
  }
}
