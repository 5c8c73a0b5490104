/// Measures one run of a query, and reports it when the run ends.
struct QueryTracer {
  private let start = ContinuousClock.now
  private let report: @Sendable (QueryTrace) -> Void

  /// Nil where nobody wants to know.
  init?(_ directory: OpenDirectory?) {
    guard let report = directory?.options.queryTrace else { return nil }
    self.report = report
  }

  func tell(_ plan: QueryPlan, _ counts: QueryCounts, on snapshot: Snapshot) {
    report(
      QueryTrace(
        collection: plan.description.collection, sequence: snapshot.sequence,
        plan: plan.explained(counts), entriesRead: counts.entries, recordsRead: counts.records,
        relatedRead: counts.related, accepted: counts.accepted, results: counts.results,
        duration: .now - start))
  }
}
