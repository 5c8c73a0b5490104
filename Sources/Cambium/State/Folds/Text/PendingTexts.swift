// Changes of text views that the tables do not have yet.
//
//     record ──▶ terms before and after ──▶ changes of lists ──by list and record──▶ blocks
//
// A list is that of a term's records, or that of all records with words. A block has postings of
// many records, so those of a transaction are put into it together. Whoever reads a view, begins a
// savepoint or ends the transaction has them written first. (As the in-memory hash of SQLite's
// FTS5, and of every search engine that writes in batches.)

import LMDB

/// Collects changes of postings, and writes them, sorted.
struct PendingTexts {
  /// A change of one list: what the record's posting is from now on.
  private struct Change {
    let list: UInt32
    let place: UInt32
    let payloadStart: UInt32
    /// The size of the payload; -1 for a removal.
    let payloadCount: Int32
  }

  /// The memory with which they are written: a few thousand texts.
  private static let bytesMax = 8 << 20

  /// The bytes that the keys of each list's blocks begin with.
  private var lists = TermTable()
  private var changes: [Change] = []
  private var places: [Range<Int>] = []
  private var placeBytes: [UInt8] = []
  private var payloads: [UInt8] = []
  private var totals: [UInt32: TextTotals.Change] = [:]
  /// True if a block may be made or taken away that is not the first of its list.
  private var changesBlocks = false
  /// The error with which writing has failed: the tables have a part of it only.
  private(set) var failure: (any Error)?
  private var scratch: (key: [UInt8], old: [UInt8], new: [UInt8]) = ([], [], [])

  /// True if the tables have everything.
  var isEmpty: Bool { changes.isEmpty && totals.isEmpty }

  /// True if there is so much that it should be written.
  var isFull: Bool {
    payloads.count + placeBytes.count + lists.bytesCount
      + changes.count * MemoryLayout<Change>.size > PendingTexts.bytesMax
  }

  // MARK: Collecting

  /// Adds the change of a record's terms.
  mutating func add(
    _ number: UInt32, key: RawSpan, from before: RecordTerms, to after: RecordTerms
  ) {
    let place = addPlace(key)
    for term in 0..<before.count {
      before.lend(term) { bytes in
        if after.number(of: bytes) == nil { addRemoval(list(of: bytes, number), place) }
      }
    }
    for term in 0..<after.count {
      scratch.new.removeAll(keepingCapacity: true)
      after.appendPlaces(of: term, to: &scratch.new)
      after.lend(term) { bytes in
        if let old = before.number(of: bytes) {
          scratch.old.removeAll(keepingCapacity: true)
          before.appendPlaces(of: old, to: &scratch.old)
          if scratch.old == scratch.new { return }
        }
        addPayload(scratch.new, to: list(of: bytes, number), place)
      }
    }
    addLengths(number, key: key, from: before, to: after, place)
    totals[number, default: TextTotals.Change(after.lengths.count)].add(from: before, to: after)
  }

  /// Changes the record's posting in the list of all records.
  private mutating func addLengths(
    _ number: UInt32, key: RawSpan, from before: RecordTerms, to after: RecordTerms, _ place: Int
  ) {
    // One of them has words.
    if before.isEmpty == after.isEmpty && before.lengths == after.lengths { return }
    let list = TextEntry.recordsStart(number).lend { lists.number(of: $0) }
    if after.isEmpty { return addRemoval(list, place) }
    let isCut = places[place].count == ViewKey.termRecordRoom
    addPayload(TextEntry.stored(after.lengths, isCut ? key : nil), to: list, place)
  }

  private mutating func addPlace(_ key: RawSpan) -> Int {
    let start = placeBytes.count
    ViewKey.append(key, room: ViewKey.termRecordRoom, to: &placeBytes)
    places.append(start..<placeBytes.count)
    if !changesBlocks {
      changesBlocks = placeBytes.lend {
        PostingBlock.begins(at: $0.extracting(start..<$0.byteCount))
      }
    }
    return places.count - 1
  }

