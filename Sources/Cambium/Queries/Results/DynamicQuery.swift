/// A question to records whose type the program does not know, in the query language: for tools,
/// consoles and searches that are kept as text. <doc:AskingByText> has the language.
///
///     let late = try database.records("flights where delay > $1 sort -scheduled limit 50", 60)
///     for flight in try late.fetch() { print(flight.path, flight["number"] ?? .null) }
///
///     let counts = try database.records("flights | group by carrier select count, avg(delay)")
///     for group in try counts.fetch() { print(try group["count", as: Int.self]) }
///
/// Nothing is read until a result is asked for. A query of a ``Database`` then looks at its newest
/// moment; one of a ``Snapshot`` or a ``Database/Transaction`` stays with that. Where the type is
/// known, ``ModelQuery`` is the better face, and takes conditions as text, too:
/// ``ModelQuery/matching(_:)``.
///
/// Threads: any, except for a query of a transaction, which stays on the transaction's.
///
/// A result is the record, or has what the query selects, each under its ``Property/name``. One
/// that is made of several records, as groups and distinct values are, has the path of the
/// collection. ``Results/count()`` of a query that ends with `| count` is what it counts, and
/// ``Results/exists()`` says if there is anything to count.
public struct DynamicQuery: Results {
  /// A result: a record, or what is selected, under its names.
  public typealias Element = DynamicRecord

  /// A property of the results: the name under which each has a value, and its type.
  public struct Property: Hashable, Sendable {
    /// The name under which a result has it: `number`, `origin.name`, `avg(delay)`.
    public let name: String
    /// Its type, as far as it is declared; of a key, a reference to the record's collection.
    public let type: PropertyType
  }

  /// The question that the text asks, and where it is asked.
  public var request: QueryRequest

  init(_ query: QueryDescription, _ source: QueryRequest.Source) {
    request = QueryRequest(source: source, description: query)
  }

  init(_ text: String, _ values: [Value], _ source: QueryRequest.Source) throws {
    self.init(try QueryDescription(parsing: text, values), source)
  }

  /// The collection that is asked.
  public var collection: NodePath { request.description.collection }

  /// True if results are whole records, and not values that were selected, or aggregates.
  package var isOfRecords: Bool { request.description.isOfRecords }

  /// True if the results are in sections, and each has its ``DynamicRecord/section``.
  public var isSectioned: Bool { request.description.sectionPath != nil }

  /// The value that distinguishes a result from the others: its key, the values that make its
  /// group, or all of its values.
  package func identity(of result: DynamicRecord) -> Value {
    let description = request.description
    if !description.isComputed { return .string(result.key?.description ?? "") }
    let names = description.grouping?.paths.map(\.description) ?? result.names
    return .array(names.map { result[$0] ?? .null })
  }

  // MARK: Results

  /// Makes records of a run's results.
  public func read(_ run: QueryRun, _ body: (DynamicRecord) throws -> Bool) throws {
    try run.forEachRecord(body)
  }

  /// The names and types of what results have a value for, in the order in which they are selected.
  /// Whole records have `id`, which is their key, what is declared, and what one of them has.
  ///
  /// - Throws: As ``Walk/fetch()``.
  /// - Complexity: as ``Walk/fetch()`` for whole records, all of which are looked at; else O(1).
  public func properties() throws -> [Property] { try request.run().properties() }

  /// Names in the condition that no record has ever had: one that is misspelt is no error, but null
  /// everywhere.
  ///
  /// - Throws: As ``Walk/fetch()``.
  public func unknownNames() throws -> [String] {
    let (snapshot, query) = (try request.snapshot(), request.description)
    let declared = try snapshot.definition(of: collection)?.properties.map(\.name) ?? []
    let known = Set(try snapshot.propertyNames + declared + query.joins.map(\.name))
    let used = query.condition?.propertyNames ?? []
    return used.subtracting(known).filter { !$0.contains(".") }.sorted()
  }
}

extension DynamicQuery: CustomStringConvertible {
  /// The query in the query language, with the values that were given beside it.
  public var description: String { request.description.description }
}
