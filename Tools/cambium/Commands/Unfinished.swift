extension Failure {
  /// Stands in for a command's body until it is written.
  static func unfinished(_ name: String) -> Failure {
    Failure(.negative, "unfinished", "\(name) is not finished")
  }
}
