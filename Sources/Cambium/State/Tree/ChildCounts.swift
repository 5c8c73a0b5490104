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

  /// Returns all changes, and removes them here.
  mutating func take() -> [UInt64: Int64] {
    settle(0)
    defer { changes.removeAll(keepingCapacity: true) }
    return changes
  }
}
