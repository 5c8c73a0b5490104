// From errors of the storage to errors that an app can act on.

import LMDB

extension DatabaseError {
  /// Translates an error of the storage into one that an app can act on.
  init(_ error: StorageError) {
    let text = error.description
    switch error.kind {
    case .diskFull: self = .full(reason: text)
    case .mapFull: self = .full(reason: "\(text); raise Options.sizeMax")
    case .inputOutput, .uncertain, .missing, .invalid, .badTransaction, .noAddressSpace:
      self = .ioFailure(reason: text)
    case .corrupt: self = .corrupt(reason: text)
    case .busy: self = .busy(reason: text)
    case .alreadyOpen: self = .alreadyOpen(path: text)
    case .closed: self = .closed(reason: text)
    case .readOnly: self = .readOnly(reason: text)
    case .unsupported, .notRegular: self = .unsupported(path: "", reason: text)
    }
  }
}

extension DatabaseError {
  /// Translates an error of the storage that reached a caller as it is; nil for any other error.
  package init?(storage error: any Error) {
    switch error {
    case let error as StorageError: self.init(error)
    case let damage as FileDamage: self.init(damage)
    default: return nil
    }
  }
}

extension DatabaseError {
  /// Translates the damage of a file that LMDB must not open into an error for an app.
  init(_ damage: FileDamage) {
    switch damage {
    case .unreadable: self = .ioFailure(reason: "\(damage)")
    case .unsupported: self = .unsupported(path: "", reason: "\(damage)")
    case .notEnvironment, .damaged, .transactionGone: self = .corrupt(reason: damage.reason)
    }
  }
}

/// Runs a body that may fail in the storage, and throws the error that an app can act on.
@inline(__always)
func translating<R: ~Copyable>(_ body: () throws -> R) throws -> R {
  do {
    return try body()
  } catch let error as StorageError {
    throw DatabaseError(error)
  } catch let damage as FileDamage {
    throw DatabaseError(damage)
  }
}

/// Runs a body that opens a database, and adds the database's path to errors that include one.
func naming<R>(_ path: String, _ body: () throws -> R) throws -> R {
  do {
    return try translating(body)
  } catch DatabaseError.alreadyOpen {
    throw DatabaseError.alreadyOpen(path: path)
  } catch DatabaseError.unsupported(_, let reason) {
    throw DatabaseError.unsupported(path: path, reason: reason)
  }
}
