// Runs of children that came later, remembered so that the next walk in the past jumps over them.
//
// A walk in the past looks at each child of the present, and at each that was removed since. At an
// early moment most of them may not have come yet: a tree of a million children then costs a
// million looks for a page of fifty. So the walk notes, of a run of children that were not there,
// since when one of them was. That never changes: the past is fixed, and all that is still to come
// comes after every moment that can be asked for now. Only what was removed up to the horizon may
// be forgotten, so a note is of moments from the horizon on, as it was for the walk's view.
//
//     key     000 … 511   512 … 1023   1024 … 1535
//     absent  up to 812   up to 1324   up to 1841      a walk at 700 begins behind 1535
//
// It is a zone map (Moerkotte, "Small Materialized Aggregates", VLDB 1998), made by reading: no
// write pays for it, and nothing of it is stored.

import LMDB
import Synchronization

/// A range of a node's tree keys, and moments at which none of them held a node.
struct ArrivalZone: Equatable {
  /// The key in front of the range.
  let low: [UInt8]
  /// The last key of the range.
  let high: [UInt8]
  let moments: Range<UInt64>

  /// The memory that it takes: itself, and two arrays.
  fileprivate var byteCount: Int { 32 + 2 * 40 + low.count + high.count }
}

/// All zones of one generation of the state that readers have found. Any thread may use it.
final class ArrivalZones: Sendable {
  /// The memory that the zones may take.
  private static let bytesMax = 2 << 20

  private struct Known {
    /// Node id → its zones, disjoint and in the order of their keys.
    var zones: [UInt64: [ArrivalZone]] = [:]
    var byteCount = 0
  }

  private let known = Mutex(Known())

  /// The zones of a node, in the order of their keys.
  func zones(of node: UInt64) -> [ArrivalZone] {
    known.withLock { $0.zones[node] ?? [] }
  }

  /// Adds zones of a node, disjoint and in the order of their keys, in place of those that they
  /// overlap. Where there is no more room, all others are forgotten.
  func add(_ new: [ArrivalZone], to node: UInt64) {
    guard let low = new.first?.low, let high = new.last?.high else { return }
    known.withLock { known in
      var zones = known.zones.removeValue(forKey: node) ?? []
      let start = zones.partitionPoint { !low.lexicographicallyPrecedes($0.high) }
      let end = zones.partitionPoint { $0.low.lexicographicallyPrecedes(high) }
      known.byteCount += ArrivalZones.byteCount(new)
      known.byteCount -= ArrivalZones.byteCount(zones[start..<end])
      zones.replaceSubrange(start..<end, with: new)
      if known.byteCount > ArrivalZones.bytesMax {
        known = Known()
        zones = new
        known.byteCount = ArrivalZones.byteCount(new)
      }
      known.zones[node] = zones
    }
  }

  private static func byteCount(_ zones: some Collection<ArrivalZone>) -> Int {
    zones.reduce(0) { $0 + $1.byteCount }
  }
}

/// The zones of a state, and the moments for which one view of it may add to them.
struct ViewedZones {
  let zones: ArrivalZones
  /// The horizon, read after the view was taken: nodes that were removed later are all seen.
  let horizon: UInt64
}

/// The children that one walk in the past has passed since the last one that was there.
///
/// The walk asks only now and then where it is, so that it costs little where the children that
/// came later are few.
struct LateRun {
  /// The number of children between two looks at the walk's place.
  private static let stride = 16
  /// The number of children after which a zone ends, so that a later walk has much to jump over
  /// even where one of them is there.
  private static let zoneMax = 512
  /// The number of children for which a zone is worth its memory.
  private static let zoneMin = 64
  /// The number of zones that are added together.
  private static let batch = 64

  private let all: ArrivalZones
  private let horizon: UInt64
  private let node: UInt64
  private let moment: UInt64
  private let isReversed: Bool
  /// The zones of the node that were known when the walk first asked.
  private var known: [ArrivalZone]?
  /// New zones, in the order of the walk.
  private var found: [ArrivalZone] = []
  private var count = 0
  /// The key in front of the zone that is being made, and the last one within; nil before the
  /// first look.
  private var (first, last): ([UInt8]?, [UInt8]?)
  /// The moments at which none of the zone's children was there.
  private var moments = Absence()
  /// The same of the child that was passed last.
  private var here = Absence()

