// Computes what a view would say of records that it does not hold: those of a past moment. All of
// them are looked at once; memory grows with the groups, or with what is asked for.

/// Visits records with their keys.
typealias RecordWalk = (_ visit: (_ key: RawSpan, _ record: RawSpan) throws -> Void) throws -> Void

extension ViewPlan {
  /// Only the records that count.
  func counted(_ records: @escaping RecordWalk) -> RecordWalk {
    { visit in
      try records { key, record in if try self.has(record, key: key) { try visit(key, record) } }
    }
  }
}

extension GroupsPlan {
  fileprivate struct Found {
    var entry: GroupEntry
    var extremes: [(least: OrderedValue, greatest: OrderedValue)?]
  }

  /// All groups of some records, in order.
  ///
  /// - Complexity: O(records · log groups); memory for each group.
  func groups(of records: RecordWalk) throws -> [ViewGroup] {
    var groups: [[UInt8]: Found] = [:]
    try records { _, record in
      let place = try GroupPlace(by, record)
      if groups[place.order] == nil {
        let entry = GroupEntry(self, values: try GroupPlace.values(by, record))
        groups[place.order] = Found(
          entry: entry, extremes: Array(repeating: nil, count: extremes.count))
      }
      try groups[place.order]?.entry.change(self, record, isRemoval: false)
      for index in extremes.indices {
        guard let value = try extreme(index, of: record) else { continue }
        groups[place.order]?.add(value, index)
      }
    }
    let sorted = groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    return try sorted.map { try group($0.value) }
  }

  private func group(_ found: Found) throws -> ViewGroup {
    func read(_ value: [UInt8]?) throws -> Value { try value?.lend { try Value($0) } ?? .null }
    let measures = try measures.map { measure -> Value in
      switch measure {
      case .minimum(let index): try read(found.extremes[index]?.least.value)
      case .maximum(let index): try read(found.extremes[index]?.greatest.value)
      default: found.entry.value(of: measure)
      }
    }
    return ViewGroup(values: try found.entry.values.map { try read($0) }, measures: measures)
  }
}

extension GroupsPlan.Found {
  fileprivate mutating func add(_ value: OrderedValue, _ index: Int) {
    guard let (least, greatest) = extremes[index] else {
      extremes[index] = (value, value)
      return
    }
    if value.order.lexicographicallyPrecedes(least.order) { extremes[index]?.least = value }
    if greatest.order.lexicographicallyPrecedes(value.order) { extremes[index]?.greatest = value }
  }
}

extension TopPlan {
  /// The keys of the first records of a group, in order.
  ///
  /// - Complexity: O(records · log limit) where few of them are the first so far; memory for twice
  ///   the limit.
  func first(_ limit: Int, in values: [Value], of records: RecordWalk) throws -> [[UInt8]] {
    let wanted = try GroupPlace(by, values: values)
    var found: [(order: [UInt8], key: [UInt8])] = []
    func cut() {
      found.sort { a, b in
        a.order == b.order
          ? a.key.lexicographicallyPrecedes(b.key) : a.order.lexicographicallyPrecedes(b.order)
      }
      if found.count > limit { found.removeSubrange(limit...) }
    }
    try records { key, record in
      guard try GroupPlace(by, record) == wanted else { return }
      found.append((try order(of: record), key.array()))
      if found.count >= max(limit.multipliedReportingOverflow(by: 2).partialValue, 1024) { cut() }
    }
    cut()
    return found.map(\.key)
  }
}

extension TextPlan {
  /// The records that fit a query best, the best first, as the view would rank them.
  ///
  /// - Complexity: O(words of all records); memory for what is found.
  func best(
    _ query: TextQueryPlan, limit: Int, of records: RecordWalk
  ) throws -> [TextHit] {
    let leaves = query.rankedLeaves
    var totals = TextTotals(self)
    var having = leaves.map { [UInt64](repeating: 0, count: $0.terms.count) }
    var found: [(key: [UInt8], counts: [Int], length: UInt64)] = []
    try records { key, record in
      let terms = try RecordTerms(self, record)
      if terms.isEmpty { return }
      totals.add(terms)
      for (index, leaf) in leaves.enumerated() {
        for place in leaf.terms.indices where terms.has(place, of: leaf) {
          having[index][place] += 1
        }
      }
      guard terms.matches(query) else { return }
      found.append((key.array(), leaves.map { terms.count(of: $0) }, terms.length))
    }
    let ranking = TextRanking(totals, having.map { $0.min() ?? 0 })
    let hits = found.map { item in
      TextHit(key: item.key, score: ranking.score(item.counts, length: item.length))
    }
    let sorted = hits.sorted { a, b in
      a.score == b.score ? a.key.lexicographicallyPrecedes(b.key) : a.score > b.score
    }
    return Array(sorted.prefix(max(limit, 0)))
  }
}
