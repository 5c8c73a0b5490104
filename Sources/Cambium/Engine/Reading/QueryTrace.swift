/// The cost of one query; see ``Database/Options/queryTrace``.
///
///     options.queryTrace = { if $0.duration > .milliseconds(20) { logger.warning("\($0)") } }
///
/// A query that runs first, of a collection behind a reference, is reported before it as a query of
/// its own.
public struct QueryTrace: Sendable, CustomStringConvertible {
  /// The collection.
  public let collection: NodePath
  /// The moment that was read.
  public let sequence: SequenceNumber
  /// The plan in words, one step a line, as returned by `explain()`.
  public let plan: String
  /// The number of index entries, or keys, that were read.
  public let entriesRead: Int
  /// The number of records that were read.
  public let recordsRead: Int
  /// The number of records that were looked up, or scanned, behind references and in relations.
  public let relatedRead: Int
  /// The number of them that the condition accepts.
  public let accepted: Int
  /// The number of results returned, or counted one by one; zero for a count that a view has.
  public let results: Int
  /// The time from the planning to the last result, including the app's handling of each.
  public let duration: Duration

  /// The whole trace in one line.
  public var description: String {
    let steps = plan.split(separator: "\n").joined(separator: "; ")
    return "query of \(ConditionText.collection(collection)) in \(duration): \(steps)"
  }
}
