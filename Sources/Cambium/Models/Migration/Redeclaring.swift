/// A model's declaration, laid over the one that a collection has. Additions are taken; a change
/// that would lose something is refused with an error that says what can be done.
struct Redeclaring: Refinable {
  let core: SchemaCore
  /// The declaration that is there.
  private(set) var present: CollectionDefinition?
  /// True if there is anything to migrate.
  let hasRecords: Bool
  /// True if there may have been records, which history still has.
  private let hadRecords: Bool
  /// Returns true if records may have a property of this name.
  let isKnown: (String) -> Bool
  /// The database's path, for errors.
  let place: String
  /// The defaults that records have otherwise.
  private(set) var changedDefaults: ChangedDefaults?

  init(_ core: SchemaCore, in snapshot: Snapshot, at place: String) throws {
    try core.checkDefinition()
    self.core = core
    self.place = place
    present = try snapshot.definition(of: core.path)
    hasRecords = try snapshot[core.path].childCount > 0
    hadRecords =
      try present != nil || snapshot[core.path].exists
      || !core.evolution.names.isEmpty && snapshot.wasHeld(core.path)
    let names = try snapshot.names
    isKnown = { names.id(of: $0) != nil }
    if hasRecords { changedDefaults = try findDefaults(snapshot) }
  }

  /// Finds the defaults that records rely on and that are not the model's.
  private func findDefaults(_ snapshot: Snapshot) throws -> ChangedDefaults {
    let pending = pending
    let made = core.properties.filter { info in
      core.evolution.changes(info, in: pending)
        || info.lazyStep.map { pending.contains($0) } ?? false
    }
    return try ChangedDefaults(
      core, merged(without: []), present, snapshot, skipped: Set(made.map(\.name)))
  }

  /// The same over the declaration that is there by now.
  func over(_ present: CollectionDefinition?) -> Redeclaring {
    changed { $0.present = present }
  }

  // MARK: Steps

  /// The steps that records may not have behind them, in order.
  var pending: [String] {
    guard hasRecords else { return [] }
    return core.pending(present ?? CollectionDefinition()).filter { !isVain($0) }
      + (changedDefaults?.changes.map(\.step) ?? [])
  }

  /// The pending steps that an unfinished migration does not have.
  var rest: [String] {
    let unfinished = present?.migration?.steps ?? []
    return pending.filter { !unfinished.contains($0) }
  }

  /// The pending steps that block use of the model.
  var blocking: [String] {
    let pending = Set(pending)
    return core.evolution.steps.map(\.name).filter { pending.contains($0) }
      + (changedDefaults?.changes.filter(\.isBlocking).map(\.step) ?? [])
  }

  /// The changes of defaults that are among some steps.
  func changes(in steps: [String]) -> [ChangedDefaults.Change] {
    changedDefaults?.changes.filter { steps.contains($0.step) } ?? []
  }

  /// True if a step has nothing to do, since no record has ever had what it is about.
  private func isVain(_ step: String) -> Bool {
    for (index, name) in core.evolution.lazy where name == step {
      let info = core.properties[index]
      return info.older.computed == nil && !info.older.names.contains { isKnown($0.name) }
    }
    return core.evolution.removed.contains { Evolution.removal(of: $0) == step && !isKnown($0) }
  }

  /// The entries for steps that are done, or that no record needs any more: records that were there
  /// before have the older form in history.
  func applied(_ names: [String], by sequence: SequenceNumber = .zero) -> [AppliedStep] {
    let listed = Set(core.evolution.names)
    return names.map {
      AppliedStep(
        // An app of this version may know another default, or not have the property yet.
        $0, version: listed.contains($0) ? core.version : 0,
        sequence: hadRecords && !isVain($0) ? sequence : .zero)
    }
  }

  // MARK: Declarations

  /// The declaration for use, with the pending steps still to be done.
  ///
  /// - Parameter sequence: The transaction that declares it.
  /// - Returns: The declaration.
  /// - Throws: ``DatabaseError/needsMigration(_:steps:)``,
  ///   ``DatabaseError/unsupported(path:reason:)``.
  func declaration(by sequence: SequenceNumber = .zero) throws -> CollectionDefinition {
    try check()
    let unfinished = present?.migration?.steps ?? []
    let steps = unfinished.isEmpty ? blocking : unfinished
    if !steps.isEmpty { throw DatabaseError.needsMigration(core.path, steps: steps) }
    var declaration = merged(without: [])
    let pending = Set(pending)
    for (index, step) in core.evolution.lazy where pending.contains(step) {
      declaration.loosen(core.properties[index].name, present)
    }
    changedDefaults?.keep(present, in: &declaration)
    let known = Set(declaration.steps.map(\.name))
    declaration.steps += applied(
      core.evolution.names.filter { !known.contains($0) && !pending.contains($0) }, by: sequence)
    return declaration
  }

  /// The declaration when all steps are done.
  ///
  /// - Throws: ``DatabaseError/unsupported(path:reason:)``.
  func finalDeclaration() throws -> CollectionDefinition {
    try check()
    return merged(without: core.evolution.removed)
  }

