// A schema bound to one database, with the number of each property's name. The codec is a table of
// steps, one per property, in the order of those numbers, so that one pass over a stored record's
// own sorted table finds all of them.

import Synchronization

/// A schema in a database, for one version of its catalog, which keeps it.
///
/// Invariants:
/// 1. `steps` ascend by name; those without a name come last. By construction.
/// 2. Every step's offset lies inside the model, or is that of a case's name. By ``SchemaCore``'s
///    second.
@usableFromInline
final class Binding: Sendable {
  /// One property for the codec's loop: trivial, so that nothing is retained in it.
  struct Step: BitwiseCopyable, Sendable {
    var name: NameID
    var offset: Int32
    var property: UInt16
    var form: Form
    var flags: UInt8

    /// A record without it cannot be read.
    static let required: UInt8 = 1
    /// The template's value is not stored.
    static let elided: UInt8 = 2
    /// Nil is stored as null, since the template's value is another.
    static let storesNull: UInt8 = 4
    /// A reference: without a key it is absent.
    static let reference: UInt8 = 8
    /// Absence, or null, is read as something else than the template's value.
    static let filled: UInt8 = 16
  }

  /// A name that a property had before.
  struct Former: Sendable {
    let name: NameID
    let property: Int
    /// Its place in the property's list of former names.
    let index: Int
  }

  /// The placeholder for a name that the database does not know.
  static let unknown = NameID.max

  let core: SchemaCore
  let steps: [Step]
  /// Name by property, `unknown` where the database has none.
  let names: [NameID]
  /// The stored forms that are not stored, by property.
  let elided: [[UInt8]?]
  /// The values that are read where there are none, by property.
  let fills: [Fill]
  let former: [Former]
  let union: BoundUnion
  /// The properties that refer to one case of a union.
  let caseReferences: [CaseReference]
  /// The names of older records; nil where no property is computed of them.
  let catalog: Catalog?
  let readable: ReadableMoments
  /// True if the declaration is known to have all that the model says, and the catalog every name.
  let isClaimed = Atomic(false)
  /// True if records always need the large form: for many properties, or large name ids.
  let isLarge: Bool

  /// Binds a schema.
  ///
  /// - Parameters:
  ///   - core: The schema to bind.
  ///   - known: The names and declarations of the database.
  ///   - moment: The moment whose defaults count; nil for the present.
  /// - Throws: ``DatabaseError/misuse(reason:)`` where the schema cannot be used with them.
  init(_ core: SchemaCore, _ known: Catalog, asOf moment: UInt64? = nil) throws {
    try core.check()
    let plan = known.collections[core.path]
    let declared = plan?.definition(asOf: moment)
    try core.checkUse(plan?.definition)
    self.core = core
    readable = ReadableMoments(core, plan)
    let isComputing =
      core.properties.contains { $0.older.computed != nil }
      || core.sharing.codec?.isConverting ?? false
    catalog = isComputing ? known.withoutSlots : nil
    names = core.properties.map { known.id(of: $0.name) ?? Binding.unknown }
    union = try BoundUnion(core.sharing, known, asOf: moment)
    caseReferences = CaseReference.all(of: core, names)
    isLarge = core.properties.count > 255 || names.contains { $0 > 0xFFFF }
    elided = try core.properties.map { try $0.defaults.elided(declared?[$0.name]) }
    fills = try core.properties.map { try Fill($0, declared?[$0.name]) }
    var formers: [Former] = []
    for (property, info) in core.properties.enumerated() {
      for (index, name) in info.older.names.enumerated() {
        // Under its own name is its own former type, which its own step must not read.
        guard let id = known.id(of: name.name) else { continue }
        formers.append(Former(name: id, property: property, index: index))
      }
    }
    self.former = formers
    steps = core.properties.indices.map { [names, elided, fills] index in
      let info = core.properties[index]
      return Step(
        name: names[index], offset: Int32(info.offset), property: UInt16(index),
        form: info.shape.form, flags: Binding.flags(info, fills[index], elided[index]))
    }.sorted { $0.name < $1.name }
  }

  private static func flags(_ info: PropertyInfo, _ fill: Fill, _ elided: [UInt8]?) -> UInt8 {
    var flags: UInt8 = 0
    let isRequired = info.rules.isRequiredToRead || info.defaults.isComputed && !info.isNullable
    if isRequired && info.older.computed == nil && !fill.hasDefault { flags |= Step.required }
    if fill.ofAbsence != nil || fill.ofNull != nil { flags |= Step.filled }
    if elided != nil { flags |= Step.elided }
    if info.defaults.storesNull || fill.hasDefault { flags |= Step.storesNull }
    if info.shape.isReference { flags |= Step.reference }
    return flags
  }
}

/// The cases of a union, bound to the same database; none for other models.
struct BoundUnion: Sendable {
  /// True if the model shares its collection with no other.
  let isAlone: Bool
  let cases: [Binding]
  /// The stored forms of the cases' names, present and former; of one case those of its own.
  let names: [(stored: [UInt8], index: Int)]
  /// The index of the case whose records have no name.
  let nameless: Int?
  /// The name of the property that says which case a record is.
  let discriminator: NameID

