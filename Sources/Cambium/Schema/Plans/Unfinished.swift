// Indexes and views whose entries are not complete yet, or not all removed, so that no writer has
// to wait until they are. The log has no record of that: it concerns only how the state is derived.
//
//     index       sorted entries of a snapshot ──▶ appended in steps ─────▶ complete
//     view        records in key order ──────────▶ folded in, in steps ───▶ complete
//     dropped     entries ───────────────────────▶ removed in steps ──────▶ gone
//
// The fence marks the progress of the work. A view's fence is the last record that was folded in:
// writers fold in their changes up to it, and leave the rest to the backfill.
//
// An index's fence is the last entry that was filled in. Up to it the index is as if it were
// complete. After it there is only what writers have changed since the declaration: entries they
// have put, and a tombstone for each that they have removed. Filling in an entry of the snapshot
// leaves existing entries alone, and removes a tombstone together with the entry that it
// represents. That is correct for a snapshot of any moment after the declaration, so any process
// can interrupt and restart it. (Tombstones have the role of the list of later changes in Mohan and
// Narang, "Algorithms for Creating Indexes for Very Large Tables Without Quiescing Updates", 1992.)
//
// In the table `meta`, for each of them:
//
//     unfinished/<number u32, big-endian>  →  1 | fence    or    2, if it was dropped

import LMDB

/// The remaining work on the entries of an index or a view.
enum Unfinished: Equatable, Sendable {
  /// The entries are incomplete. For an index, all after the key are missing; the key is the
  /// index's prefix while all are. For a view, those of the records after the key; empty while all
  /// are.
  case filling(upTo: [UInt8])
  /// No declaration includes it any more.
  case emptying

  static let prefix = Array("unfinished/".utf8)

  static func key(_ number: UInt32) -> [UInt8] {
    var key = prefix
    key.append(bigEndian: number)
    return key
  }

  init(_ bytes: RawSpan) throws {
    switch try bytes.load(UInt8.self, at: 0) {
    case 1: self = .filling(upTo: bytes.extracting(droppingFirst: 1).array())
    case 2: self = .emptying
    case let other:
      throw DatabaseError.corrupt(reason: "\(other) is no way in which an index is unfinished")
    }
  }

  func stored() -> [UInt8] {
    switch self {
    case .filling(upTo: let fence): [1] + fence
    case .emptying: [2]
    }
  }

  /// True if a key is beyond the fence.
  func isAhead(of key: RawSpan) -> Bool {
    switch self {
    case .filling(upTo: let fence): fence.lend { $0.precedes(key) }
    case .emptying: true
    }
  }
}

extension Collections {
  /// True if a declared index or view is still being built, so that it cannot be queried.
  func isFilling(_ number: UInt32) -> Bool { !unfinished.isEmpty && unfinished[number] != nil }

  /// True if the entry or the record with a key is beyond the fence of an index or a view.
  @inline(__always)
  func isAhead(_ number: UInt32, of key: RawSpan) -> Bool {
    remainingWork(on: number)?.isAhead(of: key) ?? false
  }

  /// The remaining work on an index or a view; nil if it is complete.
  @inline(__always)
  func remainingWork(on number: UInt32) -> Unfinished? {
    unfinished.isEmpty ? nil : unfinished[number]
  }

  /// The indexes that can be queried.
  func indexes(of plan: CollectionPlan) -> [IndexPlan] {
    unfinished.isEmpty ? plan.indexes : plan.indexes.filter { !isFilling($0.number) }
  }

  /// The index through which the records that refer to others by a property are found, if it can be
  /// queried.
  func edge(_ collection: NodePath, _ property: NameID) -> IndexPlan? {
    self[collection]?.edge(property).flatMap { isFilling($0.number) ? nil : $0 }
  }
}
