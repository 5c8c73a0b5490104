/// A question to records whose type the program does not know, in the query language: for tools,
/// consoles and searches that are kept as text. <doc:AskingByText> has the language.
///
///     let late = try database.query("flights where delay > $1 sort -scheduled limit 50", 60)
///     for flight in try late.fetch() { print(flight.path, flight["number"] ?? .null) }
///
///     let counts = try database.query("flights | group by carrier select count, avg(delay)")
///     for group in try counts.fetch() { print(try group["count", as: Int.self]) }
///
/// Nothing is read until a result is asked for. A query of a ``Database`` then looks at its newest
/// moment; one of a ``Snapshot`` or a ``Transaction`` stays with that. Where the type is known,
/// ``Query`` is the better face, and takes conditions as text, too: ``Query/matching(_:)``.
///
/// Threads: any, except for a query of a transaction, which stays on the transaction's.
public struct DynamicQuery: Sendable {
  enum Source: Sendable {
    case database(Database)
    case snapshot(Snapshot)
  }

  /// A property of the results: the name under which each has a value, and its type.
  public struct Property: Hashable, Sendable {
    /// The name under which a result has it: `number`, `origin.name`, `avg(delay)`.
    public let name: String
    /// Its type, as far as it is declared; of a key, a reference to the record's collection.
    public let type: PropertyType
  }

  private let source: Source
  private(set) var query: QueryDescription
  /// Ends a run by throwing.
  package var check: (@Sendable () throws -> Void)?

  init(_ query: QueryDescription, _ source: Source) {
    self.query = query
    self.source = source
  }

  fileprivate init(_ text: String, _ values: [any PropertyValue], _ source: Source) throws {
    self.init(try QueryDescription(parsing: text, values.map(\.storedValue)), source)
  }

  /// The collection that is asked.
  public var collection: Path { query.collection }

  // MARK: Pages

  /// Ends after so many results, of which the first `offset` are left out before; instead of what
  /// the text says about that.
  public func limit(_ count: Int, offset: Int = 0) -> DynamicQuery {
    var copy = self
    (copy.query.limit, copy.query.offset) = (max(count, 0), max(offset, 0))
    return copy
  }

  /// Goes on where an earlier run of the same query ended.
  public func after(_ cursor: QueryCursor?) -> DynamicQuery {
    var copy = self
    copy.query.after = cursor
    return copy
  }

  // MARK: Results

  /// All results, in order.
  ///
  /// A result is the record, or has what the query selects, each under its ``Property/name``. A
  /// result that is made of several records, as groups and distinct values are, has the path of the
  /// collection.
  ///
  /// - Throws: ``QueryError`` for what cannot be answered; ``DatabaseError/corrupt(reason:)``.
  /// - Complexity: as ``explain()`` says; about 1 µs and 0.1 µs a value for each result.
  public func fetch() throws -> [DynamicRecord] {
    var records: [DynamicRecord] = []
    try forEach { records.append($0) }
    return records
  }

  /// Visits the results in order, with memory that does not depend on how many there are, unless
  /// they must be sorted.
  ///
  /// - Parameter body: Takes the result. It must not write to the transaction that is read.
  /// - Throws: Any error that `body` throws; otherwise as ``fetch()``.
  public func forEach(_ body: (DynamicRecord) throws -> Void) throws {
    try results().forEachRecord(body)
  }

  /// Some of the results, and where the next ones begin.
  ///
  ///     var page = try query.limit(50).page()
  ///     while let next = page.next { page = try query.limit(50).after(next).page() }
  ///
  /// - Returns: As many results as the limit says; `next` is nil behind the last.
  /// - Throws: As ``fetch()``; ``QueryError`` for groups, distinct values and single answers, which
  ///   have no place to go on from.
  public func page() throws -> (records: [DynamicRecord], next: QueryCursor?) {
    guard query.hasPages else {
      throw QueryError("only what each record gives has pages; use “limit” and “offset”")
    }
    let results = try results()
    var records: [DynamicRecord] = []
    try results.forEachRecord { records.append($0) }
    return (records, results.cursor)
  }

