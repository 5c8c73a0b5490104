/// The part of a schema about the past: how records of older forms become those of the model.
///
/// Everything here has a name. The collection's declaration lists that name as a step once the step
/// is done for all records. A step of one case of a union is named with the case, `car: `, since
/// another case may take a step of the same name later.
struct Evolution: Sendable {
  /// A step that must be run before the model is used: a ``Migration`` without its code, or what
  /// becomes of the records of a case.
  struct Step: Sendable {
    let name: String
    /// The ranges of offsets of the properties that it computes.
    let changes: [Range<Int>]
    /// True if the model can read records, of the past, that do not have the step behind them.
    var isReadable = false
  }

  /// The steps that must be run before the model is used.
  private(set) var steps: [Step] = []
  /// The steps that reading a record performs as well, without rewriting it, by property.
  private(set) var lazy: [Int: String] = [:]
  /// The properties whose values may go.
  private(set) var removed: [String] = []
  /// The names of the case whose records the steps are about, the present one first; none where
  /// they are about every record.
  private let caseNames: [String]

  init() { caseNames = [] }

  init(
    steps: [Step], removed: [String], _ properties: [PropertyInfo], caseNames: [String]
  ) {
    self.steps = steps
    self.removed = removed
    self.caseNames = caseNames
    for (index, info) in properties.enumerated() { lazy[index] = info.lazyStep }
  }

  /// The name of a step, with that of the case that it is about.
  static func name(_ step: String, ofCase name: String?) -> String {
    name.map { "\($0): \(step)" } ?? step
  }

  /// The name of the step that removes a property.
  func removal(of name: String) -> String {
    Evolution.name("\(name) removed", ofCase: caseNames.first)
  }

  /// The name of the step that stores a former or computed default in the records without a value.
  static func settling(_ name: String) -> String { "default of \(name)" }

  /// The names of the steps that must be run before the model is used.
  var blockingNames: [String] { steps.map(\.name) }

  /// The names of all steps that the schema lists, in the order in which they are run on a record.
  var names: [String] {
    lazy.sorted { $0.key < $1.key }.map(\.value) + steps.map(\.name)
      + removed.map(removal)
  }

  /// The names of the steps that a model need not have behind it to be read.
  var readableNames: [String] {
    lazy.values + steps.filter(\.isReadable).map(\.name) + removed.map(removal)
  }

  /// The names under which a declaration may list a step: with a former name of the case as well,
  /// and without any, where all records of the collection have taken it.
  func synonyms(of step: String) -> [String] {
    guard let own = caseNames.first else { return [step] }
    let bare = String(step.dropFirst(Evolution.name("", ofCase: own).count))
    return [step] + caseNames.dropFirst().map { Evolution.name(bare, ofCase: $0) } + [bare]
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

  /// The reason why the steps of a union contradict those of its cases; nil if they do not.
  func problem(with cases: [SchemaCore]) -> String? {
    let own = Set(names)
    for part in cases {
      if let info = part.properties.first(where: { removed.contains($0.name) }) {
        return "'\(info.name)' is said to be removed, and is a property of \(part.typeName)"
      }
      let all = part.evolution.names.flatMap(part.evolution.synonyms)
      if let shared = all.first(where: own.contains) {
        return "a step of \(part.typeName) is called '\(shared)' as well"
      }
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
