// The references in a model, found by the declared types of its properties and replaced in place: a
// graph is written in their order, and gives its models ids that are known only then.

/// Finds and replaces the references in models of a type.
struct ModelReferences<M: Model>: Sendable {
  /// The records that a model refers to.
  let targets: @Sendable (M) throws -> [NodePath]
  /// Replaces integers that stand for ids.
  let replace: @Sendable (inout M, ProvisionalIDs) throws -> Void

  /// The references of a model of one type.
  init(_ type: M.Type) {
    targets = { model in
      var paths: [NodePath] = []
      for property in M.schema.core.properties {
        let type = property.shape.propertyType()
        if type.target == nil || property.isAbsent(in: model) { continue }
        type.gatherTargets(in: property.value(in: model), to: &paths)
      }
      return paths
    }
    replace = { model, ids in
      for property in M.schema.core.properties where !property.isAbsent(in: model) {
        let value = property.value(in: model)
        let replaced: Value
        do { replaced = try ids.replacing(value, as: property.shape.propertyType()) } catch {
          throw property.naming(error)
        }
        if replaced == value { continue }
        try replaced.stored().lend { try property.read($0, depth: 0, into: &model) }
      }
    }
  }
}

extension ModelReferences where M: ModelUnion {
  /// The references of one case.
  init<C: Model>(
    _ make: @escaping @Sendable (C) -> M, _ payload: @escaping @Sendable (M) -> C?
  ) {
    let own = ModelReferences<C>(C.self)
    targets = { try payload($0).map(own.targets) ?? [] }
    replace = { model, ids in
      guard var found = payload(model) else { return }
      try own.replace(&found, ids)
      model = make(found)
    }
  }

  /// The references of all cases, of which a model is one.
  init(_ cases: [ModelCase<M>]) {
    targets = { model in try cases.flatMap { try $0.references.targets(model) } }
    replace = { model, ids in for known in cases { try known.references.replace(&model, ids) } }
  }
}

extension ModelSchema {
  /// The references in its models.
  var references: ModelReferences<M> { referencesOfCase ?? ModelReferences(M.self) }
}

/// The integers that stand for ids of a graph's models until these have some.
struct ProvisionalIDs: Sendable {
  /// The ids, by what stands for them.
  private(set) var ids: [Int64: Int64] = [:]

  subscript(provisional: Int64) -> Int64? {
    get { ids[provisional] }
    set { ids[provisional] = newValue }
  }

  /// A property's value with the ids.
  ///
  /// - Throws: ``ValueMismatch`` where one is in a place that is not declared as a reference.
  func replacing(_ value: Value, as type: PropertyType) throws -> Value {
    switch (type, value) {
    case (.reference, .integer(let number)): return .integer(ids[number] ?? number)
    case (.array(let element), .array(let values)):
      return .array(try values.map { try replacing($0, as: element) })
    case (.map(let element), .map(let map)):
      return .map(
        ValueMap(pairs: try map.pairs.map { ($0, try replacing($1, as: element)) }))
    case (.keyed(by: _, let element), .map(let map)):
      return .map(
        ValueMap(
          pairs: try map.pairs.map { name, value in
            let key = Int64(name).flatMap { ids[$0] }.map { "\($0)" }
            return (key ?? name, try replacing(value, as: element))
          }))
    default:
      if !isMentioned(in: value) { return value }
      throw ValueMismatch(
        reason: """
          it has the provisional id of a model of the graph where no reference is declared; save \
          that model first, or give it an id
          """)
    }
  }

  private func isMentioned(in value: Value) -> Bool {
    switch value {
    case .integer(let number): ids[number] != nil
    case .array(let values): values.contains { isMentioned(in: $0) }
    case .map(let map):
      map.pairs.contains { isMentioned(in: $1) || Int64($0).map { ids[$0] != nil } ?? false }
    default: false
    }
  }
}

extension PropertyType {
  /// Adds the paths of the records that a value refers to.
  fileprivate func gatherTargets(in value: Value, to paths: inout [NodePath]) {
    switch (self, value) {
    case (.reference(let target), _):
      if let key = StoredKey.key(naming: value) { paths.append(target.appending(key)) }
    case (.array(let element), .array(let values)):
      for value in values { element.gatherTargets(in: value, to: &paths) }
    case (.keyed(by: let target, _), .map(let map)):
      for (name, _) in map.pairs {
        if let key = try? Key(name) { paths.append(target.appending(key)) }
      }
    default: break
    }
  }
}
