import Cambium

/// A list that is maintained by running its query again whenever something was committed.
struct RepeatedQuery: WatchSource {
  let database: Database
  /// The query, in the query language.
  let text: String

  func steps() -> Steps { Steps(source: self) }

  struct Steps: AsyncSequence, Sendable {
    let source: RepeatedQuery

    func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    struct Iterator: AsyncIteratorProtocol {
      let source: RepeatedQuery
      private var last: WatchedList?

      init(source: RepeatedQuery) { self.source = source }

      /// The next step; nil when the task is cancelled or the database closed.
      mutating func next() async throws -> WatchStep? {
        guard var old = last else {
          let first = try source.list(try source.database.snapshot())
          last = first
          return WatchStep(list: first, difference: ListDifference(from: WatchedList(), to: first))
        }
        while true {
          // A new iterator each time passes over what was committed during the last run.
          var commits = source.database.changes(after: old.sequence).makeAsyncIterator()
          guard try await commits.next() != nil else { return nil }
          let new = try source.list(try source.database.snapshot())
          let difference = ListDifference(from: old, to: new)
          (old, last) = (new, new)
          if !difference.isEmpty { return WatchStep(list: new, difference: difference) }
        }
      }
    }
  }

  /// The list as it is in a snapshot.
  func list(_ snapshot: Snapshot) throws -> WatchedList {
    var query = try snapshot.query(text)
    query.request.check = {
      if Signals.isInterrupted || Task.isCancelled { throw CancellationError() }
    }
    let sections = try query.sectionValues()
    let records = try query.fetch()
    var list = WatchedList()
    list.sequence = snapshot.sequence
    list.isSectioned = query.sectionedBy != nil
    list.hasKeys = query.isOfRecords
    list.columns = try columns(of: query, records, snapshot)
    for (index, record) in records.enumerated() {
      let values = query.isOfRecords ? record.allValues : record.values
      list.append(values, madeOf: query.identity(of: record), section: sections?[index] ?? .null)
    }
    return list
  }

  /// The names of what is selected; of whole records, what is declared and then what they have.
  private func columns(
    of query: DynamicQuery, _ records: [DynamicRecord], _ snapshot: Snapshot
  ) throws -> [String] {
    guard query.isOfRecords else { return try query.properties().map(\.name) }
    var names = try snapshot.definition(of: query.collection)?.properties.map(\.name) ?? []
    var known = Set(names)
    for record in records {
      for name in record.names where known.insert(name).inserted { names.append(name) }
    }
    return names
  }
}
