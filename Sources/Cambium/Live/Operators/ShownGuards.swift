// The guards of the records that are shown with the rows of a window: of those alone to which the
// rows lead that are kept. A row that comes or goes adds or removes its own, one by one.
//
//     issues sort -opened limit 50, with author and comments
//
//     author      the users with the keys that these issues have as author
//     comments    the comments of which the issue, before or after, is one of these
//
// Per row: about 60 bytes, and 40 for each record of a relation.

import LMDB

/// The guards of the records that are shown with the rows that are kept.
///
/// Invariant: unless it is wide, it has the points of at least the rows that are kept. Points of
/// rows that are kept no longer may stay until as many rows have come and gone.
struct ShownGuards {
  /// The most rows that have guards of their own: beyond, about every change concerns some of them.
  static let rowsMax = 4096

  private let relations: [ShownPoints]
  /// The points of the rows, by the keys of their roots: for each relation its number, then theirs.
  private var points: [[UInt8]: [ShownPoint]] = [:]
  /// True if every change of what may be shown is let through.
  private(set) var isWide = false
  private var added: [ShownPoint] = []
  private var removed: [ShownPoint] = []

  init(_ dependencies: Dependencies, _ records: QueryRecords) throws {
    // Without the names of joined records: the paths are of properties.
    let scope = records.scope(of: dependencies.collection)
    relations = try dependencies.shown.map {
      try ShownPoints($0, of: dependencies.collection, in: scope)
    }
  }

  /// True if no records but the rows' own are shown.
  var isEmpty: Bool { relations.isEmpty }

  /// The guards for all rows.
  var guards: [LiveGuard] {
    if isWide { return relations.map(\.relation.wide) }
    return relations.indices.map { number in
      relations[number].guarding(points.values.joined().filter { $0.relation == number })
    }
  }

  // MARK: Rows

  /// Sets all rows that are kept.
  mutating func fill(_ rows: [PlacedResult], _ records: QueryRecords) throws {
    (points, added, removed, isWide) = ([:], [], [], false)
    for row in rows { try append(row, records) }
    (added, removed) = ([], [])
  }

  /// Takes in a step.
  ///
  /// - Parameters:
  ///   - made: The rows that candidates make now, by their roots.
  ///   - fetched: The rows that were read behind the window.
  ///   - keeps: True for roots of which rows are kept; the rows of others need no guards.
  ///   - records: The records after the step.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  /// - Complexity: a lookup for each relation of each row.
  mutating func update(
    _ made: [LiveRows.Candidate], fetched: [PlacedResult], keeps: ([UInt8]) -> Bool,
    _ records: QueryRecords
  ) throws {
    if relations.isEmpty || isWide { return }
    for candidate in made {
      let root = candidate.key
      let now = keeps(root) ? try points(of: candidate.rows, candidate.record, records) : []
      // Most changes of a row leave alone what it refers to.
      if points[root] ?? [] == now { continue }
      removed += points.removeValue(forKey: root) ?? []
      add(now, of: root)
    }
    for row in fetched where keeps(row.key) { try append(row, records) }
  }

  /// Forgets rows that were dropped far behind the window, once they are many.
  mutating func prune(to count: Int, keeps: ([UInt8]) -> Bool) {
    if points.count <= 2 * count + 64 { return }
    for root in points.keys where !keeps(root) {
      removed += points.removeValue(forKey: root) ?? []
    }
  }

  private mutating func append(_ row: PlacedResult, _ records: QueryRecords) throws {
    if relations.isEmpty || isWide { return }
    add(try points(of: [row], nil, records), of: row.key)
  }

  private mutating func add(_ some: [ShownPoint], of root: [UInt8]) {
    if some.isEmpty || isWide { return }
    if points.count >= ShownGuards.rowsMax {
      (points, isWide) = ([:], true)
      return
    }
    points[root, default: []] += some
    added += some
  }

  /// The points of a root's rows, in the order of the relations.
  private func points(
    of rows: [PlacedResult], _ record: StoredRecord?, _ records: QueryRecords
  ) throws -> [ShownPoint] {
    var all: [ShownPoint] = []
    for row in rows {
      for (number, relation) in relations.enumerated() {
        try relation.forEach(row, record, records) {
          all.append(ShownPoint(relation: number, hash: $0))
        }
      }
    }
    return all
  }

  /// The roots of the rows that show one of some records that have changed.
  ///
  /// - Parameters:
  ///   - changes: The changes.
  ///   - role: The role of the records.
  ///   - records: The records after the step.
  /// - Returns: The keys, and maybe a few others; nil where the points do not tell.
  /// - Throws: ``DatabaseError/corrupt(reason:)``.
  /// - Complexity: O(*n*) for *n* rows that are kept.
  func roots(
    showing changes: [NetChange], in role: Int, _ records: QueryRecords
  ) throws -> [[UInt8]]? {
    guard !isWide, let number = relations.firstIndex(where: { $0.relation.role == role }),
      let hashes = try relations[number].hashes(of: changes, records)
    else { return nil }
    var roots: [[UInt8]] = []
    for (root, points) in points {
      if points.contains(where: { $0.relation == number && hashes.contains($0.hash) }) {
        roots.append(root)
      }
    }
    return roots
  }

  // MARK: Changes

