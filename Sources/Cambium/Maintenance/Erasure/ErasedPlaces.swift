/// The places that an erasure takes out, and what it leaves of an operation.
///
/// Invariant: no place lies within another. `add` makes it so.
struct ErasedPlaces {
  /// In path order.
  private(set) var paths: [NodePath]

  /// The largest number of places. Data that was moved to and fro has many; more would be a cycle.
  private static let countMax = 1000

  init(_ place: NodePath) throws {
    try place.checkKeys()
    if place.isRoot {
      throw DatabaseError.misuse(reason: "the root cannot be erased; delete the database instead")
    }
    paths = [place]
  }

  /// The place that a path lies within, or nil.
  func place(of path: NodePath) -> NodePath? { paths.first { path.isWithin($0) } }

  /// The properties of a node that are places.
  private func properties(of path: NodePath, _ catalog: Catalog) -> Set<NameID> {
    Set(
      paths.lazy.filter { $0.parent == path }.compactMap(\.last)
        .compactMap { catalog.id(of: $0.description) })
  }

  // MARK: Following moves

  /// Adds the places that an operation has moved data of these from, or to.
  mutating func follow(_ operation: Operation) throws {
    guard case .move(let source, let destination) = operation else { return }
    for place in paths {
      if destination.isWithin(place) { try add(source) }
      if source.isWithin(place) { try add(destination) }
      if let rest = place.relative(to: source) { try add(destination.appending(rest)) }
      if let rest = place.relative(to: destination) { try add(source.appending(rest)) }
    }
  }

  private mutating func add(_ path: NodePath) throws {
    if place(of: path) != nil { return }
    paths.removeAll { $0.isWithin(path) }
    paths.append(path)
    paths.sort()
    if paths.count > ErasedPlaces.countMax {
      throw DatabaseError.misuse(
        reason: "what was at \(paths[0]) was moved to more than \(ErasedPlaces.countMax) places; "
          + "erase a node above them")
    }
  }

  // MARK: Operations

  /// The part of an operation that remains; nil where nothing does.
  func remains(of operation: Operation, _ catalog: Catalog) throws -> Operation? {
    if operation.paths.contains(where: { place(of: $0) != nil }) { return nil }
    switch operation {
    case .set(let path, let content) where content.kind == .record:
      let erased = properties(of: path, catalog)
      return erased.isEmpty ? operation : .set(path, try content.without(erased))
    case .update(let path, let updates):
      let erased = properties(of: path, catalog)
      let left = updates.filter { !erased.contains($0.name) }
      return left.isEmpty && !updates.isEmpty ? nil : .update(path, left)
    case .change(let path, let name?, _):
      return properties(of: path, catalog).contains(name) ? nil : operation
    default: return operation
    }
  }

  /// The places' parents that an operation makes where they are missing.
  func parents(madeBy operation: Operation) -> [NodePath] {
    operation.paths.compactMap { place(of: $0)?.parent }.filter { !$0.isRoot }
  }
}

extension Content {
  /// A record without some of its properties; the same where it has none of them.
  func without(_ names: Set<NameID>) throws -> Content {
    var record = try bytes.lend { try RecordBuilder($0) }
    guard record.names.contains(where: names.contains) else { return self }
    for name in names { record[name] = nil }
    return Content(kind: kind, bytes: record.stored())
  }
}
