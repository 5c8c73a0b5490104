/// The guards on one collection that ask for a difference of the same properties, or of any. They
/// are looked at only if there is one, which is found out once for all of them.
final class GuardGroup {
  /// The properties of which one must differ; nil for guards that any difference meets.
  let properties: [String]?
  private var names: [NameID?] = []
  private var any = SlotLists()
  private var keys = SlotLists()
  private var values: [ValueGuards] = []
  /// The number of guards that have parts here, or may have them again.
  var users = 0

  init(_ properties: [String]?) { self.properties = properties }

  /// The place of a guard's part that is no point.
  enum Place {
    case any(link: Int32)
    case range(ValueGuards, node: Int32)
  }

  // MARK: Guards

  /// Adds the parts of a guard that are no points.
  ///
  /// - Returns: The places from which they are removed.
  func add(_ test: LiveGuard.Test, of slot: Int32, _ values: ValueGuards?) -> [Place] {
    switch (test, values) {
    case (.any, _): [.any(link: any.add(slot, under: 0))]
    case (.values(_, _, _, let ranges), let values?):
      ranges.map { .range(values, node: values.add($0, of: slot)) }
    default: []
    }
  }

  /// Removes parts of guards.
  func remove(_ places: [Place]) {
    for place in places {
      switch place {
      case .any(let link): any.remove(link, under: 0)
      case .range(let values, let node): values.remove(range: node)
      }
    }
  }

  /// Adds the checksum of a key, or of a property's value.
  func add(point: UInt64, of slot: Int32, _ values: ValueGuards?) -> Int32 {
    if let values { values.add(point: point, of: slot) } else { keys.add(slot, under: point) }
  }

  /// Removes a point by its link.
  func remove(point: UInt64, link: Int32, _ values: ValueGuards?) {
    if let values {
      values.remove(point: point, link: link)
    } else {
      keys.remove(link, under: point)
    }
  }

  /// Registers the guards on a property's values for one more user.
  func use(_ property: GuardedProperty, _ names: Catalog, _ plan: CollectionPlan?) -> ValueGuards {
    let known = values.first { $0.property.isSame(as: property) }
    let guards = known ?? ValueGuards(property)
    if known == nil {
      guards.resolve(names, plan)
      values.append(guards)
    }
    guards.users += 1
    return guards
  }

  /// Ends one use of the guards on a property's values.
  func release(_ guards: ValueGuards) {
    guards.users -= 1
    if guards.users == 0 { values.removeAll { $0 === guards } }
  }

  // MARK: Names

  /// True if a name that guards use has no number yet.
  var hasUnknownNames: Bool {
    names.contains { $0 == nil } || values.contains { $0.name == nil }
  }

  /// Finds the numbers of names, and the meaning of absent values.
  func resolve(_ names: Catalog, _ plan: CollectionPlan?) {
    self.names = (properties ?? []).map { names.id(of: $0) }
    for guards in values { guards.resolve(names, plan) }
  }

  // MARK: Changes

  /// Visits the slots of the guards that a change of a record meets; some come several times.
  @inline(__always)
  func forEach(
    meeting key: RawSpan, _ old: RawSpan?, _ new: RawSpan?, _ bytes: inout ByteBuffer,
    _ body: (Int32) -> Void
  ) {
    guard differs(old, new) else { return }
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

  /// True if one of the properties differs, or the record comes or goes.
  func differs(_ old: RawSpan?, _ new: RawSpan?) -> Bool {
    guard properties != nil, let old, let new else { return true }
    // No record has a name without a number; one that cannot be read may differ in anything.
    return (try? !RecordTable.areSame(names.lazy.compactMap(\.self), in: old, new)) ?? true
  }
}
