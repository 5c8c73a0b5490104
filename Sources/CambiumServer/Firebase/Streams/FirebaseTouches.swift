import Cambium

/// The places that a commit may have changed, and both moments to look at them.
///
/// Reading the operations costs one look at the log. The moments are opened when a stream is
/// concerned, and a record that was set as a whole is compared only then.
final class FirebaseTouches {
  /// A place, with all below it.
  struct Place: Equatable {
    var path: NodePath
    /// True if only the node's own value was set, as a whole.
    var isOwnValue = false
  }

  let sequence: SequenceNumber
  /// In path order.
  private(set) var places: [Place] = []
  private var paths: Set<NodePath> = []
  /// The declared collections whose records have defaults before or after: absent properties may
  /// mean something else in all of them. The moment before does not tell, since the first default
  /// of a property applies to all that was earlier.
  private var redeclared: [NodePath] = []
  private let database: Database
  private var moments: (old: FirebaseView, new: FirebaseView)?
  private var expanded: [NodePath: [NodePath]] = [:]

  init(_ commit: Commit, _ database: Database) throws {
    sequence = commit.sequence
    self.database = database
    for operation in try commit.operations() { try add(operation) }
    places.sort { $0.path < $1.path }
    paths = Set(places.map(\.path))
  }

  private func add(_ operation: LoggedOperation) throws {
    switch operation {
    case .set(let path, _): places.append(Place(path: path, isOwnValue: true))
    case .update(let path, let updates):
      for update in updates { append(path, update.property) }
    case .change(let path, let property?, _): append(path, property)
    case .change(let path, nil, _), .remove(let path), .restore(let path, _):
      places.append(Place(path: path))
    case .move(let source, let destination):
      places.append(Place(path: source))
      places.append(Place(path: destination))
    case .declare(let collection, let definition):
      let (old, new) = try views()
      // Where a declaration is taken back, no moment tells its defaults any more.
      if try definition == nil || !old.defaults(of: collection).isEmpty
        || !new.defaults(of: collection).isEmpty
      {
        redeclared.append(collection)
        places.append(Place(path: collection))
      }
    case .define, .event: break
    }
  }

  private func append(_ path: NodePath, _ property: String) {
    guard let key = try? Key(property) else { return places.append(Place(path: path)) }
    places.append(Place(path: path.appending(key)))
  }

  /// The moments before and after the commit.
  func views() throws -> (old: FirebaseView, new: FirebaseView) {
    if let moments { return moments }
    let old = try database.snapshot(at: .sequence(sequence.previous))
    let new = try database.snapshot(at: .sequence(sequence))
    let views = (FirebaseView(old), FirebaseView(new))
    moments = views
    return views
  }

  /// The changed places at and below a listened path, relative to it, in path order, none within
  /// another; an empty one is the listened node as a whole.
  ///
  /// A commit of many places may concern many paths, so that each looks only at its own.
  func places(below listened: NodePath) throws -> [[Key]] {
    var above = listened
    while let parent = above.parent {
      above = parent
      if paths.contains(above) { return [[]] }
    }
    var found: [NodePath] = []
    for place in places[first(from: listened)...] {
      guard place.path.isWithin(listened) else { break }
      found += place.isOwnValue ? try changed(in: place.path) : [place.path]
    }
    var reduced: [NodePath] = []
    for path in found.sorted() where reduced.last.map({ !path.isWithin($0) }) ?? true {
      reduced.append(path)
    }
    return reduced.compactMap { $0.relative(to: listened)?.keys }
  }

  /// The places that are told as a whole, whatever they were before, relative to a listened path.
  func whole(below listened: NodePath) -> [[Key]] {
    if redeclared.contains(where: { listened.isWithin($0) }) { return [[]] }
    return redeclared.compactMap { $0.relative(to: listened)?.keys }
  }

  /// The index of the first place at or behind a path: those below it follow.
  private func first(from path: NodePath) -> Int {
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle].path < path { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The properties that differ where a record was set, or the node as a whole.
  private func changed(in path: NodePath) throws -> [NodePath] {
    if let known = expanded[path] { return known }
    let (old, new) = try views()
    let before = try FirebaseTouches.record(at: path, old)
    let after = try FirebaseTouches.record(at: path, new)
    var changed = [path]
    if let before, let after {
      let names = Set(before.members.map(\.name) + after.members.map(\.name))
      let keys = names.filter { before[$0] != after[$0] }.map { try? Key($0) }
      if !keys.contains(nil) { changed = keys.compactMap(\.self).map { path.appending($0) } }
    }
    expanded[path] = changed
    return changed
  }

  /// The record of a node, which is empty where it has no value; nil for another value.
  private static func record(at path: NodePath, _ view: FirebaseView) throws -> ValueMap? {
    guard case .node(let node) = try view.place(at: path) else { return ValueMap() }
    switch try node.value {
    case nil: return ValueMap()
    case .map(let record): return record
    default: return nil
    }
  }
}
