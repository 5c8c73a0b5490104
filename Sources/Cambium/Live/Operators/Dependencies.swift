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
/// 2. A change that makes a candidate of a row matches a guard, or concerns only what is shown
///    beside rows. Checked by the same tests.
struct Dependencies: Sendable {
  /// The rows' own collection.
  let collection: NodePath
  /// The changes that the query must see, for the router. Where ``watchesAll`` is true, these are
  /// not enough. Records that are only shown have none here: ``shown`` has them.
  let guards: [LiveGuard]
  /// The relations whose records are only shown with rows, and decide neither which rows there are
  /// nor their order: the guards of the rows that are shown at the moment are enough.
  let shown: [LoadedPath]
  /// True if records of collections that nothing declares may concern the query.
  let watchesAll: Bool
  /// The reason why changes cannot be followed to rows, so that the query is always run again; nil
  /// where they can.
  let problem: String?
  /// The dependencies in words, a line for each, for `explain()`.
  let words: [String]

  let roles: [DependencyRole]
  private let description: QueryDescription
  /// The names that each role's records are read for, by their numbers.
  private let names: [[NameID]]
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
    (self.description, collection) = (description, description.collection)
    let (roles, catalog) = (tree.roles, records.catalog)
    (self.roles, problem) = (roles, tree.problem)
    names = roles.map { $0.names.compactMap(catalog.id(of:)) }
    unknown = Set(roles.flatMap(\.names)).filter { catalog.id(of: $0) == nil }.sorted()
    version = catalog.collections.version
    guards = try DependencyGuards(description, roles, scope).all
    shown = DependencyGuards.shown(roles)
    watchesAll = roles.contains { $0.collection == nil }
    words = roles.dropFirst().map { $0.words(roles, records) }
  }

  /// The guards, and every change of the collections whose records are only shown.
  var allGuards: [LiveGuard] {
    guards + Set(shown.map(\.collection)).sorted().map { LiveGuard(collection: $0, test: .any) }
  }

  /// True if a change of a record may be seen in the results: in its own, or through a role.
  func concerns(_ change: NetChange, through role: Int = 0) throws -> Bool {
    guard let old = change.old, let new = change.new, unknown.isEmpty, !roles[role].isWhole else {
      return true
    }
    return try old.lend { old in
      try new.lend { new in
        let (before, after) = (try RecordTable(old), try RecordTable(new))
        return try names[role].contains { name in
          let (one, other) = (try before.find(old, name), try after.find(new, name))
          guard let one, let other else { return (one == nil) != (other == nil) }
          return !old.extracting(one).equals(new.extracting(other))
        }
      }
    }
  }

  /// The keys of the rows that may differ after some changes, in their stored form; of joined rows
  /// the first record's.
  ///
  /// - Parameters:
  ///   - changes: The changes of the step, at least those that a guard lets through.
  ///   - records: The records after the step.
  ///   - most: The largest number of records and entries to be read; by default as many as running
  ///     the query again is estimated to read, and a quarter of the collection at most.
  /// - Returns: The keys; nil where they cannot be told, or take too much reading: the query is to
  ///   be run again, and after changes of declarations these dependencies are to be made again.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  /// - Complexity: O(*k*) lookups for *k* records on the ways from the changes up to the rows;
  ///   where no index has an edge, one walk over the collection that has it.
  func candidates(
    _ changes: [NetChange], _ records: QueryRecords, most: Int? = nil
  ) throws -> Set<[UInt8]>? {
    guard problem == nil, isCurrent(records) else { return nil }
    if roles.count == 1 { return try own(changes) }
    func walked(_ most: Int) throws -> Set<[UInt8]>? {
      var walk = DependencyWalk(self, changes, records, most: most)
      return try walk.candidates()
    }
    if let most { return try walked(most) }
    if let found = try walked(Dependencies.freely) { return found }
    let most = try worth(records)
    return most > Dependencies.freely ? try walked(most) : nil
  }

  /// The number of records that are read before planning says what running the query again takes.
  private static let freely = 256

  /// The number of records that may be read to save running the query again, which a limit and an
  /// index in order may make short.
  private func worth(_ records: QueryRecords) throws -> Int {
    let cost = try QueryPlanner(description, records).estimatedCost()
    let most = try max(1000, records.presentCount(collection) / 4)
    return cost < Double(most) ? Int(cost) : most
  }

  /// The keys of the rows' own records that have changed in what is read of them.
  private func own(_ changes: [NetChange]) throws -> Set<[UInt8]> {
    var keys: Set<[UInt8]> = []
    for change in changes where change.collection == collection {
      if try concerns(change) { keys.insert(change.key) }
    }
    return keys
  }

  /// True if the names still mean what they meant at the start.
  func isCurrent(_ records: QueryRecords) -> Bool {
    records.catalog.collections.version == version
      && unknown.allSatisfy { records.catalog.id(of: $0) == nil }
  }
}
