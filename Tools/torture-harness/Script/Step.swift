import Cambium
import FoundationEssentials

/// One change inside a transaction of a script: always one that the database must accept.
enum Step: Sendable {
  case set(NodePath, Value)
  case blob(NodePath, [UInt8])
  case update(NodePath, String, Value?)
  /// Changes the value of a property in place, or the node's own.
  case change(NodePath, String?, ValueChange<Value>)
  case remove(NodePath)
  case move(NodePath, to: NodePath)
  case restore(NodePath, removedAt: UInt64)
  case event(Int64)
  case declare(CollectionDefinition)

  /// Makes the change in a database.
  func perform(_ tx: borrowing Database.Transaction) throws {
    switch self {
    case .set(let path, let value): try tx.set(path, to: value)
    case .blob(let path, let bytes): try tx.set(path, to: .blob(try tx.store(Data(bytes))))
    case .update(let path, let name, let value): try tx.update(path, [(name, value)])
    case .change(let path, let name, let change): try tx.change(path, name, change)
    case .remove(let path):
      if try !tx.remove(path) { throw Violation("there was nothing at \(path) to remove") }
    case .move(let source, let destination): try tx.move(source, to: destination)
    case .restore(let path, let sequence):
      try tx.restore(path, removedAt: SequenceNumber(sequence))
    case .event(let number): try tx.event("said", .integer(number))
    case .declare(let definition): try tx.declare(Members.path, definition)
    }
  }
}
