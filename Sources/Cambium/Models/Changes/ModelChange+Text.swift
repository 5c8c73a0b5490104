// The texts of changes of models: a model is named by its id, and what an app wants to know of an
// update is which properties it touched.

extension ModelChange: CustomStringConvertible, CustomDebugStringConvertible {
  /// The id and what became of it: `created Flight/12`, `updated Flight/12: number, status`,
  /// `deleted Flight/12`.
  public var description: String {
    switch self {
    case .created: "created \(id)"
    case .updated:
      "updated \(id)" + (properties.isEmpty ? "" : ": \(properties.joined(separator: ", "))")
    case .deleted: "deleted \(id)"
    }
  }

  /// The same with the models: `updated Flight/12: number, from Flight(…) to Flight(…)`.
  public var debugDescription: String {
    switch self {
    case .created(let new): "\(description): \(String(reflecting: new))"
    case .updated(let new, from: let old):
      "\(description), from \(String(reflecting: old)) to \(String(reflecting: new))"
    case .deleted(let old): "\(description): \(String(reflecting: old))"
    }
  }
}

extension ModelRevision: CustomStringConvertible, CustomDebugStringConvertible {
  /// The change and its transaction: `updated Flight/12: number, transaction 9 of
  /// 2013-01-01T10:00:00Z by ada`.
  public var description: String { "\(change), \(transaction)" }

  /// Both in full.
  public var debugDescription: String {
    "\(change.debugDescription), \(transaction.debugDescription)"
  }
}
