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
      removed += points.removeValue(forKey: root) ?? []
      if keeps(root) { for row in candidate.rows { try append(row, records) } }
    }
    for row in fetched where keeps(row.identity.key) { try append(row, records) }
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
    if points.count >= ShownGuards.rowsMax {
      (points, isWide) = ([:], true)
      return
    }
    var all: [ShownPoint] = []
    for (number, relation) in relations.enumerated() {
      try relation.forEach(row, records) { all.append(ShownPoint(relation: number, hash: $0)) }
    }
    points[row.identity.key, default: []] += all
    added += all
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

  /// Visits the points of a row.
  func forEach(
    _ row: PlacedResult, _ records: QueryRecords, _ body: (UInt64) -> Void
  ) throws {
    if isWide { return }
    switch relation.source {
    case .joined(let places):
      for place in places where place < row.identity.joined.count {
        let key = row.identity.joined[place]
        if !key.isEmpty { body(key.lend { Checksum.of($0) }) }
      }
    case .path: try follow(0, row.identity.key, records, body)
    }
  }

  private func follow(
    _ step: Int, _ key: [UInt8], _ records: QueryRecords, _ body: (UInt64) -> Void
  ) throws {
    guard step < steps.count else { return body(try point(key)) }
    let (collection, values) = steps[step]
    let keys = try key.lend { key in
      try records.lend(collection, key) { record in
        try values.lend(0, record, key: key, records) { try RelatedKeys.named(by: $0) }
      }
    }
    for key in keys ?? [] { try follow(step + 1, key, records, body) }
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
