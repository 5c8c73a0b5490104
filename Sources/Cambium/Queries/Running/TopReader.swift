// Reading a top view: a walk over a group's entries.
//
// Entries whose order or record's key was cut are ordered by what is left of them, so those that
// agree in that are sorted here.

import LMDB

/// Reads a top view at present, or in an open transaction.
struct TopReader {
  let number: UInt32
  let plan: TopPlan
  let reader: StateReader

  /// Visits the keys of a group's records in order, as long as the visitor wants more.
  ///
  /// - Complexity: O(log n) to begin; O(1) for each record.
  func forEach(at place: GroupPlace, _ visit: (_ key: RawSpan) throws -> Bool) throws {
    let start = TopPlan.start(number, place)
    var cursor = try Cursor(reader.access, reader.tables.views)
    var isThere = try cursor.seek(prefix: start)
    while isThere {
      let isCut = try cursor.withEntry { _, value in try value.load(UInt8.self, at: 0) == 1 }
      if isCut {
        for record in try run(&cursor, start.count, &isThere) {
          if try !record.lend(visit) { return }
        }
      } else {
        let wantsMore = try cursor.withEntry { try visit($1.extracting(droppingFirst: 1)) }
        isThere = try wantsMore && cursor.next()
      }
      isThere = isThere && cursor.isAt(prefix: start)
    }
  }

  /// The records of entries that agree in what is left of their keys, in order.
  private func run(
    _ cursor: inout Cursor, _ startCount: Int, _ isThere: inout Bool
  ) throws -> [[UInt8]] {
    let shared = try cursor.withEntry { key, value in
      let order = try TopEntry.read(value).order ?? []
      let shown = ViewKey.shown(of: order, room: ViewKey.orderRoom)
      let count =
        shown.count < order.count ? startCount + shown.count : key.byteCount - ViewKey.digestBytes
      return try key.array(0, count)
    }
    var entries: [(order: [UInt8], record: [UInt8])] = []
    repeat {
      let (order, record) = try cursor.withEntry { _, value in try TopEntry.read(value) }
      entries.append((order ?? [], record))
      isThere = try cursor.next()
    } while isThere && cursor.isAt(prefix: shared)
    entries.sort { a, b in
      a.order == b.order
        ? a.record.lexicographicallyPrecedes(b.record) : a.order.lexicographicallyPrecedes(b.order)
    }
    return entries.map(\.record)
  }
}
