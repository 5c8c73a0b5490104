/// A question to the records of a collection, as data: it is written by the typed face or read from
/// text, planned, explained and run.
package struct QueryDescription: Hashable, Sendable {
  /// The node whose children are asked about. Only children that are records count.
  package var collection: NodePath
  /// The condition on the records; nil for all.
  package var condition: Condition?
  /// The orderings of the results; ties come in the order of the keys, or against it where an index
  /// is walked backwards.
  package var orderings: [Ordering] = []
  /// The path whose values divide the results into sections. Its ordering comes first.
  package private(set) var sectionedBy: PropertyPath?
  /// The largest number of results.
  package var limit: Int?
  /// The number of results that are skipped at the start.
  package var offset = 0
  /// The place where an earlier run of the same query ended; this run continues after it.
  package var after: QueryCursor?
  /// Other records that are joined to each.
  package var joins: [Join] = []
  /// The properties that are wanted; nil for whole records.
  package var selection: [PropertyPath]?
  /// True if results that are the same count once.
  package var isDistinct = false
  /// Aggregates over groups, instead of records.
  package var grouping: Grouping?
  /// The form of the answer.
  package var outcome = Outcome.list
  /// True if a filter in Swift, which reads whole records, is evaluated after the condition.
  package var hasFilter = false

  /// The form of an answer: a list of the results, or a summary of them.
  package enum Outcome: String, Hashable, Sendable {
    case list
    /// The number of results.
    case count
    /// A truth value: true if there is any result.
    case exists
    /// The keys of the results.
    case ids
  }

  /// Records of another collection, by the value of a property.
  package struct Join: Hashable, Sendable {
    /// The name under which conditions and the selection know them.
    package var name: String
    package var collection: NodePath
    /// The property of the record at hand.
    package var outer: PropertyPath
    /// The property of the other; nil for its key.
    package var inner: String?
    /// True if records without another stay.
    package var isLeft = false
    /// The condition on the other; nil for all.
    package var condition: Condition?

    package init(
      _ name: String, _ collection: NodePath, _ outer: PropertyPath, inner: String?,
      isLeft: Bool = false, where condition: Condition? = nil
    ) {
      self.condition = condition
      self.name = name
      self.collection = collection
      self.outer = outer
      self.inner = inner
      self.isLeft = isLeft
    }
  }

  /// Aggregates over groups of records.
  package struct Grouping: Hashable, Sendable {
    /// The properties whose values make a group; none for all records together.
    package var paths: [PropertyPath]
    package var aggregates: [QueryAggregate]
    /// The condition on the groups, whose properties are `paths` and `aggregates` by their names.
    package var condition: Condition?

    package init(_ paths: [PropertyPath], _ aggregates: [QueryAggregate], having: Condition? = nil)
    {
      self.paths = paths
      self.aggregates = aggregates
      condition = having
    }

    /// The names of a group's values: those that make it, then its aggregates.
    var columns: [String] { paths.map(\.description) + aggregates.map(\.name) }
  }

  package init(_ collection: NodePath, where condition: Condition? = nil) {
    self.collection = collection
    self.condition = condition
  }
}

extension QueryDescription {
  /// Divides the results into sections: they are ordered by the path first, upwards unless the
  /// orderings already begin with it.
  package mutating func section(by path: PropertyPath) {
    sectionedBy = path
    if orderings.first?.path != path { orderings.insert(Ordering(path), at: 0) }
  }

  /// The path whose values divide a list into sections; nil where the answer is none.
  var sectionPath: PropertyPath? { outcome == .list ? sectionedBy : nil }

  /// The paths to values that a result has beside a record's own.
  var readPaths: [PropertyPath] { (selection ?? []) + (sectionPath.map { [$0] } ?? []) }

  /// The orderings that the sections do not imply.
  var orderingsWithinSections: ArraySlice<Ordering> {
    guard let path = sectionedBy, orderings.first == Ordering(path),
      orderings.dropFirst().first?.path != path
    else { return orderings[...] }
    return orderings.dropFirst()
  }

  /// True if results are made of several records, groups or distinct values, and not of one each.
  var isComputed: Bool { grouping != nil || isDistinct }

  /// True if results are whole records, and not values that were selected, or aggregates.
  package var isOfRecords: Bool { selection == nil && grouping == nil && outcome == .list }

  /// The name of a single answer; nil for a query with a list of results.
  var answerName: String? { outcome == .count || outcome == .exists ? outcome.rawValue : nil }

  /// The names of the collection's own properties that the answer depends on.
  var propertyNames: Set<String> {
    paths.reduce(into: condition?.propertyNames ?? []) {
      $0.formUnion(Condition.Test.names(in: $1))
    }
  }

  /// The paths that it names besides the condition; groups are ordered by properties of their own.
  var paths: [PropertyPath] {
    (grouping == nil ? orderings.map(\.path) : []) + (selection ?? []) + joins.map(\.outer)
      + (grouping?.paths ?? []) + (grouping?.aggregates ?? []).compactMap(\.path)
  }
}
