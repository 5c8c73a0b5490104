@testable import Cambium

/// One call on a transaction, so that a database and the model can be asked for the same.
enum Call: Sendable {
  case set(NodePath, Value)
  case update(NodePath, [(String, Value?)])
  case change(NodePath, String?, ValueChange<Value>)
  case remove(NodePath)
  case restore(NodePath, removedAt: SequenceNumber)
  case move(NodePath, to: NodePath)
  case define(String)
  case event(String, Value)
  case expect(NodePath, at: SequenceNumber)

  /// Makes the call.
  ///
  /// - Returns: The result of `remove`; true for all other calls.
  func perform(_ tx: borrowing Database.Transaction) throws -> Bool {
    switch self {
    case .set(let path, let value): try tx.set(path, to: value)
    case .update(let path, let updates): try tx.update(path, updates)
    case .change(let path, let property, let change): try tx.change(path, property, change)
    case .remove(let path): return try tx.remove(path)
    case .restore(let path, let sequence): try tx.restore(path, removedAt: sequence)
    case .move(let source, let destination): try tx.move(source, to: destination)
    case .define(let name): try tx.define(name)
    case .event(let name, let payload): try tx.event(name, payload)
    case .expect(let path, let sequence): try tx.expect(path, at: sequence)
    }
    return true
  }

  /// The node that the call is about, if there is one.
  var path: NodePath? {
    switch self {
    case .set(let path, _), .update(let path, _), .change(let path, _, _), .remove(let path),
      .restore(let path, _), .move(_, let path), .expect(let path, _):
      path
    case .define, .event: nil
    }
  }
}

/// The reason why a call must be refused.
enum Refusal: Error, Equatable {
  case badValue
  case notFound
  case exists
  case conflict
  case compacted

  /// The refusal that an error of the database stands for, or nil for any other error.
  init?(_ error: any Error) {
    switch error as? DatabaseError {
    case .badValue: self = .badValue
    case .notFound: self = .notFound
    case .exists: self = .exists
    case .conflict: self = .conflict
    case .compacted: self = .compacted
    default: return nil
    }
  }
}
