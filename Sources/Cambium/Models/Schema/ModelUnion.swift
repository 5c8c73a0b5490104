// Models of several kinds in one collection: an enum of structs. Each record holds its struct's
// properties, flat, and the name of its case, so that a record's case can be read without decoding
// the record, indexed and queried.
//
//     vehicles/<key>    type "car"    wheels 4    doors 2
//     vehicles/<key>    type "truck"  wheels 6    load 7.5

/// An enum whose cases are models that share a collection.
///
///     enum Vehicle: ModelUnion {
///       case car(Car), truck(Truck)
///
///       static let cases = ModelCases<Vehicle>(
///         ModelCase("car", Vehicle.car) { if case .car(let car) = $0 { car } else { nil } },
///         ModelCase("truck", Vehicle.truck) { if case .truck(let it) = $0 { it } else { nil } })
///       static let schema = ModelSchema<Vehicle>(union: "vehicles") { Index(\.type) }
///     }
///
///     struct Car: Model {
///       var id = ID()
///       var wheels = 4
///       var doors = 2
///       static let schema = ModelSchema<Car>(caseOf: Vehicle.self) { Index(\.wheels) }
///     }
///
/// Each struct is a model of its own: `database.query(Car.self)` asks about cars only, and a
/// `Car.ID` finds nothing where a truck is. The enum is a model as well: `query(Vehicle.self)` has
/// all of them, as they are. The declarations of the structs' schemas hold in the whole collection:
/// a property is the same in all cases that have it, and required where all cases require it.
public protocol ModelUnion: Model {
  /// The cases, each of which is named once.
  static var cases: ModelCases<Self> { get }
}

extension ModelUnion {
  /// The first case, with the initial values of its model.
  public init() {
    self = Self.cases.first.template()
  }

  /// The id of the model that it is; unassigned where its case is not listed.
  public var id: ModelID<Self> {
    get {
      for known in Self.cases.all {
        if let key = known.key(self) { return ModelID(key) }
      }
      return ModelID()
    }
    set {
      for known in Self.cases.all {
        if let changed = known.changed(self, newValue.key) { return self = changed }
      }
    }
  }
}

/// The cases of a ``ModelUnion``.
public struct ModelCases<Union: ModelUnion>: Sendable {
  /// The initial one.
  let first: ModelCase<Union>
  let all: [ModelCase<Union>]

  /// Lists the cases, of which there is one at least.
  public init(_ first: ModelCase<Union>, _ others: ModelCase<Union>...) {
    self.first = first
    all = [first] + others
  }
}

/// One case of a ``ModelUnion``: its name, and how its model is put in and taken out.
public struct ModelCase<Union: ModelUnion>: Sendable {
  let name: String
  let type: ObjectIdentifier
  let template: @Sendable () -> Union
  /// Asked for late: the case's schema asks for the union's.
  let core: @Sendable () -> SchemaCore
  // Each of these is nil where the value is another case.
  let key: @Sendable (Union) -> Union.Key?
  let changed: @Sendable (Union, Union.Key) -> Union?
  let problems: @Sendable (inout Union) -> [ValidationError]?
  let codec: CaseCodec<Union>
  let interchange: CaseInterchange<Union>
  let references: ModelReferences<Union>
  /// Nil where the case's model wants no calls; they do nothing for other cases.
  let hooks: ModelHooks<Union>?

  /// Names a case.
  ///
  /// - Parameters:
  ///   - name: The name of the case, which is stored in its records.
  ///   - make: The case itself: `Vehicle.car`.
  ///   - payload: The model, or nil where the value is another case.
  public init<C: Model>(
    _ name: String, _ make: @escaping @Sendable (C) -> Union,
    _ payload: @escaping @Sendable (Union) -> C?
  ) where C.Key == Union.Key {
    self.name = name
    type = ObjectIdentifier(C.self)
    template = { make(C()) }
    core = { C.schema.core }
    key = { payload($0)?.id.key }
    changed = { union, key in
      guard var model = payload(union) else { return nil }
      model.id = ModelID(key)
      return make(model)
    }
    problems = { union in
      guard var model = payload(union) else { return nil }
      let problems = C.schema.problems(in: &model)
      union = make(model)
      return problems
    }
    codec = CaseCodec(make, payload)
    interchange = CaseInterchange(make, payload)
    references = ModelReferences(make, payload)
    hooks = ModelHooks<C>.found().map { ModelHooks($0, make, payload) }
  }
}

extension ModelHooks where M: ModelUnion {
  /// The calls of one case. Where a model becomes another case, the one is deleted and the other
  /// inserted.
  fileprivate init<C: Model>(
    _ hooks: ModelHooks<C>, _ make: @escaping @Sendable (C) -> M,
    _ payload: @escaping @Sendable (M) -> C?
  ) {
    will = { new, old, transaction in
      var model = new.flatMap(payload)
      try hooks.will(&model, old.flatMap(payload), transaction)
      if let model { new = make(model) }
    }
    did = { hooks.did($0.flatMap(payload), $1.flatMap(payload)) }
  }

  /// The calls of all cases; nil where none wants any.
  init?(_ cases: [ModelCase<M>]) {
    let all = cases.compactMap(\.hooks)
    if all.isEmpty { return nil }
    will = { for hooks in all { try hooks.will(&$0, $1, $2) } }
    did = { for hooks in all { hooks.did($0, $1) } }
  }
}
