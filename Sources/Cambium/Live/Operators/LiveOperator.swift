/// The part of a live query that keeps its rows: row by row, as groups, or by running it again.
///
/// It is asked once for each step, so that a call through the protocol does not matter.
protocol LiveOperator {
  /// The changes that can concern the rows that there are.
  var guards: [LiveGuard] { get }

  /// True if the guards are others since this was asked last.
  func takeGuardsChanged() -> Bool

  /// True if changes of any collection can concern the rows.
  var watchesAll: Bool { get }

  /// The rows of the result, in order.
  var visible: [PlacedResult] { get }

  /// Reads the first result.
  func fill(_ reading: any LiveReader) throws -> [PlacedResult]

  /// Takes net changes in.
  ///
  /// - Returns: The difference, and the keys of the rows that were looked at; nil if the query must
  ///   be run again.
  func step(_ changes: [NetChange], _ reading: any LiveReader) throws
    -> (diff: WindowDiff, candidates: Set<[UInt8]>)?

  /// True if what it has compiled holds for a later state.
  func isValid(_ records: QueryRecords) throws -> Bool

  /// True if a row that stays has to be read again, since its element may have changed.
  func changesElement(_ row: PlacedResult, _ own: [[UInt8]: NetChange]) throws -> Bool

  /// Evaluates rows by their keys; nil where rows are made of several records.
  var evaluator: ResultEvaluator? { get }

  /// The values that a row consists of; nil where it consists of records.
  func values(of row: PlacedResult) -> [Value]?
}

/// The state that an operator reads in a step.
protocol LiveReader: AnyObject {
  var records: QueryRecords { get }
  /// The query as it is asked.
  var description: QueryDescription { get }
  /// The relations that are loaded along.
  var loading: [LoadedPath] { get }

  /// A run of a changed description, checked and with the filter in Swift.
  func run(_ description: QueryDescription) throws -> QueryRun
  /// A run that looks rows up, with the filter in Swift.
  func run(_ evaluator: ResultEvaluator) throws -> QueryRun
}

extension LiveOperator {
  func takeGuardsChanged() -> Bool { false }
}
