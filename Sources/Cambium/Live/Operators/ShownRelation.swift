/// Records that are shown with rows, found from the rows: by a path of references, by referring to
/// the end of one, or by a join.
struct ShownRelation: Sendable {
  /// The way from a row to the keys of the records, or to those that they refer to.
  enum Source: Hashable, Sendable {
    case path(PropertyPath)
    /// The place among the joined records.
    case joined(Int)
  }

  /// The role that the records play.
  let role: Int
  let source: Source
  let collection: NodePath
  /// The property by which the records refer; nil if they are referred to.
  let inverse: String?
  /// The properties that are shown; nil for all.
  let properties: [String]?

  /// Nil where no path of single references leads there.
  init?(_ place: Int, in tree: DependencyTree) {
    let role = tree.roles[place]
    guard let collection = role.collection, let upper = role.upper, let edge = role.edge else {
      return nil
    }
    self.role = place
    (self.collection, properties) = (collection, role.read)
    if let join = role.way.join {
      (source, inverse) = (.joined(join), nil)
      return
    }
    guard let hops = tree.roles[upper].way.hops else { return nil }
    switch edge {
    case .reference(let name): (source, inverse) = (.path(PropertyPath(hops: hops, name)), nil)
    case .inverse(let name): (source, inverse) = (.path(PropertyPath(hops: hops, nil)), name)
    default: return nil
    }
  }

  /// The guard of every record that may be shown.
  var wide: LiveGuard { LiveGuard(collection: collection, test: .any, properties: properties) }
}
