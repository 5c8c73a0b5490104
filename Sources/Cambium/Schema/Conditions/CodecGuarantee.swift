/// The relation of the stored forms that a ``PropertyCodec`` makes to the values of a property.
///
/// It is a promise that nothing checks: queries compare stored forms.
public enum CodecGuarantee: Int, Hashable, Sendable, Comparable {
  /// None: equal values may be stored differently, as by a cipher that draws random numbers.
  /// Queries can ask whether there is a value.
  case nothing
  /// Equal values are stored equally, now and later, and different ones differently: `==`, `!=`,
  /// `in`, indexes and `Unique` work besides.
  case equality
  /// The stored forms are in the order of the values, too: so do `<`, `>`, ranges and sorting.
  case order

  /// Orders by how much is promised.
  public static func < (a: CodecGuarantee, b: CodecGuarantee) -> Bool { a.rawValue < b.rawValue }
}
