/// One change inside a transaction, as it was logged: what was done, not what it met.
///
/// ``Commit/changes`` says what became of it, with old and new values; that needs the history,
/// which compaction cuts. The operations of archived transactions stay.
public enum LoggedOperation: Hashable, Sendable {
  /// A node got a value or a record; nil leaves it without one of its own.
  case set(Path, Value?)
  /// Properties of a record were set, or taken out where the value is nil.
  case update(Path, [Update])
  /// A number was added to a property, or to the node's own value where that is nil.
  case increment(Path, property: String?, by: Value)
  /// An element was added at the end of an array.
  case append(Path, property: String?, Value)
  /// An element was inserted into an array.
  case insert(Path, property: String?, at: UInt64, Value)
  /// An element was taken out of an array.
  case removeElement(Path, property: String?, at: UInt64)
  /// An element was put into a set, if it was not in it.
  case include(Path, property: String?, Value)
  /// An element was taken out of a set, if it was in it.
  case exclude(Path, property: String?, Value)
  /// A key of a dictionary got a value, or lost it where that is nil.
  case setEntry(Path, property: String, key: String, Value?)
  /// A number was added to the one under a key of a dictionary.
  case incrementEntry(Path, property: String, key: String, by: Value)
  /// A node was removed, with all below it.
  case remove(Path)
  /// A node that a transaction had removed was restored, with all below it.
  case restore(Path, removedAt: SequenceNumber)
  /// A node was moved, with all below it.
  case move(Path, to: Path)
  /// A name was used for the first time.
  case define(String)
  /// The application logged an event.
  case event(Event)
  /// A collection was declared, or its declaration taken back where that is nil.
  case declare(Path, CollectionDefinition?)

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
      var names = directory.catalog
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
  fileprivate init(_ operation: Operation, _ names: Catalog) throws {
    func property(_ target: Target) throws -> String? { try target.map { try names.name(of: $0) } }
    switch operation {
    case .set(let path, let content): self = .set(path, try content.value(names))
    case .update(let path, let updates):
      self = .update(
        path,
        try updates.map {
          Update(
            property: try names.name(of: $0.name), value: try $0.value.map { try Value(stored: $0) }
          )
        })
    case .increment(let path, let target, let value):
      self = .increment(path, property: try property(target), by: try Value(stored: value))
    case .append(let path, let target, let value):
      self = .append(path, property: try property(target), try Value(stored: value))
    case .insert(let path, let target, let position, let value):
      self = .insert(
        path, property: try property(target), at: position, try Value(stored: value))
    case .removeElement(let path, let target, let position):
      self = .removeElement(path, property: try property(target), at: position)
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
    case .edit(let path, let target, let edit):
      self = try LoggedOperation.edit(path, try property(target), edit)
    }
  }

  private static func edit(
    _ path: Path, _ property: String?, _ edit: Operation.Edit
  ) throws -> LoggedOperation {
    switch edit {
    case .include(let element): .include(path, property: property, try Value(stored: element))
    case .exclude(let element): .exclude(path, property: property, try Value(stored: element))
    case .setEntry(let key, let value):
      .setEntry(path, property: property ?? "", key: key, try value.map { try Value(stored: $0) })
    case .incrementEntry(let key, let step):
      .incrementEntry(path, property: property ?? "", key: key, by: try Value(stored: step))
    }
  }
}

extension Content {
  fileprivate func value(_ names: Catalog) throws -> Value? {
    switch kind {
    case .none: nil
    case .scalar: try Value(stored: bytes)
    case .record: .map(try bytes.lend { try Record(stored: $0, names) })
    }
  }
}

extension Value {
  fileprivate init(stored bytes: [UInt8]) throws { self = try bytes.lend { try Value($0) } }
}
