/// The records that a live query's rows depend on, and the way back from a change of one of them to
/// the rows.
///
///     changes ──▶ records that the query reads ──up──▶ … ──up──▶ keys of rows that may differ
///
/// A row is evaluated as a whole on the state after a step. So it is enough to find the keys of all
/// rows that may differ, and no harm if a few of them do not.
///
/// Invariants:
/// 1. A row that differs is a candidate. Of the changed records on a way from the row, before or
///    after the step, take the one nearest to the row: the edges above it lie in records that have
///    not changed, so that the state after has them, or in its own bytes before or after. Checked
///    by random queries and changes against rows evaluated at both moments.
/// 2. A change that makes a candidate of a row matches a guard, except where the row is not kept: a
///    ``WindowBound`` leaves out rows behind a window, and ``ShownGuards`` what is shown with them.
///    So a record may have changed again since the last change of it that is told. Checked by the
///    same tests.
final class Dependencies: Sendable {
  /// The rows' own collection.
  let collection: NodePath
  /// The changes that the query must see, for the router. Where ``watchesAll`` is true, these are
  /// not enough. They are of changes that decide which rows there are, and their order.
  let guards: [LiveGuard]
  /// The records that are shown with rows: for what does not decide, the guards of those that are
  /// shown at the moment are enough.
  let shown: [ShownRelation]
  /// True if records of collections that nothing declares may concern the query.
  let watchesAll: Bool
  /// The reason why changes cannot be followed to rows, so that the query is always run again; nil
  /// where they can.
  let problem: String?
  /// The dependencies in words, a line for each, for `explain()`.
  let words: [String]

  let roles: [DependencyRole]
  /// The names that each role's records are read for, by their numbers, and those that are shown.
  private let names: [(read: [NameID], shown: [NameID])]
  /// The role of the rows' own records beside the others.
  private let own: (ways: [NameID], isOnlyOfCollection: Bool)
  /// The names that had no number.
  private let unknown: [String]
  private let version: UInt32

  /// Finds the dependencies of a query.
  ///
  /// - Parameters:
  ///   - description: The query.
  ///   - loading: The relations that are loaded along.
  ///   - records: The records at the moment at which the query begins.
  /// - Throws: ``QueryError`` where names have no meaning.
  init(
    _ description: QueryDescription, loading: [LoadedPath] = [], _ records: QueryRecords
  ) throws {
    var scope = records.scope(of: description.collection)
    scope.joined = description.joins.map { ($0.name, $0.collection) }
    let tree = try DependencyTree(description, loading: loading, in: scope)
    collection = description.collection
    let (roles, catalog) = (tree.roles, records.catalog)
    (self.roles, problem) = (roles.map(\.forSteps), tree.problem)
    names = roles.map {
      ($0.names.compactMap(catalog.id(of:)), $0.shown.names.compactMap(catalog.id(of:)))
    }
    own = (
      roles.filter { $0.upper == 0 }.compactMap { $0.edge?.ownName }.compactMap(catalog.id(of:)),
      roles.count { $0.collection == nil || $0.collection == description.collection } == 1
    )
    unknown = Set(roles.flatMap(\.names)).filter { catalog.id(of: $0) == nil }.sorted()
    version = catalog.collections.version
    let found = DependencyGuards(description, tree, scope)
    (guards, shown) = (try found.all, found.shown)
    watchesAll = roles.contains { $0.collection == nil }
    words = roles.dropFirst().map { $0.words(roles, records) }
  }

  /// The guards, and those of every record that may be shown.
  var allGuards: [LiveGuard] { guards + shown.map(\.wide) }

  /// True if making one row may read any number of records: those that refer to it, where they
  /// decide, and those that a join finds.
  var readsMany: Bool {
    roles.contains { role in
      if case .join? = role.edge { return true }
      return role.isInverse && role.decides
    }
  }

  /// True if a change of a record may be seen in the results: in its own, or through a role.
  func concerns(_ change: NetChange, through role: Int = 0) throws -> Bool {
    try differs(change, in: names[role].read, of: role)
  }

  /// True if a change of a row's own record may be seen in its element, and does not only decide
  /// that, or where, the row is there.
  func isShown(_ change: NetChange) throws -> Bool {
    try differs(change, in: names[0].shown, of: 0)
  }

  /// True if a step may have changed what is behind references: a record there, or a reference.
  func mayLeadElsewhere(_ changes: [NetChange]) throws -> Bool {
    if roles.count == 1 { return false }
    return try changes.contains { try !isOfRowsAlone($0) || changesWay($0) }
  }