  /// How many results there are; of a query that ends with `| count`, what it counts.
  ///
  /// - Throws: As ``fetch()``.
  public func count() throws -> Int { try results().count() }

  /// The names and types of what results have a value for, in the order in which they are selected.
  /// Whole records have `id`, which is their key, what is declared, and what one of them has.
  ///
  /// - Throws: As ``fetch()``.
  /// - Complexity: as ``fetch()`` for whole records, all of which are looked at; else O(1).
  public func properties() throws -> [Property] { try results().properties() }

  /// Names in the condition that no record has ever had: one that is misspelt is no error, but null
  /// everywhere.
  ///
  /// - Throws: As ``fetch()``.
  public func unknownNames() throws -> [String] {
    let snapshot = try snapshot()
    let declared = try snapshot.definition(of: collection)?.properties.map(\.name) ?? []
    let known = Set(try snapshot.propertyNames + declared + query.joins.map(\.name))
    let used = query.condition?.propertyNames ?? []
    return used.subtracting(known).filter { !$0.contains(".") }.sorted()
  }

  /// How the query is answered, in words, with what was estimated and what running it did.
  ///
  /// - Throws: As ``fetch()``, since the query is run.
  public func explain() throws -> String {
    let results = try results()
    _ = try results.count()
    return results.explanation
  }

  // MARK: Running

  private func snapshot() throws -> Snapshot {
    switch source {
    case .database(let database): try database.snapshot()
    case .snapshot(let snapshot): snapshot
    }
  }

  private func results() throws -> QueryResults {
    let results = try QueryResults(query, on: try snapshot())
    results.check = check
    return results
  }

  /// Asks for a result on another thread; cancelling the task ends the run.
  ///
  ///     let late = try await query.inBackground { try $0.fetch() }
  ///
  /// - Parameter body: Asks for the result.
  /// - Returns: The value that `body` returns.
  /// - Throws: Any error that `body` throws; `CancellationError`; ``DatabaseError/misuse(reason:)``
  ///   for a query of a transaction.
  public func inBackground<R: Sendable>(
    _ body: @escaping @Sendable (DynamicQuery) throws -> R
  ) async throws -> R {
    try await snapshot().inBackground { check in
      var query = self
      query.check = check
      return try body(query)
    }
  }
}

extension DynamicQuery: CustomStringConvertible {
  /// The query in the query language, with the values that were given beside it.
  public var description: String { query.description }
}

extension Database {
  /// Asks in the query language, at the newest moment there is when a result is asked for.
  ///
  ///     try database.query("flights where origin = $1 and delay > $2", airport.id, 60).fetch()
  ///
  /// - Parameters:
  ///   - text: The query.
  ///   - values: The values that `$1`, `$2` and so on stand for in it. Pass input from elsewhere
  ///     this way: text that is put together can be made to ask something else.
  /// - Returns: The query; nothing is read for it yet.
  /// - Throws: ``QueryError`` at the word that is wrong.
  public func query(_ text: String, _ values: any PropertyValue...) throws -> DynamicQuery {
    try DynamicQuery(text, values, .database(self))
  }
}

extension Snapshot {
  /// Asks in the query language at this moment; see ``Database/query(_:_:)``.
  ///
  /// - Throws: ``QueryError`` at the word that is wrong.
  public func query(_ text: String, _ values: any PropertyValue...) throws -> DynamicQuery {
    try DynamicQuery(text, values, .snapshot(self))
  }
}

extension Transaction {
  /// Asks in the query language, about what the transaction has left when a result is asked for;
  /// see ``Database/query(_:_:)``.
  ///
  /// - Throws: ``QueryError`` at the word that is wrong; ``DatabaseError/misuse(reason:)`` after
  ///   the transaction has ended.
  public func query(_ text: String, _ values: any PropertyValue...) throws -> DynamicQuery {
    try DynamicQuery(text, values, .snapshot(try readingSnapshot()))
  }
}
