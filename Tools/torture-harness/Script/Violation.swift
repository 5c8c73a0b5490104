/// A promise that was broken, and how.
struct Violation: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Demands something of a database.
func demand(_ isSo: Bool, _ otherwise: @autoclosure () -> String) throws(Violation) {
  if !isSo { throw Violation(otherwise()) }
}
