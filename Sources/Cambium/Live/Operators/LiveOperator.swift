/// The part of a live query that keeps its rows: row by row, as groups, or by running it again.
///
/// It is asked once for each step, so that a call through the protocol does not matter.
protocol LiveOperator {
  /// The changes that can concern the rows that there are.
  var guards: [LiveGuard] { get }

  /// The change of the guards since this was asked last.
  func takeGuardChange() -> GuardChange

  /// True if changes of any collection can concern the rows.
  var watchesAll: Bool { get }

  /// True if a row is known by the key of the record that it is made of; false where it is made of
  /// several.
  var isOfRecords: Bool { get }

  /// The rows of the result, in order.
  var visible: [PlacedResult] { get }

  /// Reads the first result.
  func fill(_ reading: LiveReading) throws -> [PlacedResult]

  /// Takes net changes in. A step that may not take long throws ``LongStep`` where it would, before
  /// anything has changed.
  ///
  /// - Returns: The difference, and the keys of the rows that were looked at; nil if the query must
  ///   be run again.
  func step(
    _ changes: [NetChange], _ reading: LiveReading
  ) throws -> (diff: WindowDiff, candidates: SortedKeys)?

  /// True if what it has compiled holds for a later state.
  func isValid(_ records: QueryRecords) throws -> Bool

  /// True if a row that stays has to be read again, since its element may have changed.
  func changesElement(_ row: PlacedResult, _ own: ChangesByKey) throws -> Bool

  /// True if a change of a row's own record may be seen in its element; false if it only decides
  /// that, or where, the row is there.
  func isShown(_ change: NetChange) throws -> Bool

  /// The record of a change as it is now; nil if it is not there.
  func record(_ change: NetChange, _ reading: LiveReading) throws -> StoredRecord?

  /// The elements of some rows, at least one, in their order.
  func elements(of rows: [PlacedResult], _ reading: LiveReading) throws -> [ElementBox]

  /// The changes of other records behind a row that stays, by the last step; nil where they are not
  /// known, as after the query was run again.
  func farUpdates(of row: PlacedResult, _ records: QueryRecords) throws -> FarChange?

  /// Releases all that was kept for the elements of the last step.
  func endStep()
}

/// A change of guards: of some of them, which says which, or of all.
enum GuardChange {
  case edit(removing: [LiveGuard], adding: [LiveGuard])
  case all
}

extension LiveOperator {
  func farUpdates(of row: PlacedResult, _ records: QueryRecords) -> FarChange? { FarChange() }
  func takeGuardChange() -> GuardChange { .edit(removing: [], adding: []) }
  func isShown(_ change: NetChange) -> Bool { true }
  func endStep() {}
  func record(_ change: NetChange, _ reading: LiveReading) throws -> StoredRecord? {
    try reading.record(of: change)
  }

  /// The elements that are made of given values, one for each row.
  func elements(
    of values: [[Value]], _ run: QueryRun, _ reading: LiveReading
  ) throws -> [ElementBox] {
    run.given = .values(values)
    let made = try reading.query.elements(of: run)
    guard made.count == values.count else { throw DatabaseError.lostResult }
    return made
  }
}

extension DatabaseError {
  /// A row that was found cannot be read a moment later, in the same snapshot.
  static var lostResult: DatabaseError {
    .corrupt(reason: "a row that was found could not be read")
  }
}