  /// The guards to be removed and those to be added since this was asked last.
  mutating func takeEdits() -> (removing: [LiveGuard], adding: [LiveGuard]) {
    defer { (added, removed) = ([], []) }
    if added.isEmpty && removed.isEmpty { return ([], []) }
    let (gone, come) = added.without(removed)
    return (guards(of: gone), guards(of: come))
  }

  private func guards(of points: [ShownPoint]) -> [LiveGuard] {
    relations.indices.compactMap { number in
      let own = points.filter { $0.relation == number }
      return own.isEmpty ? nil : relations[number].guarding(own)
    }
  }
}

/// A point of a relation's guard.
private struct ShownPoint: Hashable {
  let relation: Int
  let hash: UInt64
}

extension [ShownPoint] {
  /// The points of another list that are not in this one, and those of this that are not there;
  /// each as often as it is missing.
  fileprivate func without(_ others: [ShownPoint]) -> (gone: [ShownPoint], come: [ShownPoint]) {
    var counts: [ShownPoint: Int] = [:]
    for point in self { counts[point, default: 0] += 1 }
    for point in others { counts[point, default: 0] -= 1 }
    let gone = counts.flatMap { Array(repeating: $0, count: Swift.max(0, -$1)) }
    return (gone, counts.flatMap { Array(repeating: $0, count: Swift.max(0, $1)) })
  }
}

/// A relation, and the way from a row to the points of its guard.
private struct ShownPoints {
  let relation: ShownRelation
  /// The collections on the way, with the property that is read of their records.
  private let steps: [(collection: NodePath, values: QueryPaths)]
  /// The type of the references back; nil if the records' keys are the points.
  private let referring: PropertyType?
  /// True if no points can tell the records.
  private let isWide: Bool

  init(_ relation: ShownRelation, of root: NodePath, in scope: ConditionScope) throws {
    self.relation = relation
    var steps: [(collection: NodePath, values: QueryPaths)] = []
    if case .path(let path) = relation.source {
      var (place, inner) = (root, scope)
      let resolved = try scope.resolve(path)
      for hop in resolved.hops {
        steps.append((place, try QueryPaths([PropertyPath(hop.name)], in: inner)))
        guard let next = hop.collection else {
          throw QueryError("\(place)/\(hop.name) is not declared as a reference")
        }
        (place, inner) = (next, inner.entering(next))
      }
      if let property = resolved.property {
        steps.append((place, try QueryPaths([PropertyPath(property)], in: inner)))
      }
    }
    self.steps = steps
    let type = relation.inverse.flatMap { scope.find(relation.collection)?[$0]?.type }
    referring = type
    // Only references have the same ordered bytes however they name a key.
    isWide = relation.inverse != nil && !(type?.hasFormOfReferences ?? false)
  }

  /// The guard with some points.
  func guarding(_ points: [ShownPoint]) -> LiveGuard {
    if isWide { return relation.wide }
    let property = referring.map { GuardedProperty(name: relation.inverse ?? "", type: $0) }
    return LiveGuard(
      collection: relation.collection, test: .points(property, points.map(\.hash)),
      properties: relation.properties)
  }

  /// The points of records that have changed, as they were and as they are; nil where these cannot
  /// be told.
  func hashes(of changes: [NetChange], _ records: QueryRecords) throws -> Set<UInt64>? {
    if isWide { return nil }
    guard let inverse = relation.inverse else {
      return Set(changes.map { $0.key.lend { Checksum.of($0) } })
    }
    guard let value = try StoredProperty(inverse, of: relation.collection, records) else {
      return nil
    }
    var hashes: Set<UInt64> = []
    for record in changes.flatMap({ [$0.old, $0.new] }).compactMap(\.self) {
      let keys = try record.lend { try value.lend($0) { try StoredKey.all(namedBy: $0) } }
      for key in keys { hashes.insert(try point(key)) }
    }
    return hashes
  }

  /// Visits the points of a row, whose root's record may be at hand.
  func forEach(
    _ row: PlacedResult, _ record: StoredRecord?, _ records: QueryRecords, _ body: (UInt64) -> Void
  ) throws {
    if isWide { return }
    switch relation.source {
    case .joined(let place):
      let joined = row.joined
      if place < joined.count, case let key = joined[place], !key.isEmpty {
        body(key.lend { Checksum.of($0) })
      }
    case .path: try follow(0, row.key, record, records, body)
    }
  }

  private func follow(
    _ step: Int, _ key: [UInt8], _ record: StoredRecord?, _ records: QueryRecords,
    _ body: (UInt64) -> Void
  ) throws {
    guard step < steps.count else { return body(try point(key)) }
    let (collection, values) = steps[step]
    let keys = try key.lend { key in
      func named(_ record: RawSpan) throws -> [[UInt8]] {
        try values.lend(0, record, key: key, records) { try StoredKey.all(namedBy: $0) }
      }
      if let record { return try record.lend(named) }
      return try records.lend(collection, key, named) ?? []
    }
    for key in keys { try follow(step + 1, key, nil, records, body) }
  }

  private func point(_ key: [UInt8]) throws -> UInt64 {
    guard let referring else { return key.lend { Checksum.of($0) } }
    let value = StoredKey.value(of: try key.lend { try Key($0) })
    return try OrderedBytes.of(value, as: referring.element).lend { Checksum.of($0) }
  }
}

extension PropertyType {
  /// True if values, or the elements of arrays, have the ordered bytes of references.
  fileprivate var hasFormOfReferences: Bool {
    switch self {
    case .reference, .array(.reference): true
    default: false
    }
  }
}
