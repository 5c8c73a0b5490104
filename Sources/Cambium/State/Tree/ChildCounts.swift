/// Changes of child counts, with the last parent cached: most consecutive changes are under one.
struct ChildCounts {
  private var changes: [UInt64: Int64] = [:]
  private var last: (node: UInt64, change: Int64) = (0, 0)

  subscript(node: UInt64) -> Int64 {
    (changes[node] ?? 0) + (node == last.node ? last.change : 0)
  }

  @inline(__always)
  mutating func add(_ change: Int64, to node: UInt64) {
    if node != last.node { settle(node) }
    last.change += change
  }

  private mutating func settle(_ node: UInt64) {
    if last.change != 0 { changes[last.node, default: 0] += last.change }
    last = (node, 0)
  }

  /// Passes on the changes of all nodes that have more or fewer children, and removes them here.
  mutating func take(_ body: (UInt64, Int64) throws -> Void) rethrows {
    // Often there is only one parent.
    if !changes.isEmpty { settle(0) }
    let (one, others) = (last, changes)
    (last, changes) = ((0, 0), [:])
    if one.change != 0 { try body(one.node, one.change) }
    for (node, change) in others where change != 0 { try body(node, change) }
  }
}
