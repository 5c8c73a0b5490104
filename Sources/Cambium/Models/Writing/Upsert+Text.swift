// The texts of what writes of models have done.

extension Update: CustomStringConvertible, CustomDebugStringConvertible {
  /// The id and the properties that differ: `updated Flight/12: number, status`, or
  /// `unchanged Flight/12`.
  public var description: String {
    properties.isEmpty
      ? "unchanged \(after.id)" : "updated \(after.id): \(properties.joined(separator: ", "))"
  }

  /// The same with the models: `updated Flight/12: number, from Flight(…) to Flight(…)`.
  public var debugDescription: String {
    "\(description), from \(String(reflecting: before)) to \(String(reflecting: after))"
  }
}

extension Upserts: CustomStringConvertible, CustomDebugStringConvertible {
  /// The number of models of each outcome: `inserted 2, updated 1, unchanged 40`.
  public var description: String {
    "inserted \(inserted.count), updated \(updated.count), unchanged \(unchanged.count)"
  }

  /// The ids by their outcomes: `inserted [Flight/1, Flight/2], updated [], unchanged [Flight/3]`.
  public var debugDescription: String {
    "inserted \(Upserts.list(inserted)), updated \(Upserts.list(updated)), "
      + "unchanged \(Upserts.list(unchanged))"
  }

  private static func list(_ ids: [ModelID<M>]) -> String {
    "[\(ids.map(\.description).joined(separator: ", "))]"
  }
}
