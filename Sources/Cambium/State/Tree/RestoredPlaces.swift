/// The places that one transaction has restored, and whether it has changed anything below since.
///
/// Removing a subtree touches only its topmost entry, so what the transaction changed below it
/// stays, and would come back with the next restoration. The removal says so, therefore, and the
/// subtree cannot be restored any more as it was.
struct RestoredPlaces {
  private var places: [(path: Path, isChanged: Bool)] = []

  /// True in most transactions.
  var isEmpty: Bool { places.isEmpty }

  /// Notes an operation that has been folded in.
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

  /// Notes that a place has been restored.
  mutating func add(_ path: Path) { places.append((path, false)) }

  /// True for a place that was restored, and below which something was changed then.
  func isChanged(_ path: Path) -> Bool {
    places.contains { $0.isChanged && $0.path == path }
  }

  private mutating func noteChange(of path: Path) {
    for index in places.indices
    where path != places[index].path && path.isWithin(places[index].path) {
      places[index].isChanged = true
    }
  }

  private mutating func noteMove(_ source: Path, _ destination: Path) {
    noteChange(of: source)
    noteChange(of: destination)
    // A restored node that is itself moved cannot be restored from where it was at all.
    places.removeAll { $0.path == source }
    for index in places.indices {
      guard let rest = places[index].path.relative(to: source) else { continue }
      places[index].path = destination.appending(rest)
    }
  }

  static func changed(_ path: Path, by sequence: UInt64) -> DatabaseError {
    .notFound(
      path,
      reason: "it was restored since; transaction \(sequence) changed what is below it before it "
        + "took it away again; undo the removal, which makes it anew as it was")
  }
}
