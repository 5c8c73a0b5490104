// The mark of a record that describes an erasure.

extension TransactionRecord {
  /// The name of the event with which the record of an erasure vouches for the remaining
  /// operations.
  static let erasureEventName = "cambium.erasure"

  /// True if it records an erasure.
  var isErasure: Bool {
    var operations = OperationReader(operations)
    guard case .event(let name, _)? = try? operations.next() else { return false }
    return name == TransactionRecord.erasureEventName
  }
}
