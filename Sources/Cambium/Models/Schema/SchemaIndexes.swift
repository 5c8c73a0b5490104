// The lines of a schema that declare indexes and views. They name properties through `Fields`, so
// they are evaluated when the declaration is asked for, not while the schema is being made.

/// An index over one or more properties, each ascending unless it says `.descending`.
///
///     Index(\.origin, \.scheduled.descending)
///     Index(\.name.ignoringCase).covering(\.place.latitude)
///     Index(\.departureDelay).where { $0.departureDelay > 0 }
public struct Index<M: Model>: SchemaPart, Refinable, Sendable {
  private let terms: @Sendable () -> [Ordering]
  private var isUnique = false
  private var condition: (@Sendable () -> Condition)?
  private var covered: @Sendable () -> [PropertyPath] = { [] }

  /// Declares an index.
  ///
  /// - Parameter terms: The properties, 1 to 16, in the order in which they count. They are the
  ///   record's own: an index cannot follow a reference.
  public init<each T: OrderTerm>(
    _ terms: repeat @escaping @Sendable (Fields<M>) -> each T
  ) {
    self.terms = { Fields<M>.orderings(repeat (each terms)(Fields<M>())) }
  }

  fileprivate func asUnique() -> Index { changed { $0.isUnique = true } }

  /// Only records that pass have an entry.
  public func `where`(
    @ConditionBuilder _ condition: @escaping @Sendable (Fields<M>) -> Condition
  ) -> Index {
    changed { $0.condition = { condition(Fields<M>()) } }
  }

  /// The entries hold a copy of these properties and of those that the index is over, so that
  /// queries for them need not read records. They may be those of a record that this one refers to:
  /// `\.carrier.name`; see ``Property/preview(_:)``.
  public func covering<each T: PropertyTerm>(
    _ properties: repeat @escaping @Sendable (Fields<M>) -> each T
  ) -> Index {
    let covered: @Sendable () -> [PropertyPath] = {
      Fields<M>.paths(repeat (each properties)(Fields<M>()))
    }
    return changed { $0.covered = covered }
  }

  /// The schema item that declares the index.
  public var item: SchemaItem<M> {
    SchemaItem(define: { [self] definition in
      var index = IndexDefinition(try terms().map { try $0.indexTerm(of: "\(M.self)") })
      index.isUnique = isUnique
      index.condition = try condition?().checked()
      index.covered = try covered().map { try $0.coveredName(of: "\(M.self)") }
      definition.add(index)
    })
  }
}

/// An index that no two records may have the same values in. Null is never the same.
public func Unique<M: Model, each T: OrderTerm>(
  _ terms: repeat @escaping @Sendable (Fields<M>) -> each T
) -> Index<M> {
  Index(repeat each terms).asUnique()
}

extension Ordering {
  /// The term of an index.
  fileprivate func indexTerm(of model: String) throws -> IndexDefinition.Term {
    // An index serves equality as well; nothing is sorted by what keeps no order.
    let path = path.guarantee == .equality ? path.ofStoredForm : path
    return IndexDefinition.Term(
      try path.ownProperty(of: model), isDescending: isDescending, collation: collation)
  }
}

extension CollectionDefinition {
  /// Adds an index; one that is there already covers more.
  mutating func add(_ index: IndexDefinition) {
    let same = indexes.firstIndex {
      $0.terms == index.terms && $0.condition == index.condition && $0.isUnique == index.isUnique
    }
    guard let same else { return indexes.append(index) }
    indexes[same].covered += index.covered.filter { !indexes[same].covered.contains($0) }
  }
}

extension PropertyPath {
  /// The name of a property that an index covers: the record's own, or one behind a reference.
  fileprivate func coveredName(of model: String) throws -> String {
    guard hops.count == 1, let property, function == nil, problem == nil else {
      return try ownProperty(of: model)
    }
    return "\(hops[0]).\(property)"
  }

  /// The name of a property of the record itself.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` where the path leads elsewhere.
  func ownProperty(of model: String) throws -> String {
    if let problem { throw DatabaseError.misuse(reason: problem) }
    guard hops.isEmpty, function == nil, let property else {
      throw DatabaseError.misuse(
        reason: "\(model): \(self) is no property of its own, as indexes, views and searches need")
    }
    return property
  }
}

extension Condition {
  /// Itself, where all that it names can be named.
  fileprivate func checked() throws -> Condition {
    if let problem = test.paths.lazy.compactMap(\.problem).first {
      throw DatabaseError.misuse(reason: problem)
    }
    return self
  }
}

/// A result that the database keeps up to date; a line of a ``ModelSchema``.
public struct MaterializedView<M: Model>: SchemaPart, Refinable, Sendable {
  fileprivate let content: @Sendable () throws -> ViewDefinition.Content
  fileprivate var condition: (@Sendable () -> Condition)?

  /// Only records that pass count.
  public func `where`(
    @ConditionBuilder _ condition: @escaping @Sendable (Fields<M>) -> Condition
  ) -> MaterializedView {
    changed { $0.condition = { condition(Fields<M>()) } }
  }

