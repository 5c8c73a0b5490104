// The metadata that every write stores beside its operations: texts, and who makes it.

extension [String: String] {
  /// Metadata that also says who makes a change.
  ///
  /// - Parameter actor: Who, kept under `actor`; nil leaves the metadata as it is.
  /// - Returns: The metadata.
  func signed(by actor: String?) -> [String: String] {
    guard let actor else { return self }
    var metadata = self
    metadata["actor"] = actor
    return metadata
  }
}
