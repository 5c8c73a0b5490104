/// The guards on the records of one collection.
final class CollectionGuards {
  let path: NodePath
  /// The moment after which changes of the collection are looked for.
  let since: SequenceNumber
  private var any = SlotLists()
  private var keys = SlotLists()
  private var values: [ValueGuards] = []

  init(_ path: NodePath, since: SequenceNumber) {
    self.path = path
    self.since = since
  }

  var isEmpty: Bool { any.isEmpty && keys.isEmpty && values.isEmpty }

  /// The place of a part of a guard.
  enum Place {
    case any(link: Int32)
    case key(hash: UInt64, link: Int32)
    case value(ValueGuards, ValueGuards.Place)
  }

  /// Adds a test of a mailbox's.
  ///
  /// - Returns: The places from which it is removed.
  func add(_ test: LiveGuard.Test, of slot: Int32, _ names: Catalog) -> [Place] {
    switch test {
    case .any: return [.any(link: any.add(slot, under: 0))]
    case .keys(let wanted):
      return wanted.map { key in
        let hash = key.lend { Checksum.of($0) }
        return .key(hash: hash, link: keys.add(slot, under: hash))
      }
    case .values(let property, let type, let collation, let ranges):
      let guards = guards(on: property, type, collation, names)
      return ranges.map { .value(guards, guards.add($0, of: slot)) }
    }
  }

  /// Removes parts of guards.
  func remove(_ places: [Place]) {
    for place in places {
      switch place {
      case .any(let link): any.remove(link, under: 0)
      case .key(let hash, let link): keys.remove(link, under: hash)
      case .value(let guards, let place): guards.remove(place)
      }
    }
    values.removeAll(where: \.isEmpty)
  }

  private func guards(
    on property: String, _ type: PropertyType, _ collation: Collation, _ names: Catalog
  ) -> ValueGuards {
    if let known = values.first(where: { $0.isFor(property, type, collation) }) { return known }
    let added = ValueGuards(property, type, collation)
    added.resolve(names, names.collections[path])
    values.append(added)
    return added
  }

  /// True if a name that guards use has no number yet.
  var hasUnknownNames: Bool { values.contains { $0.name == nil } }

  /// Finds the numbers of names, and the meaning of absent values.
  func resolve(_ names: Catalog) {
    let collection = names.collections[path]
    for guards in values { guards.resolve(names, collection) }
  }

  // MARK: Changes

  /// Visits the slots of the guards that a change of a record meets; some come several times.
  @inline(__always)
  func forEach(
    meeting key: RawSpan, _ old: RawSpan?, _ new: RawSpan?, _ bytes: inout ByteBuffer,
    _ body: (Int32) -> Void
  ) {
    if !any.isEmpty { any.forEach(under: 0, body) }
    if !keys.isEmpty { keys.forEach(under: Checksum.of(key), body) }
    for guards in values { guards.forEach(meeting: old, new, &bytes, body) }
  }

  /// Visits the slots of all guards; some come several times.
  func forEach(_ body: (Int32) -> Void) {
    any.forEach(body)
    keys.forEach(body)
    for guards in values { guards.forEach(body) }
  }

  /// True if a test is met, found without the index.
  func isMet(
    _ test: LiveGuard.Test, by key: RawSpan, _ old: RawSpan?, _ new: RawSpan?,
    _ bytes: inout ByteBuffer
  ) -> Bool {
    switch test {
    case .any: return true
    case .keys(let wanted): return wanted.contains(key.array())
    case .values(let property, let type, let collation, let ranges):
      if ranges.isEmpty { return false }
      // Unless it is among the guards, nothing is known about the property.
      guard let guards = values.first(where: { $0.isFor(property, type, collation) }) else {
        return true
      }
      var isMet = false
      let look = { (value: RawSpan) in
        if ranges.contains(where: { $0.contains(value) }) { isMet = true }
      }
      do {
        if let old { try guards.forEachValue(of: old, &bytes, look) }
        if let new { try guards.forEachValue(of: new, &bytes, look) }
      } catch {
        return true
      }
      return isMet
    }
  }
}
