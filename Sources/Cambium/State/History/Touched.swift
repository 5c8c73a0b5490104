/// A node, or a node with all below it, that a transaction may have changed.
struct Touched: Sendable {
  var path: NodePath
  var isSubtree: Bool
  /// True if the path may be a property's, because the caller asked for that path.
  var mayBeProperty = false
  /// True if the operation only named the record in which the path would be a property.
  var isUncertain = false

  /// The nodes that stored operations touch within a path, in path order, each once; for the root,
  /// also their events.
  static func collect(
    _ stored: [UInt8], under: NodePath
  ) throws -> (touched: [Touched], events: [Event]) {
    var touched: [Touched] = []
    var events: [Event] = []
    var operations = OperationReader(stored)
    while let operation = try operations.next() {
      if case .event(let name, let payload) = operation {
        events.append(Event(name: name, payload: try payload.lend { try Value($0) }))
      }
      forEach(in: operation, under: under) { touched.append($0) }
    }
    return (reduced(touched), under.isRoot ? events : [])
  }

  /// Visits the nodes that an operation touches within a path.
  static func forEach(
    in operation: Operation, under: NodePath, _ body: (Touched) throws -> Void
  ) rethrows {
    func touch(_ path: NodePath, isSubtree: Bool) throws {
      let touched = Touched(path: path, isSubtree: isSubtree)
      if under.isRoot { return try body(touched) }
      if let part = touched.clipped(to: under, of: under.parent) { try body(part) }
    }
    switch operation {
    case .set(let path, _), .update(let path, _), .change(let path, _, _):
      try touch(path, isSubtree: false)
    case .remove(let path), .restore(let path, _): try touch(path, isSubtree: true)
    case .move(let source, let destination):
      try touch(source, isSubtree: true)
      try touch(destination, isSubtree: true)
    case .define, .event, .declare: break
    }
  }

  /// The part within a path, which may be that of a node or of a property of its parent.
  func clipped(to under: NodePath, of parent: NodePath?) -> Touched? {
    if path.isWithin(under) {
      return Touched(path: path, isSubtree: isSubtree, mayBeProperty: path == under)
    }
    if isSubtree {
      return under.isWithin(path) ? Touched(path: under, isSubtree: true, mayBeProperty: true) : nil
    }
    guard path == parent else { return nil }
    return Touched(path: under, isSubtree: false, mayBeProperty: true, isUncertain: true)
  }

  /// The sorted list, without duplicates and without nodes of a subtree that is in the list.
  private static func reduced(_ all: [Touched]) -> [Touched] {
    var reduced: [Touched] = []
    for next in all.sorted(by: { $0.path < $1.path }) {
      guard let last = reduced.last else {
        reduced.append(next)
        continue
      }
      if last.isSubtree && next.path.isWithin(last.path) { continue }
      if last.path == next.path {
        reduced[reduced.count - 1].isSubtree = last.isSubtree || next.isSubtree
        reduced[reduced.count - 1].isUncertain = last.isUncertain && next.isUncertain
      } else {
        reduced.append(next)
      }
    }
    return reduced
  }
}
