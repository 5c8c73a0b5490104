// Scans: the records that lie side by side in the tree, batch by batch, or as of a moment one by
// one.

import LMDB

extension CandidateReader {
  func scan(_ node: UInt64, _ visit: Visit) throws {
    let isTested = access.program == nil
    if records.snapshot.moment != nil { return try scanPast(node, isTested, visit) }
    try forEachBatch(below: node) { batch in
      for index in 0..<batch.count {
        let goesOn = try batch.lend(index) { try visit($0, $1, isTested) }
        if !goesOn { return index }
      }
      return nil
    }
  }

  private func scanPast(_ node: UInt64, _ isTested: Bool, _ visit: Visit) throws {
    guard let (keys, isReversed) = access.path.scanned else { return }
    let range = keys.behind(after, isReversed: isReversed)
    var walk = try records.snapshot.walk(
      node, from: try after?.key.lend { try Key($0) }, isReversed: isReversed)
    try walk.forEach { treeKey, header, version in
      let key = treeKey.extracting(droppingFirst: 8)
      guard range.contains(key) else { return true }
      try work.count(records: 1)
      guard header.kind == .record else { return true }
      return try visit(key, version.extracting(droppingFirst: header.contentOffset), isTested)
    }
  }

  /// Takes keys and records. Returns the index of the one at which the visitor ends the walk, or
  /// nil.
  typealias VisitBatch = (_ batch: inout EntryBatch) throws -> Int?

  /// Visits the records of a scan of the present, batch by batch. They were not tested.
  func forEachBatch(in collection: NodePath, _ visit: VisitBatch) throws {
    guard let node = try records.node(collection) else { return }
    try forEachBatch(below: node, visit)
  }

  private func forEachBatch(below node: UInt64, _ visit: VisitBatch) throws {
    guard let (keys, isReversed) = access.path.scanned else { return }
    let bounds = keys.behind(after, isReversed: isReversed).below(node)
    var cursor = try Cursor(records.reader.access, records.reader.tables.tree)
    guard try cursor.seek(to: bounds, isReversed: isReversed) else { return }
    try cursor.walkBatches(isReversed: isReversed) { batch in
      let (inside, isLast) = CandidateReader.keepRecords(of: &batch, bounds, isReversed)
      try work.count(records: inside)
      if let end = try visit(&batch) {
        work.uncount(records: inside - batch.place(end) - 1)
        return false
      }
      try batch.throwFailure()
      return !isLast
    }
  }

  /// Checks entries of the tree; keeps those that are records within bounds, and of each its own
  /// key and content.
  ///
  /// - Returns: The number of entries within bounds, and true if the walk ends behind them.
  private static func keepRecords(
    of batch: inout EntryBatch, _ bounds: ClosedOpenBytes, _ isReversed: Bool
  ) -> (inside: Int, isLast: Bool) {
    func isOutside(_ index: Int) -> Bool {
      batch.lend(index) { key, _ in bounds.ends(before: key, isReversed: isReversed) }
    }
    let count = batch.count
    let isLast = isOutside(count - 1)
    let inside = isLast ? (0..<count).first(where: isOutside) ?? count : count
    var place = -1
    batch.keep { treeKey, version in
      place += 1
      // The entry at which the walk ends is checked as well: see ``ChildWalk/checkEnd(_:_:)``.
      if place > inside { return nil }
      let header = try NodeHeader(version, key: treeKey)
      guard header.kind == .record, place < inside else { return nil }
      return (8, header.contentOffset)
    }
    return (inside, isLast)
  }
}