  private mutating func list(of term: RawSpan, _ number: UInt32) -> Int {
    scratch.key.removeAll(keepingCapacity: true)
    TextEntry.appendTermKey(number, term, to: &scratch.key)
    return scratch.key.lend { lists.number(of: $0) }
  }

  private mutating func addRemoval(_ list: Int, _ place: Int) {
    changes.append(
      Change(list: UInt32(list), place: UInt32(place), payloadStart: 0, payloadCount: -1))
  }

  private mutating func addPayload(_ payload: [UInt8], to list: Int, _ place: Int) {
    changes.append(
      Change(
        list: UInt32(list), place: UInt32(place), payloadStart: UInt32(payloads.count),
        payloadCount: Int32(payload.count)))
    payloads += payload
  }

  // MARK: Writing

  /// Writes everything to the tables.
  ///
  /// - Throws: ``StorageError``, and ``DatabaseError/corrupt(reason:)``; so does each call after
  ///   that, since the transaction can only be rolled back then.
  mutating func write(to storage: borrowing StateTransaction) throws {
    if let failure { throw failure }
    if isEmpty { return }
    do { try writeAll(to: storage) } catch {
      failure = error
      throw error
    }
    removeAll()
  }

  private func writeAll(to storage: borrowing StateTransaction) throws {
    // A block that the file does not have could not be found later.
    if changesBlocks { try storage.writeDirectly() }
    let (grouped, starts) = changesByList()
    var merge = PostingMerge(PostingChanges(places: placeBytes, payloads: payloads))
    for list in lists.sorted {
      merge.changes.removeAll()
      addLatest(grouped[starts[list]..<starts[list + 1]], to: &merge.changes)
      try lists.lend(list) { try merge.run($0, in: storage) }
    }
    for (number, change) in totals { try change.make(number, in: storage) }
  }

  /// Forgets everything.
  private mutating func removeAll() {
    lists.removeAll()
    changes.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
    placeBytes.removeAll(keepingCapacity: true)
    payloads.removeAll(keepingCapacity: true)
    totals.removeAll(keepingCapacity: true)
    changesBlocks = false
  }

  /// The changes by list, each list's in their order, and where those of each list begin.
  private func changesByList() -> (changes: [Change], starts: [Int]) {
    var starts = [Int](repeating: 0, count: lists.count + 1)
    for change in changes { starts[Int(change.list) + 1] += 1 }
    for list in 0..<lists.count { starts[list + 1] += starts[list] }
    var (grouped, next) = (changes, starts)
    for change in changes {
      grouped[next[Int(change.list)]] = change
      next[Int(change.list)] += 1
    }
    return (grouped, starts)
  }

  /// Adds the last change of each record among those of one list, in the order of the records.
  private func addLatest(_ changes: ArraySlice<Change>, to latest: inout PostingChanges) {
    for index in changes.indices.dropLast()
    where order(changes[index], changes[index + 1]) >= 0 {
      // The changes of one record keep their order, which is that of their places.
      let sorted = changes.sorted {
        let order = order($0, $1)
        return order != 0 ? order < 0 : $0.place < $1.place
      }
      for (index, change) in sorted.enumerated()
      where index + 1 == sorted.count || order(change, sorted[index + 1]) < 0 {
        add(change, to: &latest)
      }
      return
    }
    for change in changes { add(change, to: &latest) }
  }

  private func add(_ change: Change, to latest: inout PostingChanges) {
    let start = Int(change.payloadStart)
    let payload = start..<(start + max(Int(change.payloadCount), 0))
    latest.append(places[Int(change.place)], change.payloadCount < 0 ? nil : payload)
  }

  /// The order of two changes' records.
  private func order(_ one: Change, _ other: Change) -> Int {
    placeBytes.lend { bytes in
      Int(
        bytes.extracting(places[Int(one.place)])
          .compare(bytes.extracting(places[Int(other.place)])))
    }
  }
}