  /// True if a change of a row's own record may lead to other records than before.
  private func changesWay(_ change: NetChange) throws -> Bool {
    guard let old = change.old, let new = change.new, unknown.isEmpty else { return true }
    return try differ(old, new, in: own.ways)
  }

  private func differs(
    _ change: NetChange, in names: [NameID], of role: Int
  ) throws -> Bool {
    guard let old = change.old, let new = change.new, unknown.isEmpty, !roles[role].isWhole else {
      return true
    }
    return try differ(old, new, in: names)
  }

  /// True if a property differs in two records.
  private func differ(
    _ old: StoredRecord, _ new: StoredRecord, in names: [NameID]
  ) throws -> Bool {
    try old.lend { old in try new.lend { try !RecordTable.areSame(names, in: old, $0) } }
  }

  /// The rows that may differ after some changes.
  enum Candidates {
    /// Their keys, in their stored form; of joined rows the first record's.
    case keys(SortedKeys)
    /// More than may be read, or than running the query again takes.
    case tooMany
    /// Declarations or names are others, or changes cannot be followed: the query is to be run
    /// again, and its dependencies are to be made again.
    case unknown
  }

  /// The rows that may differ after some changes.
  ///
  /// - Parameters:
  ///   - changes: The changes of the step, at least those that a guard lets through.
  ///   - description: The query.
  ///   - records: The records after the step.
  ///   - window: The number of rows that are kept; nil where all are.
  ///   - most: The largest number of records to be read; by default as many as take less than
  ///     running the query again.
  ///   - showing: Finds the rows that show changed records of a role, where the points of the rows
  ///     that are kept are known.
  /// - Returns: The rows, or the reason why they cannot be told.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  /// - Complexity: O(*k*) lookups for *k* records on the ways from the changes up to the rows;
  ///   where no index has an edge, one walk over the collection that has it.
  func candidates(
    _ changes: [NetChange], of description: @autoclosure () -> QueryDescription,
    _ records: QueryRecords, window: Int? = nil, most: Int? = nil,
    showing: @escaping DependencyWalk.Showing = { _, _ in nil }
  ) throws -> Candidates {
    guard problem == nil, isCurrent(records) else { return .unknown }
    if changes.allSatisfy(isOfRowsAlone) {
      let keys = try ownKeys(changes)
      if most != nil || keys.keys.count <= Dependencies.freely { return .keys(keys) }
      return try keys.keys.count > worth(description(), records, window) ? .tooMany : .keys(keys)
    }
    func walked(_ most: Int) throws -> Candidates {
      var walk = DependencyWalk(self, changes, records, most: most, showing: showing)
      return try walk.candidates().map { .keys(SortedKeys($0)) } ?? .tooMany
    }
    if let most { return try walked(most) }
    if case .keys(let found) = try walked(Dependencies.freely) { return .keys(found) }
    let most = try worth(description(), records, window)
    return most > Dependencies.freely ? try walked(most) : .tooMany
  }

  /// True if a change is of a rows' own record, and of none that plays another role.
  private func isOfRowsAlone(_ change: NetChange) -> Bool {
    own.isOnlyOfCollection && change.collection == collection
  }

  /// The number of records that are read before planning says what running the query again takes.
  private static let freely = 256

  /// The number of records that may be looked up to save running the query again. That costs what
  /// the planner expects for the window, and then a lookup for each of its rows, since nothing says
  /// which of them have changed. A candidate costs a lookup as well. So there may be as many more
  /// candidates than rows of the window as lookups take what finding the window takes: about its
  /// length again where an index has the order, a good part of the collection where it is sorted.
  private func worth(
    _ description: QueryDescription, _ records: QueryRecords, _ window: Int?
  ) throws -> Int {
    var asked = description
    asked.limit = window
    let cost = try QueryPlanner(asked, records).estimatedCost() / QueryPlanner.Cost.fetch
    let count = try records.presentCount(collection)
    return min(window ?? count, count) + Int(min(cost, Double(count)))
  }

  /// The keys of the rows' own records that have changed in what is read of them.
  private func ownKeys(_ changes: [NetChange]) throws -> SortedKeys {
    var keys: [[UInt8]] = []
    for change in changes where change.collection == collection {
      if try concerns(change) { keys.append(change.key) }
    }
    return SortedKeys(keys)
  }

  /// True if the names still mean what they meant at the start.
  func isCurrent(_ records: QueryRecords) -> Bool {
    records.catalog.collections.version == version
      && unknown.allSatisfy { records.catalog.id(of: $0) == nil }
  }
}
