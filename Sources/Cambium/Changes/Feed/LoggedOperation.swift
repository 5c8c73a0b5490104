/// One change inside a transaction as it was logged, without the values before it.
///
/// ``Commit/changes`` has the old and new values; it needs the history, which compaction cuts. The
/// operations of archived transactions stay.
public enum LoggedOperation: Hashable, Sendable {
  /// A node got a value or a record; nil leaves it without one of its own.
  case set(NodePath, Value?)
  /// Properties of a record were set, or taken out where the value is nil.
  case update(NodePath, [Update])
  /// A property's value was changed in place, or the node's own where the property is nil.
  case change(NodePath, property: String?, ValueChange<Value>)
  /// A node was removed, with all below it.
  case remove(NodePath)
  /// A node that a transaction had removed was restored, with all below it.
  case restore(NodePath, removedAt: SequenceNumber)
  /// A node was moved, with all below it.
  case move(NodePath, to: NodePath)
  /// A name was used for the first time.
  case define(String)
  /// The application logged an event.
  case event(Event)
  /// A collection was declared, or its declaration taken back where that is nil.
  case declare(NodePath, CollectionDefinition?)

  /// A property and its new value.
  public struct Update: Hashable, Sendable {
    /// The property's name.
    public let property: String
    /// The value that it was set to; nil where it was taken out.
    public let value: Value?
  }
}

extension Commit {
  /// Reads the transaction's operations, in order, as they were logged.
  ///
  /// - Returns: The operations, definitions of names included.
  /// - Throws: ``DatabaseError/corrupt(reason:)``, ``DatabaseError/closed(reason:)``; unless the
  ///   transaction is archived, ``DatabaseError/compacted(oldest:)`` once it was dropped.
  /// - Complexity: one read of the record, which is held whole.
  public func operations() throws -> [LoggedOperation] {
    try translating {
      let stored = try archived ?? directory.log.read { try $0.record(sequence) }.operations
      var names = directory.stateInUse.catalog
      var operations: [LoggedOperation] = []
      var reader = OperationReader(stored)
      while let operation = try reader.next() {
        if case .define(let id, _) = operation, id >= names.count {
          names = try directory.currentState().catalog()
        }
        operations.append(try LoggedOperation(operation, names))
      }
      return operations
    }
  }
}

extension LoggedOperation {
  init(_ operation: Operation, _ names: Catalog) throws {
    switch operation {
    case .set(let path, let content):
      self = .set(path, try content.bytes.lend { try Value($0, content.kind, names) })
    case .update(let path, let updates):
      self = .update(
        path,
        try updates.map {
          Update(
            property: try names.name(of: $0.name), value: try $0.value.map { try Value(stored: $0) }
          )
        })
    case .change(let path, let target, let change):
      self = .change(
        path, property: try target.map { try names.name(of: $0) },
        try change.map { try Value(stored: $0) })
    case .remove(let path): self = .remove(path)
    case .restore(let path, let sequence):
      self = .restore(path, removedAt: SequenceNumber(sequence))
    case .move(let source, let destination): self = .move(source, to: destination)
    case .define(_, let name): self = .define(name)
    case .event(let name, let payload):
      self = .event(Event(name: name, payload: try Value(stored: payload)))
    case .declare(let path, let definition):
      self = .declare(
        path, try definition.map { try CollectionDefinition(try Value(stored: $0)) })
    }
  }
}

extension Value {
  fileprivate init(stored bytes: [UInt8]) throws { self = try bytes.lend { try Value($0) } }
}
