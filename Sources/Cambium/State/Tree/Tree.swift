/// Applies operations to nodes, their versions and their history, and yields the changes.
///
///     operation ──▶ find the node ──▶ check ──▶ change yielded ──▶ written ──▶ yielded
///                                     (refused: nothing changed)
///
/// It knows no index, no view and no declared rule: they belong to the taker of the changes. Nor
/// does it know its storage; its host is both.
///
/// Invariants:
/// 1. Each operation checks before it writes, so one that throws a ``DatabaseError`` for bad input
///    has changed nothing.
/// 2. A node has at most one version per transaction: a second change replaces the first.
/// 3. Node ids are assigned in order and never reused.
struct Tree<Host: TreeStorage & ChangeTaker & ~Copyable>: ~Copyable {
  /// The values that are restored when a savepoint is rolled back.
  struct Memory {
    /// The next node id.
    var nextNode: UInt64
    /// The transaction whose operations are applied.
    var sequence: UInt64 = 0
    /// The first node id that this transaction may assign: it has created the nodes from there on.
    var firstNode = UInt64.max
    /// The places that this transaction has restored.
    var restored = RestoredPlaces()
    /// The number of versions that this transaction has put into history.
    var superseded: UInt32 = 0
    /// Changes of child counts that are not stored yet.
    var counts = ChildCounts()
    /// The parent that was resolved last: its path's bytes, and its node id.
    var parent: (path: [UInt8], node: UInt64)?
  }

  var memory: Memory
  /// False while a logged operation is applied again: it is applied as it was then.
  var isEnforcing = false

  // Reused for each operation.
  var place = TreePlace()
  /// The bytes that are being made: a version, an entry of history, or the key of a removal.
  var value = ByteBuffer()

  init(nextNode: UInt64) { memory = Memory(nextNode: nextNode) }

  /// Starts a transaction.
  mutating func begin(_ sequence: SequenceNumber) {
    memory.sequence = sequence.rawValue
    memory.firstNode = memory.nextNode
    memory.superseded = 0
    memory.restored = RestoredPlaces()
  }
}
