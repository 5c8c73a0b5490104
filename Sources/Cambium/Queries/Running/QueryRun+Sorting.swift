// Results in an order that no index has. Each is kept with what is joined to it.

import LMDB

extension QueryRun {
  /// Hands out what the conditions accept, sorted.
  func sorting(
    _ order: QueryOrder, _ hand: (RawSpan, RawSpan) throws -> Bool
  ) throws {
    let sorted = try parts?.sorted ?? sorted(order)
    parts?.sorted = sorted
    let isJoined = !plan.joins.isEmpty
    try sorted.forEach { place, key, bytes in
      let own = isJoined ? try records.join(from: bytes) : 0..<bytes.byteCount
      let goesOn = try hand(key, bytes.extracting(own))
      if !goesOn {
        let count = place.byteCount - key.byteCount - records.joinedKeys.joinedPlace.count
        end = ended(at: key, place.extracting(0..<count).array())
      }
      return goesOn
    }
  }

  private func sorted(_ order: QueryOrder) throws -> SortedResults {
    var sorting = QuerySorting(top: plan.topCount)
    var place = ByteBuffer()
    let after = plan.description.after.map { $0.place + $0.joined.joinedPlace }
    let isJoined = !plan.joins.isEmpty
    try forEachAccepted { key, record in
      try order.write(record, key: key, records, to: &place)
      // All records that are joined to a record have its place; their keys distinguish them.
      if isJoined { records.joinedKeys.joinedPlace.lend { place.append($0) } }
      try place.lend { place in
        if let after, after.lend({ !$0.precedes(place) }) { return }
        if sorting.isBehind(place) { return }
        if !isJoined {
          if let filter, try !filter(key, record) { return }
          return try sorting.add(place, key, record)
        }
        try records.joinedBytes(of: record).lend { try sorting.add(place, key, $0) }
      }
      return true
    }
    return try sorting.sorted()
  }
}

extension [[UInt8]] {
  /// The keys of joined records as bytes that come in their order, behind the record's own key.
  ///
  /// Each follows a zero byte. That puts a text, which holds none, before any longer one; keys of
  /// other kinds with one beginning are of one length; and where there is no record it comes first.
  var joinedPlace: [UInt8] {
    reduce(into: []) { bytes, key in
      bytes.append(0)
      bytes += key
    }
  }
}

extension QueryRecords {
  /// A record and those that are joined to it: each with its length before it; before the others
  /// also their key with its length, which is 0 where there is none.
  fileprivate func joinedBytes(of record: RawSpan) -> [UInt8] {
    var bytes = [UInt8](littleEndian: UInt32(record.byteCount))
    bytes.append(record)
    for other in joined {
      bytes.append(littleEndian: UInt16(other?.key.count ?? 0))
      guard let other else { continue }
      bytes += other.key
      bytes.append(littleEndian: UInt32(other.record.count))
      bytes += other.record
    }
    return bytes
  }

  /// Joins the others again.
  ///
  /// - Returns: The range of the record itself.
  fileprivate func join(from bytes: RawSpan) throws -> Range<Int> {
    let count = Int(try bytes.load(UInt32.self, at: 0))
    try bytes.check(4, count)
    var offset = 4 + count
    for index in joined.indices {
      let keyCount = Int(try bytes.load(UInt16.self, at: offset))
      offset += 2
      joined[index] = nil
      if keyCount == 0 { continue }
      let key = try bytes.array(offset, keyCount)
      offset += keyCount
      let recordCount = Int(try bytes.load(UInt32.self, at: offset))
      joined[index] = (key, try bytes.array(offset + 4, recordCount))
      offset += 4 + recordCount
    }
    return 4..<(4 + count)
  }
}
