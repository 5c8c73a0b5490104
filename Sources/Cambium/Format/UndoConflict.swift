/// A place that has changed since the transactions to be undone.
public struct UndoConflict: Hashable, Sendable {
  /// The node.
  public let path: NodePath
  /// The property, or nil for the node itself.
  public let property: String?
  /// The value that the transactions left; nil for no node, or no value of its own.
  public let left: Value?
  /// The present value; nil for no node, or no value of its own.
  public let found: Value?
  /// The transaction that last changed the node's own value; nil if there is no node, or another
  /// one is in the way.
  public let changedBy: SequenceNumber?
  /// The obstacle, in words.
  public let reason: String
}
