// The derived results of live collections; for sequences of differences see
// AsyncSequence+Deriving.swift. `map`, `filter` and `flatMap` of a collection make arrays.

extension LiveSource {
  /// A live collection with each element made into something else.
  ///
  ///     let titles = try issues.mapElements { $0.title }
  ///
  /// - Parameter transform: Maps an element, once when it comes and once at each update; it must
  ///   depend on nothing but the element.
  /// - Returns: The collection; an update that maps to an equal value is none of its own.
  /// - Throws: The errors of `transform`.
  /// - Complexity: As ``ElementMapping``.
  public func mapElements<T: Equatable & Sendable>(
    _ transform: @escaping @Sendable (Element) throws -> T
  ) throws -> LiveCollection<T> {
    try LiveCollection(from: self, ElementMapping(transform))
  }

  /// A live collection with each element made into something that cannot be compared.
  ///
  /// - Parameter transform: Maps an element; it must depend on nothing but the element.
  /// - Returns: The collection.
  /// - Throws: The errors of `transform`.
  /// - Complexity: As ``ElementMapping``.
  public func mapElements<T: Sendable>(
    _ transform: @escaping @Sendable (Element) throws -> T
  ) throws -> LiveCollection<T> {
    try LiveCollection(from: self, ElementMapping(transform))
  }

  /// A live collection with some of the elements.
  ///
  /// - Parameter isIncluded: True for an element to be shown; it must depend on nothing else.
  /// - Returns: The collection.
  /// - Throws: The errors of `isIncluded`.
  /// - Complexity: As ``ElementFilter``.
  public func filterElements(
    _ isIncluded: @escaping @Sendable (Element) throws -> Bool
  ) throws -> LiveCollection<Element> {
    try LiveCollection(from: self, ElementFilter(isIncluded))
  }

  /// A live collection with the children of each element, known by an identity.
  ///
  /// - Parameters:
  ///   - id: Gives the identity of a child among those of the same element.
  ///   - children: Gives the children of an element, in order; it must depend on nothing else.
  /// - Returns: The collection.
  /// - Throws: The errors of `children`.
  /// - Complexity: As ``ElementFlattening``.
  public func flatMapElements<C: Equatable & Sendable, ID: Hashable & Sendable>(
    by id: @escaping @Sendable (C) -> ID, _ children: @escaping @Sendable (Element) throws -> [C]
  ) throws -> LiveCollection<C> {
    try LiveCollection(from: self, ElementFlattening(by: id, children))
  }

  /// A live collection with the children of each element, each known by its value: one that changes
  /// is another.
  ///
  /// - Parameter children: Gives the children of an element, in order; it must depend on nothing
  ///   else.
  /// - Returns: The collection.
  /// - Throws: The errors of `children`.
  /// - Complexity: As ``ElementFlattening``.
  public func flatMapElements<C: Hashable & Sendable>(
    _ children: @escaping @Sendable (Element) throws -> [C]
  ) throws -> LiveCollection<C> {
    try LiveCollection(from: self, ElementFlattening(by: { $0 }, children))
  }

  /// A live collection of groups.
  ///
  /// - Parameters:
  ///   - key: Gives the key of an element's group; it must depend on nothing but the element.
  ///   - order: The order of the groups; that of their first elements unless given.
  /// - Returns: The collection, whose elements are groups.
  /// - Throws: The errors of `key`.
  /// - Complexity: As ``ElementGrouping``.
  public func groupElements<Key: Hashable & Sendable>(
    by key: @escaping @Sendable (Element) throws -> Key,
    order: SectionOrder<Element, Key> = .firstAppearance
  ) throws -> LiveCollection<LiveSection<Element, Key>> {
    try LiveCollection(from: self, ElementGrouping(by: key, order: order))
  }
}
