/// Keys in their stored form, ascending and each once. A step has few, for which a search among
/// sorted ones takes less than hashing them.
struct SortedKeys: Sendable {
  let keys: [[UInt8]]

  init(_ keys: some Sequence<[UInt8]>) {
    var sorted = Array(keys)
    if sorted.count > 1 {
      sorted.sort { $0.precedes($1) }
      var last: [UInt8]?
      sorted.removeAll { key in
        defer { last = key }
        return key == last
      }
    }
    self.keys = sorted
  }

  var isEmpty: Bool { keys.isEmpty }

  func contains(_ key: [UInt8]) -> Bool {
    let position = keys.partitionPoint { $0.precedes(key) }
    return position < keys.count && keys[position] == key
  }
}

/// The changes of one collection's records, by their keys.
struct ChangesByKey: Sendable {
  /// Ascending by key, one for each record.
  private let changes: [NetChange]

  /// Takes those of a collection out of a step's net changes.
  init(_ changes: [NetChange], of collection: NodePath) {
    var own = changes.filter { $0.collection == collection }
    if own.count > 1 { own.sort { $0.key.precedes($1.key) } }
    self.changes = own
  }

  subscript(key: [UInt8]) -> NetChange? {
    let position = changes.partitionPoint { $0.key.precedes(key) }
    return position < changes.count && changes[position].key == key ? changes[position] : nil
  }
}
