// Maintenance of text views: the effect of a record's change on its terms, and when it is written.

extension TextPlan {
  /// Notes a change of a record, which ``Folds/writeTexts()`` writes.
  func keep(
    _ number: UInt32, key: RawSpan, old: RawSpan?, new: RawSpan?, _ pending: inout PendingTexts
  ) throws {
    if let old, let new, try properties.areSame(in: old, new) { return }
    let (before, after) = (try RecordTerms(self, old), try RecordTerms(self, new))
    if before.isEmpty && after.isEmpty { return }
    pending.add(number, key: key, from: before, to: after)
  }
}

extension Folds {
  /// Writes what the tables of text views lack.
  ///
  /// - Throws: As ``PendingTexts/write(to:)``.
  mutating func writeTexts() throws { try texts.write(to: storage) }

  /// Notes a change of a record in a text view, and writes all if there are many.
  ///
  /// - Throws: As ``PendingTexts/write(to:)``.
  mutating func keep(
    _ plan: TextPlan, _ number: UInt32, key: RawSpan, old: RawSpan?, new: RawSpan?
  ) throws {
    try plan.keep(number, key: key, old: old, new: new, &texts)
    if texts.isFull { try writeTexts() }
  }
}
