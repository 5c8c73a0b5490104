// The content of the record that a speculation would log, as a commit shows it.

extension Speculation {
  /// The changes, in path order, as ``Commit/changes`` would have them. Reading it throws
  /// ``DatabaseError/misuse(reason:)`` once the speculation is over.
  ///
  /// - Complexity: reads the operations; walking, O(log n) for each change.
  public var changes: Changes { get throws { try running.record().changes } }

  /// The events, in order, as ``Commit/events`` would have them. Reading it throws as ``changes``
  /// does.
  public var events: [Event] { get throws { try running.record().events } }

  /// Reads the operations that would be logged, in order, as ``Commit/operations()`` would give
  /// them.
  ///
  /// - Returns: The operations, definitions of names included; none if the transaction would take
  ///   no place in the log.
  /// - Throws: ``DatabaseError/misuse(reason:)`` once the speculation is over.
  public func operations() throws -> [LoggedOperation] {
    try running.use()
    var operations: [LoggedOperation] = []
    var reader = OperationReader(running.operations.bytes)
    while let operation = try reader.next() {
      operations.append(try LoggedOperation(operation, running.catalog))
    }
    return operations
  }

  /// The changes within a path.
  func changes(within path: NodePath) throws -> Changes {
    try changes.clipped(to: path)
  }
}

extension Database.Transaction {
  /// The changes that the transaction has made so far, in the order of their paths.
  ///
  /// - Throws: ``DatabaseError/misuse(reason:)`` after the transaction has ended.
  package func changesSoFar() throws -> Changes { try running.record().changes }
}
