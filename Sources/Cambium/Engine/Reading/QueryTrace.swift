/// The work that one answer to a query took; see ``Database/Options/queryTrace``.
///
///     options.queryTrace = { if $0.duration > .milliseconds(20) { logger.warning("\($0)") } }
///
/// A query that is asked first, of a collection behind a reference, is reported before it as a
/// query of its own.
public struct QueryTrace: Sendable, CustomStringConvertible {
  /// The collection.
  public let collection: Path
  /// The moment that was asked about.
  public let sequence: SequenceNumber
  /// How it was answered, in words, one step a line, as `explain()` says it.
  public let plan: String
  /// How many entries of indexes, or keys, were looked at.
  public let entriesRead: Int
  /// How many records were read.
  public let recordsRead: Int
  /// The number of records that were looked up, or scanned, behind references and in relations.
  public let relatedRead: Int
  /// How many of them the condition accepts.
  public let accepted: Int
  /// How many results were handed out, or counted one by one; none where a view has the figures.
  public let results: Int
  /// From the planning to the last result, with what the app did with each.
  public let duration: Duration

  /// All of it, in one line.
  public var description: String {
    let steps = plan.split(separator: "\n").joined(separator: "; ")
    return "query of \(ConditionText.collection(collection)) in \(duration): \(steps)"
  }
}
