@testable import Cambium

/// One call on a transaction, so that a database and the model can be asked for the same.
enum Call: Sendable {
  case set(Path, Value)
  case update(Path, [(String, Value?)])
  case increment(Path, String?, by: Value)
  case append(Value, to: Path, String?)
  case insert(Value, at: Int, into: Path, String?)
  case removeElement(at: Int, from: Path, String?)
  case include(Value, into: Path, String?)
  case exclude(Value, from: Path, String?)
  case setEntry(Path, String, String, Value?)
  case incrementEntry(Path, String, String, by: Value)
  case remove(Path)
  case restore(Path, removedAt: SequenceNumber)
  case move(Path, to: Path)
  case define(String)
  case event(String, Value)
  case expect(Path, at: SequenceNumber)

  /// Makes the call.
  ///
  /// - Returns: The result of `remove`; true for all other calls.
  func perform(_ tx: borrowing Transaction) throws -> Bool {
    switch self {
    case .set(let path, let value): try tx.set(path, to: value)
    case .update(let path, let updates): try tx.update(path, updates)
    case .increment(let path, let property, let step): try tx.increment(path, property, by: step)
    case .append(let element, let path, let property): try tx.append(element, to: path, property)
    case .insert(let element, let position, let path, let property):
      try tx.insert(element, at: position, into: path, property)
    case .removeElement(let position, let path, let property):
      try tx.removeElement(at: position, from: path, property)
    case .include(let element, let path, let property):
      try tx.insert(element, into: path, property)
    case .exclude(let element, let path, let property):
      try tx.remove(element, from: path, property)
    case .setEntry(let path, let property, let key, let value?):
      try tx.set(path, property, key, to: value)
    case .setEntry(let path, let property, let key, nil):
      try tx.removeValue(forKey: key, from: path, property)
    case .incrementEntry(let path, let property, let key, let step):
      try tx.increment(path, property, key, by: step)
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
  var path: Path? {
    switch self {
    case .set(let path, _), .update(let path, _), .increment(let path, _, _),
      .append(_, let path, _),
      .insert(_, _, let path, _), .removeElement(_, let path, _), .remove(let path),
      .restore(let path, _), .move(_, let path), .expect(let path, _), .include(_, let path, _),
      .exclude(_, let path, _), .setEntry(let path, _, _, _), .incrementEntry(let path, _, _, _):
      path
    case .define, .event: nil
    }
  }
}

/// Why a call must be refused.
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
