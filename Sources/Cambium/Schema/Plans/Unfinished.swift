// Indexes and views whose entries are not all there yet, or not all gone, so that no writer had to
// wait until they are. The log knows nothing of that: it is about how the state gets there.
//
//     index       sorted entries of a snapshot ──▶ appended in steps ─────▶ whole
//     view        records in key order ──────────▶ folded in, in steps ───▶ whole
//     given up    entries ───────────────────────▶ removed in steps ──────▶ gone
//
// The fence says how far the work has come. A view's fence is the last record that was folded in:
// writers fold in what they change up to it, and leave the rest to the filling.
//
// An index's fence is the last entry that was filled in. Up to it the index is as if it were whole.
// Behind it stands only what writers have changed since the declaration: entries they have put, and
// a tombstone for each they have removed. Filling in an entry of the snapshot leaves alone what is
// there, and takes a tombstone away with the entry it stands for. That is right whichever moment
// after the declaration the snapshot is of, so it can be broken off and begun again by any process.
// (Tombstones do here what a list of later changes does in Mohan and Narang, "Algorithms for
// Creating Indexes for Very Large Tables Without Quiescing Updates", 1992.)
//
// In the table `meta`, for each of them:
//
//     unfinished/<number u32, big-endian>  →  1 | fence    or    2, where it is given up

import LMDB

/// The work that is still to be done on the entries of an index or a view.
enum Unfinished: Equatable, Sendable {
  /// It has not all of them. For an index: those behind a key are missing; the key is the index's
  /// prefix while all are. For a view: those of the records behind a key; empty while all are.
  case filling(upTo: [UInt8])
  /// No declaration has it any more.
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

  /// True if a key is behind the fence.
  func isAhead(of key: RawSpan) -> Bool {
    switch self {
    case .filling(upTo: let fence): fence.lend { $0.precedes(key) }
    case .emptying: true
    }
  }
}

extension Collections {
  /// True if a declared index or view does not have all of its entries yet, so that it cannot be
  /// queried.
  func isFilling(_ number: UInt32) -> Bool { !unfinished.isEmpty && unfinished[number] != nil }

  /// True if the entry or the record with a key is behind the fence of an index or a view.
  @inline(__always)
  func isAhead(_ number: UInt32, of key: RawSpan) -> Bool {
    !unfinished.isEmpty && unfinished[number]?.isAhead(of: key) ?? false
  }

  /// The indexes that can be asked.
  func indexes(of plan: CollectionPlan) -> [IndexPlan] {
    unfinished.isEmpty ? plan.indexes : plan.indexes.filter { !isFilling($0.number) }
  }

  /// The index by which records are found that refer to others by a property, if it can be asked.
  func edge(_ collection: Path, _ property: NameID) -> IndexPlan? {
    self[collection]?.edge(property).flatMap { isFilling($0.number) ? nil : $0 }
  }
}
