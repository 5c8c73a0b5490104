/// Tries transactions out again from the moment before the first of them, and notes what each
/// operation did.
///
///     records A+1 … B ──▶ PastTree as of A ──▶ steps, to be taken back from the last to the first
struct Retracing {
  private(set) var tree: PastTree
  private var steps: [Step] = []
  private var values = ValueStep()

  init(_ tree: PastTree) { self.tree = tree }

  /// Tries a transaction out, which follows the one before.
  ///
  /// - Throws: ``DatabaseError/corrupt(reason:)`` where the log and the history do not agree.
  mutating func apply(_ record: TransactionRecord) throws {
    var operations = OperationReader(record.operations)
    while let operation = try operations.next() {
      tree.step += 1
      try apply(operation, record.sequence)
    }
  }

  /// Ends the retracing, and returns the steps of all transactions, in order.
  mutating func finish() -> [Step] {
    endValues()
    return steps
  }

  private mutating func apply(_ operation: Operation, _ sequence: SequenceNumber) throws {
    switch operation {
    case .set(let path, _), .update(let path, _), .change(let path, _, _):
      try change(path, operation, sequence)
    case .remove(let path): try remove(path, sequence)
    case .restore(let path, let removal): try restore(path, removal, sequence)
    case .move(let source, let destination): try move(source, destination, sequence)
    case .declare(let path, let definition?): try checkNoMigration(path, definition, sequence)
    case .define, .event, .declare: break
    }
  }

  /// Refuses a transaction that has migrated records: their declaration would not be taken back.
  private func checkNoMigration(
    _ path: Path, _ stored: [UInt8], _ sequence: SequenceNumber
  ) throws {
    let definition = try CollectionDefinition(stored.lend { try Value($0) })
    let isMigration =
      definition.migration != nil || definition.steps.contains { $0.sequence == sequence }
    if !isMigration { return }
    throw DatabaseError.undoConflict([
      UndoConflict(
        path: path, property: nil, left: nil, found: nil, changedBy: sequence,
        reason: "its records were migrated, which is not undone; the state before can be restored")
    ])
  }

  private mutating func endValues() {
    if values.isEmpty { return }
    steps.append(.values(values))
    values = ValueStep()
  }

  private mutating func change(
    _ path: Path, _ operation: Operation, _ sequence: SequenceNumber
  ) throws {
    let place = try makePlace(path, sequence)
    let old = try tree.entry(place)
    let new = try Content.applying(operation, to: old?.content)
    try values.note(path, operation, from: old, to: new)
    try tree.write(
      place,
      .init(content: new, node: old?.node ?? 0, placed: old?.placed ?? sequence.rawValue))
  }

  private mutating func remove(_ path: Path, _ sequence: SequenceNumber) throws {
    endValues()
    let (place, entry) = try existing(path)
    let isRestorable = try tree.remove(place, entry, in: sequence)
    steps.append(
      .removed(path, place, at: sequence, before: tree.step, isRestorable: isRestorable))
  }

  private mutating func restore(
    _ path: Path, _ removal: UInt64, _ sequence: SequenceNumber
  ) throws {
    endValues()
    guard let place = try tree.place(of: path) else { throw Retracing.missing(path) }
    var entry = try tree.removed(place, in: removal)
    entry.placed = sequence.rawValue
    try tree.write(place, entry)
    if !cancelRemoval(path, place, SequenceNumber(removal)) {
      steps.append(.restored(path, place, after: tree.step))
    }
  }

  /// Forgets a removal that a restoration takes back, since nobody can restore what he has removed
  /// himself. That is right where the place was free in between, and its parent not touched.
  ///
  /// - Returns: True if it was forgotten.
  private mutating func cancelRemoval(
    _ path: Path, _ place: PastTree.Place, _ removal: SequenceNumber
  ) -> Bool {
    for index in steps.indices.reversed() {
      if case .removed(path, place, removal, _, true) = steps[index] {
        steps.remove(at: index)
        return true
      }
      if steps[index].touches(place) { return false }
      if case .values(let values) = steps[index], values.nodes[path.parent ?? .root] != nil {
        return false
      }
    }
    return false
  }

  private mutating func move(
    _ source: Path, _ destination: Path, _ sequence: SequenceNumber
  ) throws {
    let target = try makePlace(destination, sequence)
    endValues()
    var (place, entry) = try existing(source)
    try tree.write(place, nil)
    entry.placed = sequence.rawValue
    try tree.write(target, entry)
    steps.append(.moved(source, to: destination, places: (place, target), after: tree.step))
  }

  private mutating func makePlace(_ path: Path, _ sequence: SequenceNumber) throws -> PastTree.Place
  {
    var created: [Path] = []
    let place = try tree.makePlace(of: path, in: sequence) { created.append($0) }
    for path in created { values.noteCreated(path) }
    return place
  }

  private func existing(_ path: Path) throws -> (PastTree.Place, PastTree.Entry) {
    guard let place = try tree.place(of: path), let entry = try tree.entry(place) else {
      throw Retracing.missing(path)
    }
    return (place, entry)
  }

  private static func missing(_ path: Path) -> DatabaseError {
    .corrupt(reason: "history does not hold '\(path)', which the log changes; rebuild the state")
  }
}