  private struct Absence {
    var since: UInt64 = 0
    var until = UInt64.max
  }

  init(_ viewed: ViewedZones, node: UInt64, moment: UInt64, isReversed: Bool) {
    (all, horizon) = (viewed.zones, viewed.horizon)
    (self.node, self.moment, self.isReversed) = (node, moment, isReversed)
  }

  /// Notes a child that was not there at the walk's moment.
  ///
  /// - Parameters:
  ///   - arrival: The transaction that put the next node there; nil where none has yet.
  ///   - wasThere: True if there may have been one before.
  /// - Returns: True if the walk should ask for a jump.
  @inline(__always)
  mutating func pass(arrival: UInt64?, wasThere: Bool) -> Bool {
    count += 1
    // A node may still come to a place that was left for good.
    here = Absence(since: wasThere ? moment : horizon, until: arrival ?? moment + 1)
    moments.since = max(moments.since, here.since)
    moments.until = min(moments.until, here.until)
    return count % LateRun.stride == 0
  }

  /// Ends the run at a child that was there, or at the walk's end.
  @inline(__always)
  mutating func end() {
    if count > 0 || first != nil { close() }
  }

  private mutating func close() {
    if let last, count >= LateRun.zoneMin { makeZone(to: last) }
    add()
    restart(from: nil)
  }

  /// Looks whether the walk may jump.
  ///
  /// - Parameter key: The tree key of the child that was passed last.
  /// - Returns: The key up to which, inclusive forward and exclusive backward, nothing was there;
  ///   nil where the walk must go on as before.
  mutating func jump(from key: [UInt8]) -> [UInt8]? {
    if known == nil { known = all.zones(of: node) }
    if let (near, far) = knownEnds(around: key) {
      // The new zone ends where the known one begins.
      last = first.flatMap { isBefore($0, near) ? near : nil }
      close()
      restart(from: far)
      return far
    }
    last = key
    if first == nil {
      first = key
    } else if count >= LateRun.zoneMax {
      makeZone(to: key)
      restart(from: key)
      // Backward, the key that ends one zone is the first of the next.
      if isReversed { moments = here }
      if found.count == LateRun.batch { add() }
    }
    return nil
  }

  private mutating func makeZone(to key: [UInt8]) {
    guard let first, first != key, moments.since < moments.until else { return }
    let (low, high) = isReversed ? (key, first) : (first, key)
    let range = moments.since..<moments.until
    found.append(ArrivalZone(low: low, high: high, moments: range))
  }

  private mutating func restart(from key: [UInt8]?) {
    (first, last, count, moments) = (key, nil, 0, Absence())
  }

  private mutating func add() {
    if isReversed { found.reverse() }
    all.add(found, to: node)
    found.removeAll(keepingCapacity: true)
  }

  private func isBefore(_ key: [UInt8], _ other: [UInt8]) -> Bool {
    isReversed ? other.lexicographicallyPrecedes(key) : key.lexicographicallyPrecedes(other)
  }

  /// The ends, in the order of the walk, of the known zones around a key that were empty at the
  /// walk's moment.
  private func knownEnds(around key: [UInt8]) -> (near: [UInt8], far: [UInt8])? {
    guard let known else { return nil }
    var index = known.partitionPoint { $0.high.lexicographicallyPrecedes(key) }
    guard index < known.count, known[index].low.lexicographicallyPrecedes(key) else { return nil }
    let start = isReversed ? known[index].high : known[index].low
    var far: [UInt8]?
    while known.indices.contains(index), known[index].moments.contains(moment) {
      let zone = known[index]
      let (near, end) = isReversed ? (zone.high, zone.low) : (zone.low, zone.high)
      if let far, far != near { break }
      far = end
      index += isReversed ? -1 : 1
    }
    return far.map { (start, $0) }
  }
}