  init(_ sharing: SharedCollection, _ known: Catalog, asOf moment: UInt64?) throws {
    isAlone = sharing.caseName == nil
    cases = try sharing.cases.map { try Binding($0(), known, asOf: moment) }
    let all = cases.isEmpty ? [sharing] : cases.map(\.core.sharing)
    names = try all.enumerated().flatMap { index, sharing in
      try sharing.caseNames.map { (try Value.string($0).stored(), index) }
    }
    nameless = all.firstIndex { $0.caseName != nil && $0.caseName == $0.namelessCase }
    discriminator = sharing.discriminator.flatMap { known.id(of: $0) } ?? Binding.unknown
  }
}

/// The moments whose records a binding can read.
struct ReadableMoments: Sendable {
  /// Before this transaction records had a form that the model does not know.
  private let oldest: SequenceNumber
  /// At moments before this transaction some default was another one.
  private let lastDefaults: UInt64
  /// The reason why records cannot be read at all; nil if they can.
  private let refusal: DatabaseError?

  init(_ core: SchemaCore, _ plan: CollectionPlan?) {
    refusal = core.refusal(of: plan?.definition)
    oldest = core.oldestMoment(plan?.definition)
    lastDefaults = plan?.formerDefaults.last?.until.rawValue ?? 0
  }

  /// Throws at a moment whose records the model cannot read.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` where the model is not declared as it is now;
  ///   ``DatabaseError/noSuchMoment(reason:)`` before a migration.
  func check(_ core: SchemaCore, _ sequence: SequenceNumber) throws {
    if let refusal { throw refusal }
    if sequence < oldest { throw core.isTooOld(sequence, oldest) }
  }

  /// True if defaults were as they are at a moment of the past.
  func haveDefaults(asOf moment: UInt64) -> Bool { moment >= lastDefaults }
}

/// The value of a property where a record has none, as far as the declaration says something else
/// than the template: after a default was changed, and before the records are migrated.
struct Fill: Sendable {
  /// In the place of absence, in its stored form.
  private(set) var ofAbsence: [UInt8]?
  /// In the place of null.
  private(set) var ofNull: [UInt8]?
  /// True if absence stands for a value, so that nil must be stored.
  private(set) var hasDefault = false

  init(_ info: PropertyInfo, _ declared: PropertyDefinition?) throws {
    guard let declared else { return }
    if info.defaults.isShared {
      // As of a moment when the collection had a single model, whose defaults were declared.
      if declared.absence == info.defaults.absence { return }
      ofAbsence = try declared.absence?.stored()
      return
    }
    hasDefault = declared.hasDefault
    let own = try info.defaults.initial?.stored()
    if own == nil, declared.absence == .null { return }
    switch try declared.absence?.stored() {
    case let absence? where !info.defaults.isComputed && absence == own:
      if declared.isNullable == false, info.isNullable { ofNull = absence }
    case let absence?:
      ofAbsence = absence
      if declared.isNullable == false { ofNull = absence }
    case nil:
      // A former name may have the value, or what is computed of an older record.
      if declared.isNullable == true, own != nil, info.isNullable, info.lazyStep == nil {
        ofAbsence = [ValueTag.null]
      }
    }
  }
}

extension Binding {
  /// The property that has a name in the database.
  func property(named name: NameID) -> String? {
    if let index = names.firstIndex(of: name) { return core.properties[index].name }
    for binding in union.cases {
      if let found = binding.property(named: name) { return found }
    }
    return nil
  }
}

extension Catalog {
  /// A schema bound to these names and declarations.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` where the schema cannot be used with them.
  func binding(_ core: SchemaCore) throws -> Binding {
    try slots.object(ObjectIdentifier(core), orMake: { try Binding(core, self) })
  }
}

extension RunningTransaction {
  /// The binding for writing of a schema that is declared, so that writing its models declares
  /// nothing; nil for any other.
  func claimedBinding(_ core: SchemaCore) -> Binding? {
    let known: Binding? = catalog.slots.object(ObjectIdentifier(core))
    return known?.isClaimed.load(ordering: .relaxed) == true ? known : nil
  }

  /// The binding for writing: every name of the schema is defined from then on.
  func binding(_ core: SchemaCore) throws -> Binding {
    if let known = claimedBinding(core) { return known }
    try core.check()
    try claim(core)
    for property in core.storedProperties { _ = try define(property.name) }
    let binding = try catalog.binding(core)
    binding.isClaimed.store(true, ordering: .relaxed)
    know(core)
    return binding
  }
}

extension Snapshot {
  /// The binding for reading.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` where the model is not declared.
  func binding(_ core: SchemaCore) throws -> Binding {
    // A transaction that may write declares the models that it uses.
    if let transaction, transaction.openRuns == 0 { return try transaction.binding(core) }
    let binding = try slots.object(ObjectIdentifier(core)) ?? names.binding(core)
    try binding.readable.check(core, sequence)
    if let moment, !binding.readable.haveDefaults(asOf: moment) {
      return try Binding(core, try names, asOf: moment)
    }
    return binding
  }
}
