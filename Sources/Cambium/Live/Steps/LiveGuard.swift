/// The changes of a collection's records that a live query must see. A guard may be coarser than
/// the query, never finer: a query that is concerned needlessly costs time, one that is not
/// concerned shows what is no longer so.
struct LiveGuard: Sendable, Hashable {
  /// The collection, declared or not: the parent of the records.
  var collection: NodePath
  var test: Test

  enum Test: Sendable, Hashable {
    /// Every change of a record of the collection.
    case any
    /// Changes of the records with these keys, in their stored form.
    case keys(Set<[UInt8]>)
    /// Changes of records of which the ordered value, before or after, lies in one of the ranges.
    /// It is the value that a condition sees, of which an absent one has its stand-in; of an array,
    /// each element counts as well. The ranges are of ``OrderedBytes``, ascending.
    case values(
      property: String, type: PropertyType, collation: Collation, ranges: [ClosedOpenBytes])

    /// The name of the property; empty for a test without one.
    private var property: String {
      if case .values(let property, _, _, _) = self { property } else { "" }
    }

    /// True if both let through the same: names are equal only when their bytes are.
    func isSame(as other: Test) -> Bool {
      self == other && ByteOrder.areEqual(property, other.property)
    }
  }
}