  /// The schema item that declares the view.
  public var item: SchemaItem<M> {
    SchemaItem(define: { [self] definition in
      definition.add(ViewDefinition(try content(), where: try condition?().checked()))
    })
  }
}

extension CollectionDefinition {
  /// Adds a view; aggregates about the same groups of the same records are kept together.
  mutating func add(_ view: ViewDefinition) {
    guard case .groups(by: let names, let aggregates) = view.content else {
      if !views.contains(view) { views.append(view) }
      return
    }
    for index in views.indices where views[index].condition == view.condition {
      guard case .groups(by: names, let others) = views[index].content else { continue }
      views[index].content = .groups(
        by: names, others + aggregates.filter { !others.contains($0) })
      return
    }
    views.append(view)
  }
}

/// Keeps how many records there are for each combination of values.
public func Count<M: Model, each K: PropertyTerm>(
  by keys: repeat @escaping @Sendable (Fields<M>) -> each K
) -> MaterializedView<M> {
  MaterializedView(content: { .groups(by: try names(repeat each keys), [.count]) })
}

/// Keeps the sum of a property, with the count, for each combination of values.
public func Sum<M: Model, V: PropertyValue, each K: PropertyTerm>(
  _ property: @escaping @Sendable (Fields<M>) -> Operand<V>,
  by keys: repeat @escaping @Sendable (Fields<M>) -> each K
) -> MaterializedView<M> {
  MaterializedView(content: {
    .groups(by: try names(repeat each keys), [.count, .sum(try name(property))])
  })
}

/// Keeps the mean of a property, with count and sum, for each combination of values.
public func Average<M: Model, V: PropertyValue, each K: PropertyTerm>(
  _ property: @escaping @Sendable (Fields<M>) -> Operand<V>,
  by keys: repeat @escaping @Sendable (Fields<M>) -> each K
) -> MaterializedView<M> {
  MaterializedView(content: {
    .groups(by: try names(repeat each keys), [.average(try name(property))])
  })
}

/// Keeps the least value of a property for each combination of values.
public func Minimum<M: Model, V: PropertyValue, each K: PropertyTerm>(
  _ property: @escaping @Sendable (Fields<M>) -> Operand<V>,
  by keys: repeat @escaping @Sendable (Fields<M>) -> each K
) -> MaterializedView<M> {
  MaterializedView(content: {
    .groups(by: try names(repeat each keys), [.minimum(try name(property))])
  })
}

/// Keeps the greatest value of a property for each combination of values.
public func Maximum<M: Model, V: PropertyValue, each K: PropertyTerm>(
  _ property: @escaping @Sendable (Fields<M>) -> Operand<V>,
  by keys: repeat @escaping @Sendable (Fields<M>) -> each K
) -> MaterializedView<M> {
  MaterializedView(content: {
    .groups(by: try names(repeat each keys), [.maximum(try name(property))])
  })
}

/// Keeps the records in order, for each combination of values, so that the first are found at once.
///
///     Top(\.delay.descending, \.number, by: \.carrier)
///     …
///     try database.query(Flight.self).where { $0.carrier == "UA" }
///       .order(by: \.delay.descending, \.number).limit(10).fetch()
///
/// A query for the first of one group in just that order reads no other record.
///
/// - Parameters:
///   - term: The property that the records are ordered by.
///   - others: The properties that order records with the same value of the first.
///   - keys: The properties that make a group; none for all records together.
/// - Returns: The line.
public func Top<M: Model, T: OrderTerm, each U: OrderTerm, each K: PropertyTerm>(
  _ term: @escaping @Sendable (Fields<M>) -> T,
  _ others: repeat @escaping @Sendable (Fields<M>) -> each U,
  by keys: repeat @escaping @Sendable (Fields<M>) -> each K
) -> MaterializedView<M> {
  MaterializedView(content: {
    let orderings =
      [term(Fields<M>()).ordering] + Fields<M>.orderings(repeat (each others)(Fields<M>()))
    let terms = try orderings.map { try $0.indexTerm(of: "\(M.self)") }
    return .top(by: try names(repeat each keys), terms)
  })
}

/// Keeps the words of texts, for full-text search.
///
/// - Parameters:
///   - properties: The properties that hold the texts.
///   - language: By its ISO 639-1 code; nil for words as they are.
/// - Returns: The line.
public func TextIndex<M: Model, each T: PropertyTerm>(
  _ properties: repeat @escaping @Sendable (Fields<M>) -> each T, language: String? = nil
) -> MaterializedView<M> {
  MaterializedView(content: { .text(try names(repeat each properties), language: language) })
}

private func name<M: Model, V: PropertyValue>(
  _ property: (Fields<M>) -> Operand<V>
) throws -> String {
  try property(Fields<M>()).path.ownProperty(of: "\(M.self)")
}

private func names<M: Model, each T: PropertyTerm>(
  _ properties: repeat @escaping (Fields<M>) -> each T
) throws -> [String] { try Fields<M>.names(repeat (each properties)(Fields<M>())) }
