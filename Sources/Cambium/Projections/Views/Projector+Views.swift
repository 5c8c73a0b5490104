import LMDB

extension Projector {
  /// Folds the change of a record into the views of its collection.
  mutating func foldViews(
    _ plan: CollectionPlan, key: RawSpan, old: RawSpan?, new: RawSpan?
  ) throws {}

  /// Makes a view of the records that are there.
  mutating func build(_ view: ViewPlan, of plan: CollectionPlan) throws {}
}
