/// A description of the wanted models of a type, and of their order: plain data, which any
/// ``ModelStore`` can answer.
///
///     let late = try await store.list(
///       Listing<Flight>().where { $0.departureDelay > 60 }.order(by: \.scheduled).limit(50))
public struct Listing<M: Model>: Hashable, Sendable, Refinable {
  /// The condition that they meet; nil for all.
  public private(set) var condition: Condition?
  /// The properties by which they are ordered; ties are broken by the key.
  public private(set) var orderings: [Ordering] = []
  /// The largest number of results.
  public private(set) var limit: Int?
  /// The number of results that are skipped at the start.
  public private(set) var offset = 0

  /// Asks for all models, in the order of their keys.
  public init() {}

  /// Narrows to what passes, one condition per line; a second call narrows further.
  public func `where`(@ConditionBuilder _ condition: (Fields<M>) -> Condition) -> Listing {
    matching(condition(Fields<M>()))
  }

  /// Narrows to what passes a condition that was made, or read from text, before.
  public func matching(_ condition: Condition) -> Listing {
    changed { $0.condition = $0.condition.map { $0 && condition } ?? condition }
  }

  /// Sorts; a second call sorts among equals.
  ///
  /// - Parameter terms: Properties, each ascending unless it says `.descending`.
  /// - Returns: The sorted listing.
  public func order<each T: OrderTerm>(by terms: repeat @escaping (Fields<M>) -> each T) -> Listing
  {
    let orderings = Fields<M>.orderings(repeat (each terms)(Fields<M>()))
    return changed { $0.orderings += orderings }
  }

  /// Ends after so many, of which the first `offset` are left out before.
  public func limit(_ count: Int, offset: Int = 0) -> Listing {
    changed { ($0.limit, $0.offset) = (max(count, 0), max(offset, 0)) }
  }
}
