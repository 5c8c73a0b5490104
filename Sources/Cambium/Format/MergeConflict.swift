import FoundationEssentials

/// A place that two databases have changed since their common past, each in its own way.
public struct MergeConflict: Hashable, Sendable {
  /// One database's share in a conflict.
  public struct Side: Hashable, Sendable {
    /// The value there now; nil for no node, no property, or no value of its own.
    public let value: Value?
    /// The transaction that last changed the place, in the log of this side; nil where it is not
    /// known, since compaction has removed it.
    public let changedBy: SequenceNumber?
    /// The time of that transaction.
    public let time: Date?
    /// The metadata of that transaction: who changed it, and why.
    public let metadata: [String: String]

    package init(
      value: Value?, changedBy: SequenceNumber? = nil, time: Date? = nil,
      metadata: [String: String] = [:]
    ) {
      self.value = value
      self.changedBy = changedBy
      self.time = time
      self.metadata = metadata
    }
  }

  /// The node.
  public let path: NodePath
  /// The property, or nil for the node itself.
  public let property: String?
  /// The value of the common past; nil for no node, no property, or no value of its own.
  public let base: Value?
  /// The database into which is merged.
  public let here: Side
  /// The database that is merged.
  public let there: Side
  /// The conflict, in words.
  public let reason: String

  package init(
    path: NodePath, property: String?, base: Value?, here: Side, there: Side, reason: String
  ) {
    self.path = path
    self.property = property
    self.base = base
    self.here = here
    self.there = there
    self.reason = reason
  }
}
