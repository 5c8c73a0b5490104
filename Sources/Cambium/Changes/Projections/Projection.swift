/// An app's own fold over the log: it reads changes and events, and writes a table of its own.
///
///     struct Orders: Projection {
///       let name = "orders by customer"
///       let version = 1
///
///       func fold(_ change: Change, at: SequenceNumber, into table: ProjectionTable) throws {
///         guard let customer = try change.new?["customer"] else { return }
///         …
///       }
///     }
///
///     let orders = try database.register(Orders())
///     try await orders.catchUp(to: sequence)
///     let count = try database.read { try orders.read($0)["ada"] }
///
/// It runs behind the commits, in the background, so that it costs writers nothing but short steps
/// of their turn; its position, the last transaction that it has folded, is stored in the same
/// transaction as what it wrote. Its table is a part of the state: where that is rebuilt, or the
/// version changes, it is folded again. So `fold` must give the same for the same changes, and have
/// no effect but on its table.
///
/// Another version is folded into a new table, while the old one can still be read. Where the log
/// is compacted, the fold begins with all that was there at the horizon, as changes from nothing.
public protocol Projection: Sendable {
  /// The table's name, 1 to 400 bytes.
  var name: String { get }

  /// The version of `fold`; where it is raised, the projection is folded again.
  var version: Int { get }

  /// Folds in what became of a node.
  ///
  /// - Parameters:
  ///   - change: The node's old and new value. The changes of a transaction come in path order.
  ///   - sequence: The transaction that made the change.
  ///   - table: The table to write to, during this call only.
  /// - Throws: Anything; the transaction is then folded again later, and the error reported as
  ///   ``Diagnostic/projectionFailed(_:reason:)``.
  func fold(
    _ change: Change, at sequence: SequenceNumber, into table: ProjectionTable
  ) throws

  /// Folds in an event, after the changes of its transaction; by default nothing.
  ///
  /// - Parameters:
  ///   - event: The event, with its name and value.
  ///   - sequence: The transaction that made the change.
  ///   - table: The table to write to, during this call only.
  /// - Throws: As ``fold(_:at:into:)-(Change,_,_)``.
  func fold(_ event: Event, at sequence: SequenceNumber, into table: ProjectionTable) throws
}

extension Projection {
  /// Folds nothing in.
  public func fold(
    _ event: Event, at sequence: SequenceNumber, into table: ProjectionTable
  ) throws {}
}
