// One index over the guards of all live queries: a change visits only those that could care.
//
//     change ─▶ collection ─▶ properties that must differ ─┬─ any change        list
//                                                          ├─ key               hash ─▶ list
//                                                          └─ each property     ordered values
//                                                               ├─ equality     hash ─▶ list
//                                                               └─ ranges       tree of ranges
//
// Nothing is allocated for a change, and each property that guards name is looked at as often as
// there are sets of properties that must differ, however many live queries there are.

/// The guards of all mailboxes, found by the changes that they let through.
///
/// Invariant: a mailbox is found for every change that any of its guards lets through. Proved by
/// ``slotsOneByOne(_:)``, with which tests compare each change.
final class GuardIndex {
  /// The collections that guards are on, by their paths' bytes.
  private var collections: [[UInt8]: CollectionGuards] = [:]
  /// The same collections in path order; nil once they have changed.
  private var ordered: [CollectionGuards]?
  /// The collection that was looked up last: its path's bytes, and its guards if there are any.
  private var last: (path: [UInt8], guards: CollectionGuards?)?
  /// The guards by the slots of mailboxes.
  private var guards: [Int32: [GuardEntry]] = [:]
  /// The number of the last visit to each slot, so that none is visited twice for one change.
  private var visits: [UInt64] = []
  private var visit: UInt64 = 0
  /// The slots that were found last.
  private(set) var found: [Int32] = []
  private var bytes = ByteBuffer()
  /// True if a name that guards use has no number yet.
  private(set) var hasUnknownNames = false

  var isEmpty: Bool { guards.isEmpty }

  // MARK: Guards

  /// Sets the guards of a mailbox.
  ///
  /// - Complexity: O(log *n*) for each key and range that differs, at *n* ranges; a lookup for each
  ///   that does not.
  func set(_ wanted: [LiveGuard], of slot: Int32, since: SequenceNumber, _ names: Catalog) {
    while visits.count <= Int(slot) { visits.append(0) }
    var before = guards[slot] ?? []
    var after: [GuardEntry] = []
    for (base, points) in wanted.byBase {
      let known = before.firstIndex { $0.base.isSame(as: base) }
      var entry = known.map { before.remove(at: $0) } ?? make(base, of: slot, since, names)
      entry.set(points)
      after.append(entry)
    }
    guards[slot] = after
    end(before)
  }

  /// Changes some guards of a mailbox: those that are removed were given as they are, or are points
  /// of it.
  ///
  /// - Complexity: O(log *n*) for each key and range, at *n* ranges.
  func edit(
    removing: [LiveGuard], adding: [LiveGuard], of slot: Int32, since: SequenceNumber,
    _ names: Catalog
  ) {
    var entries = guards.removeValue(forKey: slot) ?? []
    for content in adding {
      let base = content.base
      let place = entries.firstIndex { $0.base.isSame(as: base) } ?? entries.count
      if place == entries.count { entries.append(make(base, of: slot, since, names)) }
      for point in content.points { entries[place].add(point) }
    }
    for content in removing {
      let base = content.base
      guard let place = entries.firstIndex(where: { $0.base.isSame(as: base) }) else { continue }
      for point in content.points { entries[place].remove(point) }
      // Points may come again, and their collection stays looked at until then.
      if base.hasOnlyPoints || adding.contains(where: { $0.base.isSame(as: base) }) { continue }
      end([entries.remove(at: place)])
    }
    guards[slot] = entries
  }

  /// Removes the guards of a mailbox.
  func remove(_ slot: Int32) { end(guards.removeValue(forKey: slot) ?? []) }

  private func make(
    _ base: LiveGuard, of slot: Int32, _ since: SequenceNumber, _ names: Catalog
  ) -> GuardEntry {
    let path = base.collection.bytes
    let collection = collections[path] ?? CollectionGuards(base.collection, since: since)
    let entry = GuardEntry(base, in: collection, of: slot, names)
    if collections.updateValue(collection, forKey: path) == nil { (last, ordered) = (nil, nil) }
    if collection.hasUnknownNames { hasUnknownNames = true }
    return entry
  }

  private func end(_ gone: [GuardEntry]) {
    for var entry in gone {
      entry.end()
      guard entry.collection.isEmpty else { continue }
      collections[entry.collection.path.bytes] = nil
      (last, ordered) = (nil, nil)
    }
  }

  /// Finds the numbers of names, and the meaning of absent values.
  func resolve(_ names: Catalog) {
    for collection in collections.values { collection.resolve(names) }
    hasUnknownNames = collections.values.contains(where: \.hasUnknownNames)
  }

  // MARK: Collections

  /// The guards of the collection that a node belongs to, if there are any.
  func guards(around path: NodePath) -> CollectionGuards? {
    let count = path.parentCount
    if let last, last.path.count == count, last.path.isProperPrefix(of: path.bytes) {
      return last.guards
    }
    let parent = Array(path.bytes[..<count])
    let guards = collections[parent]
    last = (parent, guards)
    return guards
  }

  /// The collections with guards at a path and below it, in path order.
  func collections(within path: NodePath) -> ArraySlice<CollectionGuards> {
    let all = ordered ?? collections.values.sorted { $0.path < $1.path }
    ordered = all
    return all[all.partitionPoint { $0.path < path }...].prefix { $0.path.isWithin(path) }
  }

  /// True if a mailbox has a guard on a collection about which less is known after a moment.
  func hasGuard(of slot: Int32, since moment: SequenceNumber) -> Bool {
    guards[slot]?.contains { $0.collection.since > moment } ?? false
  }

  // MARK: Changes

  /// Finds the slots of the mailboxes that a change concerns, each once.
  ///
  /// - Returns: The collection; nil if the change concerns none of them.
  func find(_ change: RecordChange) -> CollectionGuards? {
    guard let collection = guards(around: change.path) else { return nil }
    begin()
    change.lend { key, old, new in
      if old == nil && new == nil { return }
      collection.forEach(meeting: key, old, new, &bytes) { note($0) }
    }
    return found.isEmpty ? nil : collection
  }

  /// Finds the slots of the mailboxes with a guard on a collection, each once.
  func find(in collection: NodePath) {
    begin()
    collections[collection.bytes]?.forEach { note($0) }
  }

  private func begin() {
    visit += 1
    found.removeAll(keepingCapacity: true)
  }

  @inline(__always)
  private func note(_ slot: Int32) {
    if visits[Int(slot)] == visit { return }
    visits[Int(slot)] = visit
    found.append(slot)
  }

  /// True if a change concerns a mailbox.
  func isConcerned(_ slot: Int32, by change: RecordChange) -> Bool {
    guard let collection = guards(around: change.path) else { return false }
    return change.lend { key, old, new in
      if old == nil && new == nil { return false }
      return guards[slot]?.contains { entry in
        entry.collection === collection && entry.isMet(by: key, old, new, &bytes)
      } ?? false
    }
  }

  /// The slots of the mailboxes that a change concerns, found by looking at every guard.
  func slotsOneByOne(_ change: RecordChange) -> Set<Int32> {
    Set(guards.keys.filter { isConcerned($0, by: change) })
  }
}

extension [LiveGuard] {
  /// The guards without their points, each once, with all points of it.
  fileprivate var byBase: [(base: LiveGuard, points: [UInt64])] {
    var parts: [(base: LiveGuard, points: [UInt64])] = []
    for content in self {
      let base = content.base
      if let known = parts.firstIndex(where: { $0.base.isSame(as: base) }) {
        parts[known].points += content.points
      } else {
        parts.append((base, content.points))
      }
    }
    return parts
  }
}
