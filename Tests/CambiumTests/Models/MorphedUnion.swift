// An enum of models of which the test decides which cases there are, what they are called, and what
// they have: the subject of RandomUnionMigrationTests.

import Synchronization

@testable import Cambium

protocol MorphKind: Sendable {}
enum Kind0: MorphKind {}
enum Kind1: MorphKind {}
enum Kind2: MorphKind {}
enum Kind3: MorphKind {}

/// A case.
struct MorphItem<Kind: MorphKind>: SlottedModel {
  typealias Key = Int
  var id = ID()
  var int0: Int?
  var int1: Int?
  var int2: Int?
  var text0: String?
  var text1: String?
  var text2: String?
  var text3: String?

  static var ints: [WritableKeyPath<MorphItem, Int?> & Sendable] { [\.int0, \.int1, \.int2] }
  static var texts: [WritableKeyPath<MorphItem, String?> & Sendable] {
    [\.text0, \.text1, \.text2, \.text3]
  }

  static var schema: ModelSchema<MorphItem> {
    let known = MorphForm.schemas.withLock { $0[ObjectIdentifier(MorphItem.self)]?.last }
    return known as? ModelSchema<MorphItem> ?? ModelSchema(caseOf: MorphUnion.self)
  }

  fileprivate static func define(_ form: MorphForm.Case, version: Int) {
    let lines =
      form.slots.flatMap { slot in
        slot.items(of: MorphItem.self, step: version) { key in
          MorphForm.failing.withLock { $0 == key }
        }
      } + form.removed.map { Removed<MorphItem>($0).item }
      + [Index<MorphItem>(\.int0).item]
    let parts: () -> [SchemaItem<MorphItem>] = { lines }
    MorphForm.keep(ModelSchema<MorphItem>(caseOf: MorphUnion.self, parts), of: MorphItem.self)
  }
}

enum MorphUnion: ModelUnion {
  typealias Key = Int
  case k0(MorphItem<Kind0>)
  case k1(MorphItem<Kind1>)
  case k2(MorphItem<Kind2>)
  case k3(MorphItem<Kind3>)

  init(kind: Int) {
    switch kind {
    case 0: self = .k0(MorphItem())
    case 1: self = .k1(MorphItem())
    case 2: self = .k2(MorphItem())
    default: self = .k3(MorphItem())
    }
  }

  var kind: Int {
    switch self {
    case .k0: 0
    case .k1: 1
    case .k2: 2
    case .k3: 3
    }
  }

  subscript(slot: Int) -> Value {
    get {
      switch self {
      case .k0(let item): item[slot]
      case .k1(let item): item[slot]
      case .k2(let item): item[slot]
      case .k3(let item): item[slot]
      }
    }
    set {
      switch self {
      case .k0(var item):
        item[slot] = newValue
        self = .k0(item)
      case .k1(var item):
        item[slot] = newValue
        self = .k1(item)
      case .k2(var item):
        item[slot] = newValue
        self = .k2(item)
      case .k3(var item):
        item[slot] = newValue
        self = .k3(item)
      }
    }
  }

  static var cases: ModelCases<MorphUnion> {
    let all = MorphForm.current.withLock { $0.cases }.map(modelCase)
    return switch all.count {
    case 1: ModelCases(all[0])
    case 2: ModelCases(all[0], all[1])
    case 3: ModelCases(all[0], all[1], all[2])
    default: ModelCases(all[0], all[1], all[2], all[3])
    }
  }

  private static func modelCase(_ form: MorphForm.Case) -> ModelCase<MorphUnion> {
    let own: ModelCase<MorphUnion> =
      switch form.kind {
      case 0: ModelCase(form.name, MorphUnion.k0) { if case .k0(let it) = $0 { it } else { nil } }
      case 1: ModelCase(form.name, MorphUnion.k1) { if case .k1(let it) = $0 { it } else { nil } }
      case 2: ModelCase(form.name, MorphUnion.k2) { if case .k2(let it) = $0 { it } else { nil } }
      default: ModelCase(form.name, MorphUnion.k3) { if case .k3(let it) = $0 { it } else { nil } }
      }
    return form.formerNames.reduce(own) { $0.was($1) }
  }

  static var schema: ModelSchema<MorphUnion> {
    let known = MorphForm.schemas.withLock { $0[ObjectIdentifier(MorphUnion.self)]?.last }
    return known as? ModelSchema<MorphUnion> ?? ModelSchema(union: "morphs")
  }
}

/// A form of the enum and its cases.
struct MorphForm: Sendable {
  struct Case: Sendable {
    let kind: Int
    var name: String
    var formerNames: [String] = []
    var slots: [Slot]
    var removed: [String] = []
    /// The names that its properties have had.
    var used: Set<String> = []
  }

  enum Outcome: Sendable {
    case refused
    case deleted
    case converted(Case)
  }

  struct Removal: Sendable {
    let name: String
    let outcome: Outcome
  }

  var version = 1
  var cases: [Case] = []
  var removals: [Removal] = []
  /// A step of the enum makes every second record of one case one of another.
  var move: (from: Case, to: Case)?

  static let current = Mutex(MorphForm())
  /// All that there were, so that none takes the place of another in memory.
  static let schemas = Mutex<[ObjectIdentifier: [any Sendable]]>([:])
  static let failing = Mutex<Int?>(nil)

  fileprivate static func keep<M: Cambium.Model>(_ schema: ModelSchema<M>, of type: M.Type) {
    schemas.withLock { $0[ObjectIdentifier(type), default: []].append(schema) }
  }

  /// Makes it the form that the types have.
  func use() {
    MorphForm.current.withLock { $0 = self }
    let lines = items
    let parts: () -> [SchemaItem<MorphUnion>] = { lines }
    MorphForm.keep(
      ModelSchema<MorphUnion>(union: "morphs", version: version, parts), of: MorphUnion.self)
    for form in cases {
      switch form.kind {
      case 0: MorphItem<Kind0>.define(form, version: version)
      case 1: MorphItem<Kind1>.define(form, version: version)
      case 2: MorphItem<Kind2>.define(form, version: version)
      default: MorphItem<Kind3>.define(form, version: version)
      }
    }
  }

  private var items: [SchemaItem<MorphUnion>] {
    var items = [Index<MorphUnion>(\.type).item]
    for removal in removals {
      switch removal.outcome {
      case .refused: items.append(RemovedCase<MorphUnion>(removal.name).item)
      case .deleted: items.append(RemovedCase<MorphUnion>(removal.name, .deleted).item)
      case .converted(let form):
        items.append(
          RemovedCase<MorphUnion>(removal.name) { old in
            guard case .integer(let key)? = old.key else { throw Slot.Failing() }
            return form.made(Int(key), "c")
          }.item)
      }
    }
    if let move {
      items.append(
        Migration<MorphUnion>("moved, \(version)") { _, new in
          let key = new.id.key
          guard new.kind == move.from.kind, key % 2 == 0 else { return }
          new = move.to.made(key, "m")
          new.id.key = key
        }.item)
    }
    return items
  }
}

extension MorphForm.Case {
  /// The values of a model that a record of another case becomes.
  func values(_ key: Int, _ mark: String) -> [Value] {
    slots.map { $0.isInt ? .integer(Int64(key)) : .string("\(mark)\(key)") }
  }

  fileprivate func made(_ key: Int, _ mark: String) -> MorphUnion {
    var model = MorphUnion(kind: kind)
    for (slot, value) in zip(slots, values(key, mark)) { model[slot.index] = value }
    return model
  }
}
