import LMDB

/// Takes what touched some places out of records, and folds what is left.
///
/// Invariant: after each record the state holds what the old one held, but nothing at the places.
/// An operation on a place may have made its ancestors, which others rely on; so where one goes,
/// the ancestors that it made are set instead. Proved by folding: what cannot be applied ends the
/// erasure before anything has changed.
final class Redaction {
  let places: ErasedPlaces
  private var replay: Replay
  /// The digests of what is left, in events of bounded size.
  private(set) var notes: [ErasureNote] = []
  private(set) var transactions: UInt64 = 0
  private(set) var operations: UInt64 = 0
  /// The blobs that were referred to at the places.
  private(set) var blobs: Set<[UInt8]> = []

  /// Continues from a state in which nothing is at the places.
  init(_ places: ErasedPlaces, into state: State) throws {
    self.places = places
    replay = try Replay(into: state)
  }

  /// Redacts some records in one transaction of the state.
  ///
  /// - Parameters:
  ///   - next: Gives the next record, or nil after the last.
  ///   - take: Takes what is left of each.
  /// - Returns: True if there may be more.
  /// - Throws: The errors of `next` and `take`; ``DatabaseError`` where what is left cannot be
  ///   applied.
  func run(
    _ next: () throws -> TransactionRecord?, _ take: (TransactionRecord) throws -> Void
  ) throws -> Bool {
    try replay.step { projector in
      guard var record = try next() else { return nil }
      let bytes = record.operations.count
      try redact(&record, &projector)
      try take(record)
      return bytes
    }
  }

  private func redact(_ record: inout TransactionRecord, _ projector: inout StateWriter) throws {
    projector.begin(record.sequence)
    var left = OperationWriter(expecting: record.operations.count)
    var erased: UInt64 = 0
    var operations = OperationReader(record.operations)
    while let operation = try operations.next() {
      let remains = try places.remains(of: operation, projector.catalog)
      if remains != operation {
        erased += 1
        try BlobReferences.forEach(in: operation) { blobs.insert($0.hash) }
      }
      if let remains {
        try apply(remains, &left, &projector)
      } else {
        try applyParents(madeBy: operation, &left, &projector)
      }
    }
    projector.finish()
    if erased == 0 { return }
    record.erase(leaving: left)
    note(record)
    transactions += 1
    self.operations += erased
  }

  private func apply(
    _ operation: Operation, _ left: inout OperationWriter, _ projector: inout StateWriter
  ) throws {
    try projector.apply(operation)
    left.write(operation)
  }

  private func applyParents(
    madeBy operation: Operation, _ left: inout OperationWriter, _ projector: inout StateWriter
  ) throws {
    // A removal or a move away makes no parent; but the node is there then, and so is its parent.
    for parent in places.parents(madeBy: operation) {
      if try projector.hasNode(at: parent) { continue }
      try apply(.set(parent, Content(kind: .none, bytes: [])), &left, &projector)
    }
  }

  private func note(_ record: TransactionRecord) {
    if notes.last?.isFull ?? true { notes.append(ErasureNote()) }
    notes[notes.count - 1].add(record)
  }
}
