/// The places that one transaction has restored, each with a flag for later changes below it.
///
/// Removing a subtree touches only its topmost entry, so the transaction's changes below it stay,
/// and would reappear with the next restoration. The removal therefore records that, and the
/// subtree can no longer be restored as it was.
struct RestoredPlaces {
  private var places: [(path: NodePath, isChanged: Bool)] = []

  /// True if nothing was restored, as in most transactions.
  var isEmpty: Bool { places.isEmpty }

  /// Records an operation that has been folded in.
  mutating func note(_ operation: Operation) {
    switch operation {
    case .move(let source, let destination): noteMove(source, destination)
    case .remove(let path):
      noteChange(of: path)
      places.removeAll { $0.path.isWithin(path) }
    case .define, .event, .declare: break
    case .restore(let path, _), .set(let path, _), .update(let path, _), .change(let path, _, _):
      noteChange(of: path)
    }
  }

  /// Records that a place has been restored.
  mutating func add(_ path: NodePath) { places.append((path, false)) }

  /// True for a place that was restored and has been changed below since.
  func isChanged(_ path: NodePath) -> Bool {
    places.contains { $0.isChanged && $0.path == path }
  }

  private mutating func noteChange(of path: NodePath) {
    for index in places.indices
    where path != places[index].path && path.isWithin(places[index].path) {
      places[index].isChanged = true
    }
  }

  private mutating func noteMove(_ source: NodePath, _ destination: NodePath) {
    noteChange(of: source)
    noteChange(of: destination)
    // A restored node that is itself moved cannot be restored at its former place at all.
    places.removeAll { $0.path == source }
    for index in places.indices {
      guard let rest = places[index].path.relative(to: source) else { continue }
      places[index].path = destination.appending(rest)
    }
  }

  static func changed(_ path: NodePath, by sequence: UInt64) -> DatabaseError {
    .notFound(
      path,
      reason: "it was restored since; transaction \(sequence) changed what is below it before it "
        + "took it away again; undo the removal, which makes it anew as it was")
  }
}
