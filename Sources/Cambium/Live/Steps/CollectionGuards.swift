/// The guards on the records of one collection, by the properties that must differ.
final class CollectionGuards {
  let path: NodePath
  /// The moment after which changes of the collection are looked for.
  let since: SequenceNumber
  private var groups: [GuardGroup] = []

  init(_ path: NodePath, since: SequenceNumber) {
    self.path = path
    self.since = since
  }

  var isEmpty: Bool { groups.isEmpty }

  // MARK: Guards

  /// Registers the group of some properties for one more user.
  func use(_ properties: [String]?, _ names: Catalog) -> GuardGroup {
    let known = groups.first { $0.properties.areSame(as: properties) }
    let group = known ?? GuardGroup(properties)
    if known == nil {
      group.resolve(names, names.collections[path])
      groups.append(group)
    }
    group.users += 1
    return group
  }

  /// Ends one use of a group.
  func release(_ group: GuardGroup) {
    group.users -= 1
    if group.users == 0 { groups.removeAll { $0 === group } }
  }

  /// True if a name that guards use has no number yet.
  var hasUnknownNames: Bool { groups.contains(where: \.hasUnknownNames) }

  /// Finds the numbers of names, and the meaning of absent values.
  func resolve(_ names: Catalog) {
    let plan = names.collections[path]
    for group in groups { group.resolve(names, plan) }
  }

  // MARK: Changes

  /// Visits the slots of the guards that a change of a record meets; some come several times.
  ///
  /// - Complexity: a comparison for each set of properties that guards name, and a lookup for each
  ///   property whose values they name, however many guards there are.
  @inline(__always)
  func forEach(
    meeting key: RawSpan, _ old: RawSpan?, _ new: RawSpan?, _ bytes: inout ByteBuffer,
    _ body: (Int32) -> Void
  ) {
    for group in groups { group.forEach(meeting: key, old, new, &bytes, body) }
  }

  /// Visits the slots of all guards; some come several times.
  func forEach(_ body: (Int32) -> Void) {
    for group in groups { group.forEach(body) }
  }
}
