// The words of errors: the problem, and the remedy.

import FoundationEssentials

extension DatabaseError: CustomStringConvertible, CustomDebugStringConvertible {
  /// The problem, in one sentence without a capital and a full stop: `nothing at users/ada: it was
  /// never there`.
  public var description: String {
    switch self {
    case .badKey(let key, let reason): "“\(key)” cannot be a key: \(reason)"
    case .badValue(let path, let reason): "\(path.inWords) cannot hold this value: \(reason)"
    case .notFound(let path, let reason): "nothing at \(path.inWords): \(reason)"
    case .exists(let path, let reason): "\(path.inWords) is taken: \(reason)"
    case .invalid(let violations): violations.map(\.description).joined(separator: "; ")
    case .notUnique(let path, let index, let owner):
      "\(path.inWords) has the same \(index.joined(separator: ", ")) as \(owner.inWords)"
    case .stillReferred(let path, let owner, let property):
      "\(path.inWords) cannot go: \(property) of \(owner.inWords) refers to it"
    case .conflict(.root, let expected, let found):
      "transaction \(expected) is not the newest: \(found) is"
    case .conflict(let path, let expected, let found):
      "\(path.inWords) was expected at transaction \(expected), but \(found) changed it"
    case .undoConflict(let conflicts):
      "changed since: \(conflicts.map(\.description).joined(separator: "; "))"
    case .mergeConflict(let conflicts):
      "changed on both sides: \(conflicts.map(\.description).joined(separator: "; "))"
    case .misuse(let reason): reason
    case .transactionTooLarge(let bytes, let limit):
      "the transaction has \(bytes) bytes, and the limit is \(limit)"
    default: words
    }
  }

  /// The same for what is wrong with the database, and not with the request.
  private var words: String {
    switch self {
    case .busy(let reason): "the database is busy: \(reason)"
    case .stateBehind(let applied, let head, let reason):
      "transaction \(head) is stored, and only what came up to \(applied) can be read: \(reason)"
    case .alreadyOpen(let path): "\(path) is open already"
    case .noSuchMoment(let reason): "no such moment: \(reason)"
    case .compacted(let oldest): "the history before transaction \(oldest) was compacted away"
    case .noDatabase(let path): "no database at \(path)"
    case .unsupported(let path, let reason): "\(path) cannot be opened: \(reason)"
    case .needsMigration(let path, let steps):
      "\(path.inWords) is not migrated yet: \(steps.joined(separator: "; "))"
    case .readOnly(let reason): "the database can only be read: \(reason)"
    case .full(let reason): "no space left: \(reason)"
    case .corrupt(let reason): "the database is damaged: \(reason)"
    case .ioFailure(let reason): "the disk failed: \(reason)"
    case .outcomeUnknown(let sequence):
      "the disk failed while transaction \(sequence) was committed"
    case .closed(let reason): "the database was closed: \(reason)"
    default: ""
    }
  }

  /// The case and the sentence: `DatabaseError.notFound: nothing at users/ada: …`.
  public var debugDescription: String {
    let name = Mirror(reflecting: self).children.first?.label ?? ""
    return "DatabaseError.\(name): \(description)"
  }
}

extension DatabaseError: LocalizedError {
  /// The ``description``, which `localizedDescription` gives as well. It is in English.
  public var errorDescription: String? { description }

  /// The remedy, in a sentence or two.
  public var recoverySuggestion: String? {
    switch self {
    case .badKey: "Choose another key; in a path, ~1 stands for a / inside a key and ~0 for a ~."
    case .badValue, .invalid: "Correct the values, and write again."
    case .notFound: "Create it first."
    case .exists: "Choose another path, or remove what is there."
    case .notUnique: "Choose other values, or change the record that has them."
    case .stillReferred: "Delete what refers to it first, or change what that refers to."
    case .conflict: "Read again, and repeat the change."
    case .undoConflict: "Undo the later changes first, or choose to leave or to overwrite them."
    case .mergeConflict: "Make both sides agree, or choose to keep one or the other."
    case .misuse: nil
    case .transactionTooLarge: "Split the transaction."
    case .busy: "Try again."
    case .stateBehind, .full: "Make room, and try again. What was stored before is unharmed."
    case .alreadyOpen: "Share the database that is open."
    case .noSuchMoment: "Choose a moment in range."
    case .compacted: "Read a snapshot, and go on from its transaction."
    default: remedy
    }
  }

  private var remedy: String? {
    switch self {
    case .noDatabase: "Check the path, or allow it to be created."
    case .unsupported: "Check the path; another format opens with the version that wrote it."
    case .needsMigration: "Open it with the app whose steps these are, and migrate."
    case .readOnly: "Open it for writing; check who owns the directory, and its permissions."
    case .corrupt:
      "`cambium verify` finds the place. Restore a backup, or rebuild the state if it alone is "
        + "damaged."
    case .ioFailure: "Check the disk and the permissions, and try again."
    case .outcomeUnknown:
      "Check the disk, and open the database again; its newest transaction shows what was stored."
    case .closed: "Open it again."
    default: nil
    }
  }
}

extension NodePath {
  /// The path in a sentence.
  var inWords: String { isRoot ? "the root" : description }
}
