/// The meaning of the names in a condition: the names of the records that it tests, and of the
/// collections that they refer to.
///
/// Nothing need be declared. An undeclared name is resolved by its value in the record: a path
/// leads to the record there, and a dictionary has members.
struct ConditionScope {
  /// The numbers of names.
  let catalog: Catalog
  /// The declaration of the records at hand; nil if there is none.
  let definition: CollectionDefinition?
  /// Finds the declaration of another collection.
  let find: (NodePath) -> CollectionDefinition?
  /// Records that a query has joined to the one at hand, by their names in the query.
  var joined: [(name: String, collection: NodePath)] = []
  /// The previews that the records at hand contain if they are read from an index: copies of
  /// properties of the records that they refer to.
  var previews: [Preview] = []

  init(
    _ catalog: Catalog, _ definition: CollectionDefinition? = nil,
    find: @escaping (NodePath) -> CollectionDefinition? = { _ in nil }
  ) {
    self.catalog = catalog
    self.definition = definition
    self.find = find
  }

  /// The scope of another collection's records.
  func entering(_ collection: NodePath?) -> ConditionScope {
    ConditionScope(catalog, collection.flatMap(find), find: find)
  }

  /// A reference to follow.
  struct Hop {
    var name: String
    /// The collection that it leads to, if it is declared.
    var collection: NodePath?
    /// The place among the joined records, if it is one of them.
    var joined: Int?
  }

  /// A resolved path: references to follow, then a property or the key.
  struct ResolvedPath {
    var hops: [Hop] = []
    /// The property at the end; nil for the key.
    var property: String?
    /// The declaration of that property, if it has one.
    var definition: PropertyDefinition?
    /// True if it is read from a copy in an index.
    var isCopy = false
    /// True if it is a key of a collection whose keys are declared as texts: such keys compare as
    /// texts, even if they read as something else.
    var isTextKey = false

    /// True if it is the number of records that refer to the record behind the hops.
    var isCount = false

    /// True if it is a key: the record's own, or a reference.
    var isKey: Bool {
      if isCount { return false }
      if property == nil { return true }
      if case .reference? = definition?.type { return true }
      return false
    }
  }

  /// Resolves a path. Names that belong together, as in `place.latitude`, are joined.
  ///
  /// - Throws: ``QueryError`` if a property that is not a reference would have to be followed, and
  ///   for a path that carries the reason why it leads nowhere.
  func resolve(_ path: PropertyPath) throws -> ResolvedPath {
    if let problem = path.problem { throw QueryError(problem) }
    if let preview = preview(path) {
      return ResolvedPath(
        property: preview.copiedName, definition: find(preview.target)?[preview.property],
        isCopy: true)
    }
    var parts = path.hops[...]
    if let property = path.property { parts.append(property) }
    var resolved = ResolvedPath()
    var scope = self
    if let first = parts.first, parts.count > 1 || path.property == nil,
      let index = joined.firstIndex(where: { $0.name == first })
    {
      parts = parts.dropFirst()
      resolved.hops.append(Hop(name: first, collection: joined[index].collection, joined: index))
      scope = entering(joined[index].collection)
    }
    while !parts.isEmpty {
      let count = scope.joinedCount(parts)
      let name = parts.prefix(count).joined(separator: ".")
      parts = parts.dropFirst(count)
      if parts.isEmpty && path.property != nil {
        resolved.property = name
        resolved.definition = scope.definition?[name]
      } else {
        let collection = try scope.target(name)
        resolved.hops.append(Hop(name: name, collection: collection))
        scope = scope.entering(collection)
      }
    }
    resolved.isCount = path.referrers != nil
    if resolved.isCount { return resolved }
    resolved.isTextKey =
      resolved.property == nil
      ? scope.definition?.keys == .string
      : resolved.isKey && resolved.definition?.target.flatMap(find)?.keys == .string
    return resolved
  }

  private func preview(_ path: PropertyPath) -> Preview? {
    guard !previews.isEmpty, let property = path.property else { return nil }
    let name = (path.hops + [property]).joined(separator: ".")
    return previews.first { $0.path == name }
  }

  /// The number of names that make the first property: the most whose joined name is known.
  private func joinedCount(_ parts: ArraySlice<String>) -> Int {
    guard parts.count > 1, let first = parts.first, definition?[first] == nil else { return 1 }
    for count in stride(from: parts.count, to: 1, by: -1) {
      let name = parts.prefix(count).joined(separator: ".")
      if definition?[name] != nil || catalog.id(of: name) != nil { return count }
    }
    return 1
  }

  /// The collection that a reference leads to; nil if its value names it.
  private func target(_ name: String) throws -> NodePath? {
    guard let declared = definition?[name] else { return nil }
    switch declared.type {
    case .reference(let path): return path
    case .any, .map: return nil
    default:
      throw QueryError("\(name) is no reference, so that nothing lies behind it")
    }
  }
}
