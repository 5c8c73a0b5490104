// Selecting properties of the models that answer a query.
//
// The pack takes any number of properties. The forms for two, three and four are disfavoured and
// add nothing to it, except that Swift 6.3 cannot type-check a result of a pack where nothing says
// of what type it is:
//
//     print(try query.select(\.number, \.scheduled).fetch().count)

extension ModelQuery {
  /// Only some properties of the models that answer.
  ///
  /// - Parameter properties: The properties, also through references: `\.origin.name`.
  /// - Returns: A selection, which fetches tuples of the properties' types.
  @inlinable
  public func select<each T: PropertyTerm>(
    _ properties: repeat @escaping (Fields<M>) -> each T
  ) -> Selection<(repeat (each T).V)> {
    let fields = Fields<M>()
    return Selection(request, of: (repeat (each properties)(fields).operand))
  }

  /// Only one property of the models that answer.
  ///
  ///     let longest = try query.select(\.distance).fetch().max()
  ///
  /// - Parameter property: The property, also through references.
  /// - Returns: A selection, which fetches values of the property's type.
  @inlinable
  public func select<T: PropertyTerm>(_ property: @escaping (Fields<M>) -> T) -> Selection<T.V> {
    Selection(request, of: property(Fields<M>()).operand)
  }

  /// Only two properties of the models that answer, as tuples.
  @inlinable @_disfavoredOverload
  public func select<A: PropertyTerm, B: PropertyTerm>(
    _ first: @escaping (Fields<M>) -> A, _ second: @escaping (Fields<M>) -> B
  ) -> Selection<(A.V, B.V)> {
    let fields = Fields<M>()
    return Selection(request, of: (first(fields).operand, second(fields).operand))
  }

  /// Only three properties of the models that answer, as tuples.
  @inlinable @_disfavoredOverload
  public func select<A: PropertyTerm, B: PropertyTerm, C: PropertyTerm>(
    _ first: @escaping (Fields<M>) -> A, _ second: @escaping (Fields<M>) -> B,
    _ third: @escaping (Fields<M>) -> C
  ) -> Selection<(A.V, B.V, C.V)> {
    let fields = Fields<M>()
    return Selection(
      request, of: (first(fields).operand, second(fields).operand, third(fields).operand))
  }

  /// Only four properties of the models that answer, as tuples.
  @inlinable @_disfavoredOverload
  public func select<A: PropertyTerm, B: PropertyTerm, C: PropertyTerm, D: PropertyTerm>(
    _ first: @escaping (Fields<M>) -> A, _ second: @escaping (Fields<M>) -> B,
    _ third: @escaping (Fields<M>) -> C, _ fourth: @escaping (Fields<M>) -> D
  ) -> Selection<(A.V, B.V, C.V, D.V)> {
    let fields = Fields<M>()
    return Selection(
      request,
      of: (
        first(fields).operand, second(fields).operand, third(fields).operand, fourth(fields).operand
      ))
  }
}
