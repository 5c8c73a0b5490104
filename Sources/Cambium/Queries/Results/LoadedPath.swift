/// A relation that is loaded along with a query's records, as data.
///
///     \.carrier            path carrier                              airlines
///     \.crew               path crew, an array of references         people
///     \.carrier.flights    path to the key of the carrier            flights, inverse carrier
struct LoadedPath: Hashable, Sendable {
  /// The path to the keys of the others; for an inverse relation to the key that they refer to.
  var path: PropertyPath
  /// The collection of the others.
  var collection: NodePath
  /// The property by which the others refer; nil if they are referred to.
  var inverse: String?
  /// The condition on the others; nil for all.
  var condition: Condition?
  /// The order of the others, of which a limit leaves the first.
  var orderings: [Ordering] = []
  /// True if only their number is loaded.
  var isCount = false
  /// True if all of them are loaded: none is left out by a condition or a limit.
  var isWhole = false
}
