// Maintenance of text views: the effect of a record's change on its terms.

extension TextPlan {
  /// Updates a text view for a change of a record: the tables have it once `texts` is written.
  ///
  /// - Throws: As ``PendingTexts/write(to:)``.
  func keep(
    _ number: UInt32, key: RawSpan, old: RawSpan?, new: RawSpan?, _ texts: inout PendingTexts,
    in storage: borrowing StateTransaction
  ) throws {
    if let old, let new, try properties.areSame(in: old, new) { return }
    let (before, after) = (try RecordTerms(self, old), try RecordTerms(self, new))
    if before.isEmpty && after.isEmpty { return }
    texts.add(number, key: key, from: before, to: after)
    if texts.isFull { try texts.write(to: storage) }
  }
}
