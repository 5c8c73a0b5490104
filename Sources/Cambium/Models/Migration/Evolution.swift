/// The part of a schema about the past: how records of older forms become those of the model.
///
/// Everything here has a name. The collection's declaration lists that name as a step once the step
/// is done for all records.
struct Evolution: Sendable {
  /// A ``Migration`` without its code.
  struct Step: Sendable {
    let name: String
    /// The ranges of offsets of the properties that it computes.
    let changes: [Range<Int>]
  }

  /// The steps that must be run before the model is used.
  private(set) var steps: [Step] = []
  /// The steps that reading a record performs as well, without rewriting it, by property.
  private(set) var lazy: [Int: String] = [:]
  /// The properties whose values may go.
  private(set) var removed: [String] = []

  init() {}

  init(steps: [Step], removed: [String], _ properties: [PropertyInfo]) {
    self.steps = steps
    self.removed = removed
    for (index, info) in properties.enumerated() { lazy[index] = info.lazyStep }
  }

  /// The name of the step that removes a property.
  static func removal(of name: String) -> String { "\(name) removed" }

  /// The name of the step that stores a former or computed default in the records without a value.
  static func settling(_ name: String) -> String { "default of \(name)" }

  /// The names of all steps that the schema lists, in the order in which they are run on a record.
  var names: [String] {
    lazy.sorted { $0.key < $1.key }.map(\.value) + steps.map(\.name)
      + removed.map { Evolution.removal(of: $0) }
  }

  /// The reason why the steps are not valid; nil if they are.
  func problem(_ properties: [PropertyInfo]) -> String? {
    var seen: Set<String> = []
    if let twice = names.first(where: { !seen.insert($0).inserted }) {
      return "two steps are called '\(twice)'"
    }
    if let name = removed.first(where: { name in properties.contains { $0.name == name } }) {
      return "'\(name)' is said to be removed, and is a property"
    }
    if let info = properties.first(where: { $0.older.computed != nil && $0.defaults.absence != nil }
    ) {
      return "absence of '\(info.name)' cannot stand both for its default and for an older form"
    }
    return nil
  }

  /// True if one of the named steps makes the property from something else.
  func changes(_ info: PropertyInfo, in names: [String]) -> Bool {
    steps.contains { step in
      names.contains(step.name) && step.changes.contains { $0.contains(info.offset) }
    }
  }
}

extension SchemaDraft {
  /// Models that share a collection say nothing about its past.
  mutating func refuseEvolution() {
    if evolution.names.isEmpty { return }
    problem =
      problem
      ?? "\(typeName) shares its collection, so that it can have no Migration, Removed or was"
  }
}

extension SchemaCore {
  /// The names, present and former, of the properties that some steps are about.
  func names(in steps: [String]) -> Set<String> {
    let removed = evolution.removed.filter { steps.contains(Evolution.removal(of: $0)) }
    let changed = properties.filter {
      steps.contains(Evolution.settling($0.name)) || evolution.changes($0, in: steps)
        || $0.lazyStep.map { steps.contains($0) } ?? false
    }
    return Set(removed + changed.flatMap { [$0.name] + $0.older.names.map(\.name) })
  }

  /// The steps that a declaration does not have behind it. Without one, nothing is known.
  func pending(_ declared: CollectionDefinition) -> [String] {
    let applied = Set(declared.steps.map(\.name))
    return evolution.names.filter { !applied.contains($0) }
  }

  /// Refuses a model whose records are not of its form.
  func checkUse(_ declared: CollectionDefinition?) throws {
    guard let declared else {
      if evolution.steps.isEmpty { return }
      throw DatabaseError.misuse(
        reason: "\(typeName) has migrations, so that it must be registered before it is used")
    }
    try checkIsKnown(declared, at: name)
    let applied = Set(declared.steps.map(\.name))
    let missing = evolution.steps.map(\.name).filter { !applied.contains($0) }
    let unfinished = declared.migration?.steps ?? []
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
    let own = Set(evolution.names + properties.map { Evolution.settling($0.name) })
    let strange =
      declared.steps.filter { $0.version >= version }.map(\.name).filter { !own.contains($0) }
      + (declared.migration?.steps ?? []).filter { !own.contains($0) }
    if strange.isEmpty && declared.version <= version { return }
    var parts: [String] = []
    if declared.version > version {
      parts.append("a newer app has declared it (version \(declared.version), not \(version))")
    }
    if !strange.isEmpty {
      parts.append("this app does not know what was done to it: \(strange.quoted)")
    }
    let names = Set(storedProperties.map(\.name))
    let unknown = declared.properties.map(\.name).filter { !names.contains($0) }
    if !unknown.isEmpty { parts.append("it does not have the properties \(unknown.quoted)") }
    throw refuse(parts.joined(separator: "; ") + "; open it with the newer app")
  }

  /// The first moment whose records are of a form that the model knows.
  func oldestMoment(_ declared: CollectionDefinition?) -> SequenceNumber {
    let removals = Set(evolution.removed.map { Evolution.removal(of: $0) })
    let readable = removals.union(evolution.lazy.values)
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
    guard !evolution.lazy.isEmpty, let declared = try snapshot.definition(of: path) else { return }
    let applied = Set(declared.steps.map(\.name))
    let left = evolution.lazy.filter { !applied.contains($0.value) }
    if left.isEmpty { return }
    let names = names()
    let steps = left.filter { names.contains(properties[$0.key].name) }.map(\.value).sorted()
    if !steps.isEmpty { throw DatabaseError.needsMigration(path, steps: steps) }
  }
}

extension [String] {
  /// For messages: `'a', 'b'`.
  var quoted: String { map { "'\($0)'" }.joined(separator: ", ") }
}
