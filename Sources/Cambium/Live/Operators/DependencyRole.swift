/// The records of one collection that a query's rows depend on by one way: by a chain of references
/// from the rows' own records.
///
///     flights where origin.country.name = "NL" and crew any (age > 60)
///
///     0 flights ──origin──▶ 1 airports ──country──▶ 2 countries
///       └────────crew─────▶ 3 people
struct DependencyRole: Sendable {
  /// The edge that leads to the records from those of the role above.
  enum Edge: Hashable, Sendable {
    /// A property of the record above names them: by its value, its elements or its names.
    case reference(String)
    /// A property of the record above has paths to them, since nothing is declared.
    case path(String)
    /// They name the record above by a property of theirs.
    case inverse(String)
    /// A join has put them beside the record above.
    case join(JoinEdge)
  }

  /// A join on anything but a plain reference to a key.
  struct JoinEdge: Hashable, Sendable {
    /// The property of the record above, without hops; its function is applied.
    let outer: PropertyPath
    /// The property of the joined record; nil for its key.
    let inner: String?
    /// The type as which both are compared.
    let type: PropertyType
  }

  /// The collection; nil if values name it, and no declaration.
  let collection: NodePath?
  /// The place of the role above; nil for the rows' own records.
  let upper: Int?
  /// The edge from there; nil for the rows' own records.
  let edge: Edge?
  /// The properties that are read of the records.
  var names: Set<String> = []
  /// The parts of the records of which more is shown with rows than the result of a test or their
  /// order.
  var shown = ShownParts()
  /// The uses of these properties, by which few changes may be enough.
  var uses = DependencyUses()
  /// True if records are delivered whole, or may be read whole.
  var isWhole = false
  /// True if each record that the edge leads to is part of the element, as a whole.
  var isDelivered = false
  /// The tests of which records must pass one to matter; nil where all do.
  var passing: [Condition.Test]?
  /// True if the records decide which rows there are, or their order; false if they are only shown.
  var decides = false
  /// True if a path leads there of which more is shown with rows than the result of a test.
  var isSeen = false
  /// The way there from a row.
  var way = RoleWay()
}

/// The way from a row to the records of a role.
struct RoleWay: Sendable {
  /// The references that lead there from a row's own record; nil where others do, as those back.
  var hops: [String]?
  /// The names by which an update tells of them: those of references, behind that of a join if one
  /// has put them, or those before them, beside the row; nil where it tells of none.
  var names: [String]?
  /// The place among the joined records; nil if no join has put them beside the row.
  var join: Int?
}

/// The parts of a role's records that are shown with rows.
struct ShownParts: Sendable {
  /// The properties.
  var names: Set<String> = []
  /// True if the key is shown.
  var hasKey = false
}

/// The uses of the properties of a role's records that decide which rows there are, or in which
/// order.
struct DependencyUses: Sendable {
  /// The tests of single properties of which every row passes all, and then those of which it may
  /// fail some. They test the role's own properties.
  var required: [Condition.Test] = []
  var tests: [Condition.Test] = []
  /// The properties that are read by anything but these tests.
  var others: Set<String> = []
  /// True if it matters by itself which records there are, and not only where a path leads.
  var areCounted = false

  /// All properties that decide.
  var names: Set<String> {
    others.union((required + tests).flatMap(\.paths).compactMap(\.property))
  }
}

extension DependencyRole {
  /// The role as steps need it: without what its guards were made of.
  var forSteps: DependencyRole {
    var role = self
    (role.names, role.uses, role.passing) = ([], DependencyUses(), nil)
    return role
  }

  /// True if the records name those of the role above.
  var isInverse: Bool { if case .inverse? = edge { true } else { false } }

  /// True if records are shown with rows, be it only that they are there.
  var isShown: Bool { isWhole || isSeen }
}
