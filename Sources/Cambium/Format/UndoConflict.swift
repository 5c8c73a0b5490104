/// A place that is no longer as the transactions left it that are to be undone.
public struct UndoConflict: Hashable, Sendable {
  /// The node.
  public let path: Path
  /// The property, or nil for the node itself.
  public let property: String?
  /// The value that the transactions left there; nil for nothing, or for no value of its own.
  public let left: Value?
  /// The value that is there now; nil for nothing, or for no value of its own.
  public let found: Value?
  /// The transaction that last changed the node's own value; nil where there is no node, or another
  /// one is in the way.
  public let changedBy: SequenceNumber?
  /// The obstacle, in words.
  public let reason: String
}
