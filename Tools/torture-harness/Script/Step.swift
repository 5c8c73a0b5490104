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
  case declare(NodePath, CollectionDefinition)
  /// Lets a node refer to the blob that another one refers to.
  case share(NodePath, from: NodePath)
  /// Lets a node refer to a blob that is stored already, and stores nothing.
  case refer(NodePath, [UInt8])
  /// A part of the transaction that is kept, or undone as a whole.
  case attempt([Step], isKept: Bool)
  /// A change that the database must refuse, and that then changes nothing.
  case refused(NodePath, Value)

  /// The error with which a body ends that is to be undone.
  struct Undone: Error {}

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
    case .declare(let path, let definition): try tx.declare(path, definition)
    case .share(let path, let source):
      guard let value = try tx[source].value else { throw Violation("nothing is at \(source)") }
      try tx.set(path, to: value)
    case .refer(let path, let bytes): try tx.set(path, to: .blob(Step.descriptor(bytes, tx)))
    case .attempt(let steps, let isKept): try Step.perform(steps, isKept: isKept, tx)
    case .refused(let path, let value): try Step.demandRefusal(path, value, tx)
    }
  }

  /// The blob with a content, which this does not store.
  private static func descriptor(
    _ bytes: [UInt8], _ tx: borrowing Database.Transaction
  ) throws -> Blob {
    var blob: Blob?
    try undoing(tx) { blob = try tx.store(Data(bytes)) }
    guard let blob else { throw Failure("storing gave no blob") }
    return blob
  }

  private static func perform(
    _ steps: [Step], isKept: Bool, _ tx: borrowing Database.Transaction
  ) throws {
    if isKept { return try tx.attempt { for step in steps { try step.perform(tx) } } }
    try undoing(tx) {
      for step in steps { try step.perform(tx) }
      try tx.event("undone", true)
      tx.annotate("undone", "yes")
      try tx.advance(Script.consumer, to: .zero)
    }
  }

  /// Runs a part that is undone.
  private static func undoing(
    _ tx: borrowing Database.Transaction, _ body: () throws -> Void
  ) throws {
    do {
      try tx.attempt {
        try body()
        throw Undone()
      }
    } catch is Undone {}
  }

  private static func demandRefusal(
    _ path: NodePath, _ value: Value, _ tx: borrowing Database.Transaction
  ) throws {
    do { try tx.set(path, to: value) } catch DatabaseError.invalid, DatabaseError.notUnique {
      return
    }
    throw Violation("P2: \(path) took \(value), which breaks a rule")
  }
}
