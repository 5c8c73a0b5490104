/// A domain as the app applies it to values of a type, so that all messages come at once.
struct ValueDomain<V: PropertyValue>: Sendable {
  /// The domain as it is declared.
  let definition: Domain
  /// The message for a value that is refused.
  let message: String
  private let replacement: @Sendable (V) -> V?

  /// The nearest value of the domain; nil for a value inside, and for one that is absent.
  func nearest(_ value: V) -> V? { value._isAbsent ? nil : replacement(value) }

  /// The domain of some values.
  init(_ values: [V], _ treatment: Domain.Treatment) {
    definition = Domain(.list(values.map(\.storedValue)), treatment)
    message = "must be one of \(values.map { "\($0)" }.joined(separator: ", "))"
    replacement = { values.contains($0) ? nil : values.first ?? $0 }
  }
}

extension ValueDomain where V: Comparable {
  /// The domain of the values between two bounds; nil for no bound.
  init(_ least: V?, _ greatest: V?, _ treatment: Domain.Treatment) {
    definition = Domain(.range(least?.storedValue, greatest?.storedValue), treatment)
    message =
      switch (least, greatest) {
      case (let least?, let greatest?): "must be from \(least) to \(greatest)"
      case (let least?, nil): "must be \(least) at least"
      case (_, let greatest): "must be \(greatest.map { "\($0)" } ?? "anything") at most"
      }
    replacement = { value in
      // A value without an order, such as NaN, is outside.
      if let greatest, !(value <= greatest) { return greatest }
      if let least, !(value >= least) { return least }
      return nil
    }
  }
}
