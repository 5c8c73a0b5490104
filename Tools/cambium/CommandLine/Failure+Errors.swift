// Converts errors of the engine and of inputs to messages for the user.

import Cambium
import FoundationEssentials

extension Failure {
  /// The failure that an error thrown by a command amounts to.
  ///
  /// - Parameters:
  ///   - error: The error that the command threw.
  ///   - database: The database that the command works on; hints name it.
  init(_ error: any Error, database: String?) {
    switch error {
    case let failure as Failure: self = failure
    case DatabaseError.noDatabase(let path) where Failure.unreadable(path) != nil,
      DatabaseError.unsupported(let path, _) where Failure.unreadable(path) != nil:
      self = Failure.unreadable(path) ?? .inputOutput("\(error)")
    case let error as DatabaseError:
      let hint = error.hint(NextCommand(database: database))
      self.init(error.exit, error.code, error.message, hint: hint)
    case let error as InputError:
      self.init(.negative, "bad_input", "\(error)", hint: error.hint)
    case let error as GitError: self.init(error.exit, "git", "\(error)", hint: error.hint)
    case let error as ChildProcessError:
      self.init(.inputOutput, "child_process", "\(error)", hint: error.hint)
    case is CancellationError: self = .stopped()
    default:
      if let error = DatabaseError(storage: error) {
        self.init(error, database: database)
      } else {
        let message = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
        self.init(.negative, "failed", message)
      }
    }
  }

  /// The failure where nothing is found at a path because a folder on the way may not be entered;
  /// nil where all of them may be.
  static func unreadable(_ path: String) -> Failure? {
    let files = FileManager.default
    var folder = path.hasPrefix("/") ? "/" : ""
    for name in path.split(separator: "/").map(String.init) + ["log"] {
      folder += (folder.isEmpty || folder == "/" ? "" : "/") + name
      var isFolder = false
      guard files.fileExists(atPath: folder, isDirectory: &isFolder), isFolder else { return nil }
      if files.isExecutableFile(atPath: folder) { continue }
      return Failure(
        .inputOutput, "unreadable", "\(folder) cannot be read: permission denied",
        hint: "check who owns the folder, and its permissions")
    }
    return nil
  }
}

/// The commands that hints name, written for the database at hand.
private struct NextCommand {
  let database: String?

  func callAsFunction(_ name: String, _ operands: String...) -> String {
    let words = [name, database.map(Shell.quoted) ?? "DB"] + operands.map(Shell.quoted)
    return "`cambium \(words.joined(separator: " "))`"
  }

  func tree(above path: NodePath) -> String {
    let parent = path.parent ?? .root
    return parent.isRoot ? self("tree") : self("tree", parent.description)
  }
}

extension DatabaseError {
  fileprivate var exit: ExitCode {
    switch self {
    case .invalid, .notUnique, .stillReferred, .conflict, .undoConflict, .misuse: .refused
    case .mergeConflict: .refused
    case .badKey, .badValue, .exists, .transactionTooLarge, .compacted: .refused
    case .notFound, .noSuchMoment, .noDatabase: .missing
    case .busy, .alreadyOpen: .busy
    case .unsupported, .needsMigration: .unsupported
    case .readOnly, .full, .stateBehind, .ioFailure, .outcomeUnknown, .closed: .inputOutput
    case .corrupt: .corrupt
    }
  }

  /// The name of the case as programs read it: `bad_key` for `badKey`.
  fileprivate var code: String {
    let name = Mirror(reflecting: self).children.first?.label ?? ""
    return name.map { $0.isUppercase ? "_" + $0.lowercased() : String($0) }.joined()
  }

  /// The problem, with values and sizes in the forms that the commands have for them.
  fileprivate var message: String {
    switch self {
    case .undoConflict(let conflicts): ConflictingChange.message("changed since", conflicts)
    case .mergeConflict(let conflicts):
      ConflictingChange.message("changed on both sides", conflicts)
    case .transactionTooLarge(let bytes, let limit):
      "the transaction has \(Quantity.bytes(bytes)), and the limit is \(Quantity.bytes(limit))"
    default: description
    }
  }

  fileprivate func hint(_ cambium: NextCommand) -> String? {
    switch self {
    case .badKey: "in a path, ~1 stands for a / inside a key and ~0 for a ~"
    case .badValue, .alreadyOpen: nil
    case .notFound(let path, _): "\(cambium.tree(above: path)) shows what is there"
    case .exists(let path, _):
      "choose another path, or remove what is there: \(cambium("delete", path.description))"
    case .invalid(let violations):
      violations.first.flatMap(\.path.parent).map {
        "`cambium schema` says what is declared for \($0.name)"
      }
    case .notUnique(_, _, let owner): "see \(cambium("get", owner.description))"
    case .stillReferred(_, let owner, _):
      "delete it first, or change what it refers to: \(cambium("get", owner.description))"
    case .conflict(_, _, let found):
      "see what it did with \(cambium("show", found.description)), then decide again"
    case .undoConflict:
      "undo the later changes first, or leave them with --skip-conflicts; --overwrite loses them"
    case .mergeConflict:
      "change one side, or choose: --skip-conflicts keeps what is here, --overwrite what is there"
    case .misuse: "this is a mistake in cambium; please report it"
    case .transactionTooLarge: "split it; an import takes a smaller --batch"
    case .busy: "wait longer for the other writer, for example with --wait 1min"
    case .noSuchMoment: "\(cambium("info")) says which moments there are"
    case .compacted(let oldest): "the oldest moment left is @\(oldest)"
    case .noDatabase:
      "check the path; `cambium import` creates databases, and so does `cambium put --create`"
    case .unsupported(let path, _) where Database.isBackup(path):
      "it is a backup: `cambium verify \(Shell.quoted(path))` checks it, and "
        + "`cambium restore \(Shell.quoted(path)) NEWDB` makes a database of it"
    case .unsupported:
      "check the path; another format opens with the version of cambium that wrote it"
    case .needsMigration: "the app whose steps these are migrates it"
    case .readOnly: "check who owns the directory and its files, and their permissions"
    case .full: "make room and run it again; what was stored before is unharmed"
    case .stateBehind: "make room or check the disk; nothing needs to be written again"
    case .corrupt:
      "\(cambium("verify")) says where; \(cambium("replay")) rebuilds a damaged state, and "
        + "\(cambium("repair")) says what can be saved of a damaged log"
    case .ioFailure: "check the disk and the permissions, then run it again"
    case .outcomeUnknown(let sequence):
      "check the disk; \(cambium("show", sequence.description)) tells whether it was stored"
    case .closed: "run it again"
    }
  }
}

extension GitError {
  fileprivate var exit: ExitCode {
    switch self {
    case .noRepository, .noCommit: .missing
    case .notInHistory, .badPath: .negative
    case .noObject, .badOutput: .inputOutput
    }
  }
}

extension NodePath {
  /// The path as messages name it.
  fileprivate var name: String { isRoot ? "the root" : description }
}

extension Failure {
  /// Reports a query, or a part of a declaration, that cannot be read, with the place.
  init(_ error: QueryError, help command: String) {
    self.init(
      .usage, "bad_query", error.reason, hint: "`cambium help \(command)` has the language")
    if let text = error.text, !text.contains("\n") {
      excerpt = Excerpt(text: text, offset: error.offset)
    }
  }
}
