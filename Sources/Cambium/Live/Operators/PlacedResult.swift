/// A row of a live query's result: a record, and those that are joined to it.
struct PlacedResult: Sendable {
  /// The bytes by which rows are ordered: of each ordering, then of the key, then of what is
  /// joined. No two rows have the same.
  let place: [UInt8]
  let identity: ResultIdentity
}

/// The records that a row is made of. A row keeps its identity wherever it moves.
struct ResultIdentity: Hashable, Sendable {
  /// The key of the record that is asked for, in its stored form: the root.
  let key: [UInt8]
  /// The keys of the records that are joined to it; an empty one where there is none.
  var joined: [[UInt8]] = []
}

extension ResultIdentity {
  /// The keys in one piece, in the order in which rows come that nothing orders.
  var bytes: [UInt8] { joined.isEmpty ? key : key + joined.joinedPlace }

  /// The order in which a run that is given some keys hands out rows.
  func precedes(_ other: ResultIdentity) -> Bool {
    if key != other.key { return key.lexicographicallyPrecedes(other.key) }
    return joined.lexicographicallyPrecedes(other.joined) { $0.lexicographicallyPrecedes($1) }
  }
}
