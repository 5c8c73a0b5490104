import Cambium
import FoundationEssentials

/// One change inside a transaction of a script: always one that the database must accept.
enum Step: Sendable {
  case set(Path, Value)
  case blob(Path, [UInt8])
  case update(Path, String, Value?)
  case increment(Path, by: Int64)
  case append(Int64, to: Path)
  /// Puts a number into the set that a node is, or has as a property.
  case include(Int64, into: Path, String?)
  case exclude(Int64, from: Path, String?)
  /// Gives a key of a record's dictionary, its property, a number, or takes the entry out.
  case setEntry(Path, String, String, Int64?)
  case incrementEntry(Path, String, String, by: Int64)
  case remove(Path)
  case move(Path, to: Path)
  case restore(Path, removedAt: UInt64)
  case event(Int64)
  case declare(CollectionDefinition)

  /// Makes the change in a database.
  func perform(_ tx: borrowing Transaction) throws {
    switch self {
    case .set(let path, let value): try tx.set(path, to: value)
    case .blob(let path, let bytes): try tx.set(path, to: .blob(try tx.store(Data(bytes))))
    case .update(let path, let name, let value): try tx.update(path, [(name, value)])
    case .increment(let path, let step): try tx.increment(path, by: .integer(step))
    case .append(let element, let path): try tx.append(.integer(element), to: path)
    case .include(let element, let path, let name):
      try tx.insert(.integer(element), into: path, name)
    case .exclude(let element, let path, let name):
      try tx.remove(.integer(element), from: path, name)
    case .setEntry(let path, let name, let key, let number?):
      try tx.set(path, name, key, to: .integer(number))
    case .setEntry(let path, let name, let key, nil):
      try tx.removeValue(forKey: key, from: path, name)
    case .incrementEntry(let path, let name, let key, let step):
      try tx.increment(path, name, key, by: .integer(step))
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
