/// One guard of a mailbox, and its places in the index. Its points come and go one by one, so that
/// a window that takes in a row costs one of them.
struct GuardEntry {
  /// The guard without its points.
  let base: LiveGuard
  let collection: CollectionGuards
  private let group: GuardGroup
  private let values: ValueGuards?
  private let slot: Int32
  private let places: [GuardGroup.Place]
  /// The points that there are: the link of each, and how often it was added.
  private var points: [UInt64: (link: Int32, count: Int32)] = [:]

  /// Adds a guard without points.
  init(_ base: LiveGuard, in collection: CollectionGuards, of slot: Int32, _ names: Catalog) {
    let group = collection.use(base.properties, names)
    let values = base.test.property.map {
      group.use($0, names, names.collections[collection.path])
    }
    (self.base, self.collection, self.slot) = (base, collection, slot)
    (self.group, self.values) = (group, values)
    places = group.add(base.test, of: slot, values)
  }

  /// Removes everything of it.
  mutating func end() {
    set([])
    group.remove(places)
    if let values { group.release(values) }
    collection.release(group)
  }

  // MARK: Points

  mutating func add(_ point: UInt64) {
    if let known = points[point] {
      points[point] = (known.link, known.count + 1)
    } else {
      points[point] = (group.add(point: point, of: slot, values), 1)
    }
  }

  mutating func remove(_ point: UInt64) {
    guard let known = points[point] else { return }
    if known.count > 1 {
      points[point] = (known.link, known.count - 1)
    } else {
      group.remove(point: point, link: known.link, values)
      points[point] = nil
    }
  }

  /// Replaces all points; those that stay are not touched.
  mutating func set(_ wanted: [UInt64]) {
    var counts: [UInt64: Int32] = [:]
    for point in wanted { counts[point, default: 0] += 1 }
    for (point, known) in points where counts[point] == nil {
      group.remove(point: point, link: known.link, values)
      points[point] = nil
    }
    for (point, count) in counts {
      if points[point] == nil { add(point) }
      points[point]?.count = count
    }
  }

  // MARK: Changes

  /// True if it lets a change through, found without the index.
  func isMet(
    by key: RawSpan, _ old: RawSpan?, _ new: RawSpan?, _ bytes: inout ByteBuffer
  ) -> Bool {
    guard group.differs(old, new) else { return false }
    if case .any = base.test { return true }
    guard let values else { return points[Checksum.of(key)] != nil }
    return values.hasValue(old, new, &bytes) { value in
      if points[Checksum.of(value)] != nil { return true }
      guard case .values(_, _, _, let ranges) = base.test else { return false }
      return ranges.contains { $0.contains(value) }
    }
  }
}
