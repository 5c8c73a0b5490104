// The metadata that every write stores beside its operations: texts, and the actor.

extension [String: String] {
  /// Metadata that includes the actor of a change.
  ///
  /// - Parameter actor: The actor, stored under `actor`; nil leaves the metadata unchanged.
  /// - Returns: The metadata.
  func signed(by actor: String?) -> [String: String] {
    guard let actor else { return self }
    var metadata = self
    metadata["actor"] = actor
    return metadata
  }
}
