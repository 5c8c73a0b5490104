// A schema bound to one database: which number stands for which property's name. The codec is a
// table of steps, one per property, in the order of those numbers, so that one pass over a stored
// record's own sorted table finds all of them.

import Synchronization

/// A schema in a database.
///
/// Invariants:
/// 1. `steps` ascend by name; those without a name come last. By construction.
/// 2. Every step's offset lies inside the model. By ``SchemaCore``'s second.
final class Binding: Sendable {
  /// One property for the codec's loop: trivial, so that nothing is retained in it.
  struct Step: BitwiseCopyable, Sendable {
    var name: Catalog.NameID
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
  }

  /// A name that a property had before.
  struct Former: Sendable {
    let name: Catalog.NameID
    let property: Int
    /// Its place in the property's list of former names.
    let index: Int
  }

  /// What stands for a name that the database does not know.
  static let unknown = Catalog.NameID.max

  let core: SchemaCore
  let steps: [Step]
  /// Name by property, `unknown` where the database has none.
  let names: [Catalog.NameID]
  /// The stored forms that are not stored, by property.
  let elided: [[UInt8]?]
  let former: [Former]
  /// The bindings of a union's cases, and what their names are stored as.
  let cases: [Binding]
  let caseNames: [[UInt8]]
  /// The name of the property that says which case a record is.
  let discriminator: Catalog.NameID
  /// The names of older records; nil where no property is computed of them.
  let catalog: Catalog?
  /// How often collections had been declared when the schema was held against its declaration.
  let declarations: UInt32
  /// Before this transaction records had a form that the model does not know.
  let oldest: SequenceNumber
  /// How many names the catalog had.
  let count: Int
  /// Whether every property can be written, since its name is known.
  let canWrite: Bool
  /// Whether every name, present and former, is known, so that the binding stays right.
  let isComplete: Bool
  /// Whether records always need the large form.
  let isLarge: Bool

  init(_ core: SchemaCore, _ known: Catalog) throws {
    try core.check()
    let declared = known.collections[core.path]?.definition
    try core.checkUse(declared)
    self.core = core
    declarations = known.collections.version
    count = known.count
    oldest = core.oldestMoment(declared)
    let isComputing = core.properties.contains { $0.computed != nil }
    catalog = isComputing ? known : nil
    names = core.properties.map { known.id(of: $0.name) ?? Binding.unknown }
    cases = try core.cases.map { try Binding($0(), known) }
    caseNames = try cases.map { try Value.string($0.core.caseName ?? "").stored() }
    discriminator = core.discriminator.flatMap { known.id(of: $0) } ?? Binding.unknown
    canWrite = !names.contains(Binding.unknown) && cases.allSatisfy(\.canWrite)
    let former = core.properties.flatMap(\.formerNames)
    isComplete =
      canWrite && former.allSatisfy { known.id(of: $0.name) != nil }
      && !isComputing && cases.allSatisfy(\.isComplete)
    isLarge = core.properties.count > 255 || names.contains { $0 > 0xFFFF }
    elided = try core.properties.map { try $0.absence?.stored() }
    var formers: [Former] = []
    for (property, info) in core.properties.enumerated() {
      for (index, name) in info.formerNames.enumerated() {
        // Under its own name is its own former type, which its own step must not read.
        guard let id = known.id(of: name.name) else { continue }
        formers.append(Former(name: id, property: property, index: index))
      }
    }
    self.former = formers
    steps = core.properties.indices.map { [names] in Binding.step(core, $0, names[$0]) }
      .sorted { $0.name < $1.name }
  }

  private static func step(_ core: SchemaCore, _ index: Int, _ name: Catalog.NameID) -> Step {
    let info = core.properties[index]
    var flags: UInt8 = 0
    if info.isRequiredToRead && info.computed == nil { flags |= Step.required }
    if info.absence != nil { flags |= Step.elided }
    if info.storesNull { flags |= Step.storesNull }
    if info.shape.isReference { flags |= Step.reference }
    return Step(
      name: name, offset: Int32(info.offset), property: UInt16(index), form: info.shape.form,
      flags: flags)
  }
}

extension Binding {
  /// Whether it is right for a catalog of so many names, and after so many declarations.
  func isRight(count: Int, _ declarations: UInt32) -> Bool {
    self.declarations == declarations && (isComplete || self.count == count)
  }

  /// The property that has a name in the database.
  func property(named name: Catalog.NameID) -> String? {
    if let index = names.firstIndex(of: name) { return core.properties[index].name }
    for binding in cases {
      if let found = binding.property(named: name) { return found }
    }
    return nil
  }
}

/// The bindings that a database has needed.
final class Bindings: Sendable {
  private let known = Mutex<[ObjectIdentifier: Binding]>([:])
  /// The hooks and rules in code of the models.
  let guards = Mutex(RecordGuards())

  /// The binding for reading with a catalog.
  func binding(_ core: SchemaCore, _ catalog: Catalog) throws -> Binding {
    let declarations = catalog.collections.version
    if let binding = find(core, count: catalog.count, declarations) { return binding }
    let binding = try Binding(core, catalog)
    return known.withLock { known in
      let key = ObjectIdentifier(core)
      if let other = known[key], other.isComplete, other.declarations == declarations {
        return other
      }
      known[key] = binding
      return binding
    }
  }

  /// A binding that is known and good for a catalog of so many names and declarations.
  func find(_ core: SchemaCore, count: Int, _ declarations: UInt32) -> Binding? {
    known.withLock { known in
      known[ObjectIdentifier(core)].flatMap { $0.isRight(count: count, declarations) ? $0 : nil }
    }
  }

  /// Forgets everything: names have been taken back.
  func forget() { known.withLock { $0.removeAll() } }
}

extension Writing {
  /// How often collections have been declared.
  var declarations: UInt32 { projector.memory.catalog.collections.version }

  /// Forgets what was remembered about names, which may have been taken back.
  func forgetNames() {
    encoder.forget()
    bindings.forget()
    lastBinding = nil
  }

  /// The binding for writing: every name of the schema is defined from then on.
  func binding(_ core: SchemaCore) throws -> Binding {
    let (count, declarations) = (projector.memory.catalog.count, declarations)
    if let last = lastBinding, last.core === core, last.isRight(count: count, declarations) {
      return last
    }
    let binding = try findBinding(core, count: count, declarations)
    lastBinding = binding
    know(core)
    return binding
  }

  private func findBinding(
    _ core: SchemaCore, count: Int, _ declarations: UInt32
  ) throws -> Binding {
    if let found = store.bindings.find(core, count: count, declarations)
      ?? bindings.find(core, count: count, declarations), found.canWrite
    {
      return found
    }
    try core.check()
    for property in core.storedProperties { _ = try define(property.name) }
    return try bindings.binding(core, projector.memory.catalog)
  }
}

extension Snapshot {
  /// The binding for reading.
  func binding(_ core: SchemaCore) throws -> Binding {
    guard let store else { throw DatabaseError.closed(reason: "the snapshot has ended") }
    let binding =
      if let known = store.bindings.find(core, count: -1, declarations) { known } else {
        // What a running transaction has defined may be taken back.
        try (writing?.bindings ?? store.bindings).binding(core, try names)
      }
    if sequence < binding.oldest { throw core.isTooOld(sequence, binding.oldest) }
    return binding
  }
}
