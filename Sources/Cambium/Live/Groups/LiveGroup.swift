/// A group of rows that come and go, or a distinct value.
struct LiveGroup: Sendable {
  /// The number by which its entries are known.
  let number: UInt64
  /// The ordered bytes of its values, where it is not known by them as a whole.
  private(set) var order: [UInt8] = []
  private(set) var count = 0
  /// The values as they are shown; of distinct ones none, since they are shown as their first row
  /// has them.
  private(set) var values: [Value] = []
  private(set) var aggregates: [LiveAggregate]

  init(number: UInt64, _ aggregates: [LiveAggregate]) {
    (self.number, self.aggregates) = (number, aggregates)
  }

  /// The first bytes of the keys of an aggregate's values.
  private func prefix(of aggregate: Int) -> [UInt8] { KeptKey.values(of: number, aggregate) }

  /// Adds a row, or removes it.
  ///
  /// - Parameters:
  ///   - share: The share that the row has in the group.
  ///   - row: The row's identity.
  ///   - measures: The index among measured values of what each aggregate reads; nil for none.
  ///   - isRemoval: True to remove it.
  ///   - kept: The entries of the operator.
  /// - Throws: ``StorageError`` if a file cannot be written.
  mutating func change(
    _ share: GroupShare, of row: [UInt8], _ measures: [Int?], isRemoval: Bool,
    _ kept: OperatorEntries
  ) throws {
    try changeCount(isRemoval)
    if count == 1 && !isRemoval {
      values = share.values
      if share.group.count > GroupShare.wholeMax { order = share.group }
    }
    for (index, place) in measures.enumerated() {
      if let place {
        try aggregates[index].change(
          share.measured[place], of: row, isRemoval: isRemoval, kept, prefix(of: index))
      } else {
        aggregates[index].change(isRemoval: isRemoval)
      }
    }
  }

  private mutating func changeCount(_ isRemoval: Bool) throws {
    count += isRemoval ? -1 : 1
    if count < 0 {
      throw DatabaseError.corrupt(reason: "a record leaves a group that it was not in")
    }
  }

  /// Adds a row with a distinct value, or removes it.
  mutating func change(distinct share: GroupShare, isRemoval: Bool, _ kept: OperatorEntries) throws
  {
    try changeCount(isRemoval)
    var values: [UInt8] = []
    try values.append(parts: share.values)
    try kept.set(prefix(of: 0) + share.measured[0], to: isRemoval ? nil : values)
  }

  /// Replaces the measured values of a row that stays in the group as it is.
  mutating func update(
    _ old: GroupShare, to new: GroupShare, of row: [UInt8], _ measures: [Int?],
    _ kept: OperatorEntries
  ) throws {
    for (index, place) in measures.enumerated() {
      guard let place, old.measured[place] != new.measured[place] else { continue }
      let prefix = prefix(of: index)
      try aggregates[index].change(old.measured[place], of: row, isRemoval: true, kept, prefix)
      try aggregates[index].change(new.measured[place], of: row, isRemoval: false, kept, prefix)
    }
  }

  /// The group's values, and its aggregates.
  func result(_ kept: OperatorEntries) throws -> [Value] {
    try values
      + aggregates.enumerated().map { index, aggregate in
        try aggregate.result(kept, prefix(of: index))
      }
  }

  /// The distinct values as their first row in the order of the query has them, at its place; nil
  /// if there is none.
  func distinct(_ kept: OperatorEntries) throws -> ShownGroup? {
    let prefix = prefix(of: 0)
    return try kept.first(startingWith: prefix).map { key, values in
      var offset = 0
      return ShownGroup(
        place: Array(key.dropFirst(prefix.count)),
        values: try values.lend { try $0.values(at: &offset) })
    }
  }
}

// MARK: The kept form

extension LiveGroup {
  func kept() throws -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(varint: number)
    bytes.append(part: order)
    bytes.append(varint: UInt64(count))
    try bytes.append(parts: values)
    for aggregate in aggregates { aggregate.append(to: &bytes) }
    return bytes
  }

  init(kept bytes: [UInt8], _ empty: [LiveAggregate]) throws {
    self = try bytes.lend { bytes in
      var offset = 0
      var group = LiveGroup(number: try bytes.varint(at: &offset), empty)
      group.order = try bytes.partArray(at: &offset)
      group.count = Int(try bytes.varint(at: &offset))
      group.values = try bytes.values(at: &offset)
      for index in empty.indices { try group.aggregates[index].read(bytes, at: &offset) }
      return group
    }
  }
}

/// A group as it is shown, at the place by which it is ordered among others.
struct ShownGroup: Equatable, Sendable {
  /// The bytes that order it, which no other has.
  let place: [UInt8]
  let values: [Value]
}

extension ShownGroup {
  func kept() throws -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(part: place)
    try bytes.append(parts: values)
    return bytes
  }

  init(kept bytes: [UInt8]) throws {
    self = try bytes.lend { bytes in
      var offset = 0
      let place = try bytes.partArray(at: &offset)
      return ShownGroup(place: place, values: try bytes.values(at: &offset))
    }
  }
}