  /// The declaration when all steps but some are done: it demands nothing that those bring about.
  func declaration(before rest: [String]) throws -> CollectionDefinition {
    var declaration = try finalDeclaration()
    if rest.isEmpty { return declaration }
    let open = core.names(in: rest)
    declaration.properties = declaration.properties.map {
      $0.blended(with: (open.contains($0.name) ? present?[$0.name] : nil) ?? $0)
    }
    declaration.indexes = []
    declaration.views = []
    return declaration
  }

  /// The model's own, and what an older one has besides: properties that this app does not know
  /// stay declared, since their data stays.
  private func merged(without removed: [String]) -> CollectionDefinition {
    var merged = core.definition
    if hadRecords { settleRequired(&merged) }
    guard let present else { return merged }
    for property in present.properties where merged[property.name] == nil {
      if removed.contains(property.name) { continue }
      // Nobody here can fill it in.
      var kept = property
      kept.isRequired = false
      merged.properties.append(kept)
    }
    merged.steps = present.steps
    return merged
  }

  /// Gives a default to what is required and new: the records of before have no value.
  private func settleRequired(_ merged: inout CollectionDefinition) {
    for info in core.properties where !info.defaults.isShared && info.defaults.absence == nil {
      guard let value = info.defaults.constant,
        let index = merged.properties.firstIndex(where: { $0.name == info.name }),
        merged.properties[index].isRequired
      else { continue }
      if let old = present?[info.name], old.isRequired, old.absence == nil { continue }
      merged.properties[index].take(default: value)
    }
  }

  // MARK: Refusals

  private func refuse(_ reason: String) -> DatabaseError {
    .unsupported(path: place, reason: "the collection \(core.path): \(reason)")
  }

  private func check() throws {
    try checkFormerTypes()
    guard let present else { return }
    try core.checkIsKnown(present, at: place)
    if let keys = core.definition.keys, let oldKeys = present.keys, keys != oldKeys {
      throw refuse("its keys are of the kind \(oldKeys.rawValue), not \(keys.rawValue)")
    }
    // Half-way through a migration its declaration takes anything; the types were checked against
    // each other when it began, and each record is checked against the new ones.
    guard hasRecords, present.migration == nil else { return }
    let pending = pending
    for old in present.properties {
      guard let own = core.definition[old.name], !own.type.takesAll(of: old.type) else { continue }
      let info = core.storedProperties.first { $0.name == own.name }
      if let info, core.evolution.changes(info, in: pending) { continue }
      if let info, let step = info.lazyStep, !info.formerTypes.isEmpty {
        if pending.contains(step) || core.sharing.discriminator != nil { continue }
        throw refuse(
          """
          the property \(own.name) is declared as \(old.type) again after '\(step)' was done; use \
          a Migration with another name
          """)
      }
      throw refuse(
        """
        the property \(own.name) is declared as \(old.type), and \(core.typeName) has \(own.type); \
        say how it is converted: Property(…).was("\(own.name)", as: …) { … } does it where a \
        record is read, Migration("…", changing: …) { old, new in … } once for all
        """)
    }
  }

  /// Refuses a former type whose values cannot be distinguished from those of the present one.
  private func checkFormerTypes() throws {
    for info in core.properties {
      guard let own = core.definition[info.name]?.type else { continue }
      for former in info.formerTypes where former.type.map({ own.takesAll(of: $0()) }) ?? false {
        throw DatabaseError.misuse(
          reason: """
            \(core.typeName).\(info.name) was \(own) before as well, so that no one can tell old \
            values from new ones; use Migration("…", changing: …), or another name
            """)
      }
    }
  }

  /// Adds advice to the errors of records that break what is newly declared.
  static func advising(_ violations: [Violation], _ core: SchemaCore) -> DatabaseError {
    .invalid(
      violations.map { violation in
        Violation(
          violation.path, violation.property,
          violation.reason
            + "; the record was there before \(core.typeName) asked for that: change it, or give "
            + "it a value by Property(…).was { old in … } or a Migration, and migrate")
      })
  }
}

extension Snapshot {
  /// True if something was at a place that is empty now, as far back as history goes.
  fileprivate func wasHeld(_ path: NodePath) throws -> Bool {
    let horizon = try directory.log.read { try $0.horizon() }
    let committed = isLive ? sequence.previous : sequence
    let history = History(
      directory: directory, path: path, scope: .node, after: horizon, upTo: committed)
    var cursor = try history.reversed().makeCursor()
    return try cursor.next() != nil
  }
}

extension CollectionDefinition {
  /// Asks of a property only what its older forms keep to as well.
  fileprivate mutating func loosen(_ name: String, _ present: CollectionDefinition?) {
    guard let index = properties.firstIndex(where: { $0.name == name }) else { return }
    properties[index].isRequired = false
    properties[index].take(default: present?[name]?.absence)
    if let old = present?[name], old.type != properties[index].type {
      properties[index].type = .any
      properties[index].domain = nil
      properties[index].elementDomain = nil
      properties[index].keyDomain = nil
      properties[index].deleteRule = nil
      properties[index].mustExist = false
    }
  }
}

extension PropertyType {
  /// True if every value of another type is also one of this type.
  func takesAll(of other: PropertyType) -> Bool {
    switch (self, other) {
    case (.any, _): true
    case (.double, .integer), (.decimal, .integer): true
    case (.array(let own), .array(let other)), (.map(let own), .map(let other)):
      own.takesAll(of: other)
    default: self == other
    }
  }
}
