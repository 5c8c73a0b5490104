/// Makes the guards of a query: the changes that it must see.
struct DependencyGuards {
  private let description: QueryDescription
  private let roles: [DependencyRole]
  private let scope: ConditionScope
  /// The records that are shown with rows: the guards of those that are shown at the moment are
  /// enough for what does not decide.
  let shown: [ShownRelation]
  /// The roles of which more is shown than guards of those records can tell.
  private let unknown: Set<Int>

  init(_ description: QueryDescription, _ tree: DependencyTree, _ scope: ConditionScope) {
    (self.description, roles, self.scope) = (description, tree.roles, scope)
    var (shown, unknown) = ([ShownRelation](), Set<Int>())
    for role in tree.roles.indices.dropFirst() where tree.roles[role].isShown {
      if let relation = ShownRelation(role, in: tree) {
        shown.append(relation)
      } else {
        unknown.insert(role)
      }
    }
    (self.shown, self.unknown) = (shown, unknown)
  }

  /// The guards of the rows' own records, and of all others as far as they decide.
  var all: [LiveGuard] {
    get throws {
      var guards = try own
      for role in roles.indices.dropFirst() where roles[role].decides || unknown.contains(role) {
        guards += try far(roles[role], isShown: unknown.contains(role))
      }
      return guards.merged
    }
  }

  /// The guards of the rows' own records.
  private var own: [LiveGuard] {
    get throws {
      let tests = try description.condition.flatMap { try ConditionGuards(scope).tests($0.test) }
      return (tests ?? [.any]).map {
        LiveGuard(collection: description.collection, test: $0, properties: roles[0].read)
      }
    }
  }

  /// The guards of the records to which a role leads: by the narrowest test that they must pass, or
  /// else by each use that is made of them.
  private func far(_ role: DependencyRole, isShown: Bool) throws -> [LiveGuard] {
    guard let collection = role.collection else { return [] }
    let (guards, uses) = (ConditionGuards(scope.entering(collection)), role.uses)
    let names = isShown ? role.read : uses.names.inByteOrder
    func guarding(_ tests: [LiveGuard.Test]) -> [LiveGuard] {
      tests.map { LiveGuard(collection: collection, test: $0, properties: names) }
    }
    if let tests = try role.passing.flatMap({ try guards.tests(.any($0)) }) {
      return guarding(tests)
    }
    if let tests = try guards.tests(.all(uses.required)), !tests.contains(where: \.hasNull) {
      return guarding(tests)
    }
    return isShown || uses.areCounted
      ? guarding([.any]) : try each(of: uses, in: collection, guards)
  }

  /// The guards of each use by itself. The result of a test differs only where the value comes into
  /// its ranges, or leaves them.
  private func each(
    of uses: DependencyUses, in collection: NodePath, _ guards: ConditionGuards
  ) throws -> [LiveGuard] {
    var (others, all) = (uses.others, [LiveGuard]())
    for test in uses.required + uses.tests {
      let names = test.paths.compactMap(\.property)
      if let tests = try guards.tests(test), !tests.contains(where: \.hasNull) {
        all += tests.map { LiveGuard(collection: collection, test: $0, properties: names) }
      } else {
        others.formUnion(names)
      }
    }
    if others.isEmpty && !all.isEmpty { return all }
    return all + [LiveGuard(collection: collection, test: .any, properties: others.inByteOrder)]
  }
}

extension DependencyRole {
  /// The properties that are read; nil for all.
  var read: [String]? { isWhole ? nil : names.inByteOrder }
}

extension LiveGuard.Test {
  /// True if it lets null through, which is also found where a path leads nowhere, so that no
  /// record of the collection has it.
  fileprivate var hasNull: Bool {
    guard case .values(_, _, _, let ranges) = self else { return false }
    let null: [UInt8] = [OrderedBytes.null]
    return ranges.contains { range in null.lend { range.contains($0) } }
  }
}

extension Set<String> {
  fileprivate var inByteOrder: [String] { sorted { ByteOrder.compare($0, $1) < 0 } }
}

extension [LiveGuard] {
  /// The guards by their collections, those of all records of one as one, and without those that it
  /// has as well.
  fileprivate var merged: [LiveGuard] {
    Dictionary(grouping: self, by: \.collection).sorted { $0.key < $1.key }
      .flatMap { collection, guards -> [LiveGuard] in
        let wide = guards.filter { $0.test == .any }
        let names = wide.compactMap(\.properties)
        if names.count < wide.count { return [LiveGuard(collection: collection, test: .any)] }
        let known = Set(names.joined())
        let narrow = guards.filter { one in one.test != .any }.unique
        if wide.isEmpty { return narrow }
        return narrow.filter { $0.properties.map { !known.isSuperset(of: $0) } ?? true } + [
          LiveGuard(collection: collection, test: .any, properties: known.inByteOrder)
        ]
      }
  }

  private var unique: [LiveGuard] {
    var known: Set<LiveGuard> = []
    return filter { known.insert($0).inserted }
  }
}
