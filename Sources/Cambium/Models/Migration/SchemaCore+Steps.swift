// The steps of a schema, compared with those that a collection's declaration lists. The records of
// a union take the steps of its cases, then its own.

extension SchemaCore {
  /// The schemas that have steps for the collection's records.
  var parts: [SchemaCore] { sharing.cases.map { $0() } + [self] }

  /// The names of all steps, in order.
  var stepNames: [String] { parts.flatMap(\.evolution.names) }

  /// The own names of steps that a declaration lists; one that is not known stays as it is.
  func ownNames(of listed: [String]) -> [String] {
    let parts = parts
    return listed.flatMap { name in
      let own = parts.flatMap { part in
        part.evolution.names.filter { part.evolution.synonyms(of: $0).contains(name) }
      }
      return own.isEmpty ? [name] : own
    }
  }

  /// The names, present and former, of the properties that some steps are about.
  func names(in steps: [String]) -> Set<String> {
    let removed = evolution.removed.filter { steps.contains(evolution.removal(of: $0)) }
    let changed = properties.filter {
      steps.contains(Evolution.settling($0.name)) || evolution.changes($0, in: steps)
        || $0.lazyStep.map { steps.contains($0) } ?? false
    }
    return Set(removed + changed.flatMap { [$0.name] + $0.older.names.map(\.name) })
  }

  /// The steps that a declaration does not have behind it. Without one, nothing is known.
  func pending(_ declared: CollectionDefinition) -> [String] {
    let applied = applied(in: declared)
    return stepNames.filter { !applied.contains($0) }
  }

  private func applied(in declared: CollectionDefinition) -> Set<String> {
    Set(ownNames(of: declared.steps.map(\.name)))
  }

  /// Refuses a model whose records are not of its form.
  func checkUse(_ declared: CollectionDefinition?) throws {
    if let owner = sharing.owner { return try owner().checkUse(declared) }
    let blocking = parts.flatMap(\.evolution.blockingNames)
    guard let declared else {
      if blocking.isEmpty { return }
      throw DatabaseError.misuse(
        reason: "\(typeName) has migrations, so that it must be registered before it is used")
    }
    try checkIsKnown(declared, at: name)
    let unfinished = declared.migration?.steps ?? []
    let applied = blocking.isEmpty ? [] : applied(in: declared)
    let missing = blocking.filter { !applied.contains($0) }
    if missing.isEmpty && unfinished.isEmpty { return }
    throw DatabaseError.needsMigration(path, steps: unfinished.isEmpty ? missing : unfinished)
  }

  /// Refuses a declaration of which the app does not know what has become of the records. `place`
  /// is what the error names.
  func checkIsKnown(_ declared: CollectionDefinition, at place: String) throws {
    let version = version
    func refuse(_ reason: String) -> DatabaseError {
      .unsupported(path: place, reason: "the collection \(name): \(reason)")
    }
    let own = Set(
      parts.flatMap { part in
        part.evolution.names.flatMap(part.evolution.synonyms)
          + part.properties.map { Evolution.settling($0.name) }
      })
    let strange =
      declared.steps.filter { $0.version >= version }.map(\.name).filter { !own.contains($0) }
      + (declared.migration?.steps ?? []).filter { !own.contains($0) }
    if strange.isEmpty && declared.version <= version { return }
    var reasons: [String] = []
    if declared.version > version {
      reasons.append("a newer app has declared it (version \(declared.version), not \(version))")
    }
    if !strange.isEmpty {
      reasons.append("this app does not know what was done to it: \(strange.quoted)")
    }
    let names = Set(storedProperties.map(\.name))
    let unknown = declared.properties.map(\.name).filter { !names.contains($0) }
    if !unknown.isEmpty { reasons.append("it does not have the properties \(unknown.quoted)") }
    throw refuse(reasons.joined(separator: "; ") + "; open it with the newer app")
  }

  /// The first moment whose records are of a form that the model knows.
  func oldestMoment(_ declared: CollectionDefinition?) -> SequenceNumber {
    let parts = declaring.parts
    var readable = Set(
      parts.flatMap { $0.evolution.readableNames.flatMap($0.evolution.synonyms) })
    // The steps of other cases are not about the records of this one.
    if sharing.caseName != nil {
      let others = parts.filter { $0 !== self && $0.sharing.caseName != nil }
      readable.formUnion(others.flatMap(\.evolution.names))
    }
    return declared?.steps.filter { $0.version > 0 && !readable.contains($0.name) }
      .map(\.sequence).max() ?? .zero
  }

  /// The error of reading a moment before that.
  func isTooOld(_ moment: SequenceNumber, _ oldest: SequenceNumber) -> DatabaseError {
    .noSuchMoment(
      reason: """
        \(typeName) cannot be read as of transaction \(moment): its records were migrated by \
        \(oldest), and had an older form before; read them by their paths, as Node.record
        """)
  }

  /// Refuses a question about a property that some records have in an older form only: it would be
  /// answered as if they had none.
  func checkAsked(_ names: @autoclosure () -> Set<String>, _ snapshot: Snapshot) throws {
    if sharing.cases.isEmpty && evolution.lazy.isEmpty { return }
    // A case's own condition names all that it was called.
    let parts = sharing.caseName == nil ? parts : [self]
    let lazy = parts.flatMap { part in
      part.evolution.lazy.map { (info: part.properties[$0.key], step: $0.value) }
        .filter { sharing.caseName == nil || $0.info.older.caseNames.isEmpty }
    }
    guard !lazy.isEmpty, let declared = try snapshot.definition(of: path) else { return }
    let applied = declaring.applied(in: declared)
    let left = lazy.filter { !applied.contains($0.step) }
    if left.isEmpty { return }
    let names = names()
    let steps = left.filter { names.contains($0.info.name) }.map(\.step).sorted()
    if !steps.isEmpty { throw DatabaseError.needsMigration(path, steps: steps) }
  }
}

extension [String] {
  /// For messages: `'a', 'b'`.
  var quoted: String { map { "'\($0)'" }.joined(separator: ", ") }
}
