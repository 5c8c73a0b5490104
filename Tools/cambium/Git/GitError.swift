/// The reason why a git repository could not be read, sorted by what the user can do about it.
///
/// A missing or failing `git` is a ``ChildProcessError``.
enum GitError: Error, Equatable {
  /// There is no repository at the path. Recovery: name its top folder, or its bare repository.
  case noRepository(path: String, reason: String)

  /// The repository has no such commit. Recovery: check the name; an empty repository has none.
  case noCommit(revision: String, path: String, reason: String)

  /// The commit after which to continue is not in the first-parent history. Recovery: the history
  /// was rewritten, or another branch is asked for; import into another path.
  case notInHistory(commit: String, head: String)

  /// A path cannot be one of ours. Recovery: skip such paths.
  case badPath(commit: String, path: String, reason: String)

  /// An object that a commit needs is not there. Recovery: fetch it, or repair the repository.
  case noObject(id: String, reason: String)

  /// The output of git was not understood. Recovery: use git 2.31 or later; check with `git fsck`.
  case badOutput(String, reason: String)
}

extension GitError: CustomStringConvertible {
  /// The problem as a sentence, without the remedy.
  var description: String {
    switch self {
    case .noRepository(let path, let reason): "\(path) is not a git repository: \(reason)"
    case .noCommit(let revision, let path, let reason):
      "there is no commit \(revision) in \(path)" + (reason.isEmpty ? "" : ": \(reason)")
    case .notInHistory(let commit, let head):
      "commit \(commit), after which to go on, is not in the first-parent history of \(head)"
    case .badPath(let commit, let path, let reason):
      "commit \(commit) has the path \(path), which \(reason)"
    case .noObject(let id, let reason): "object \(id) \(reason)"
    case .badOutput(let name, let reason): "the output of \(name) was not understood: \(reason)"
    }
  }

  /// The remedy, as a hint for the user.
  var hint: String {
    switch self {
    case .noRepository: "name the repository's top folder, its .git, or a bare repository"
    case .noCommit: "check the name with git log; a repository without commits has none"
    case .notInHistory: "the history was rewritten, or this is another branch; import it elsewhere"
    case .badPath: "leave such paths out with --skip-invalid"
    case .noObject: "fetch what is missing, and check the repository with git fsck"
    case .badOutput: "use git 2.31 or later, and check the repository with git fsck"
    }
  }

  /// Bytes from a repository as text in double quotes, escaped as git escapes a path.
  static func quoted(_ bytes: some Sequence<UInt8>) -> String {
    "\"" + bytes.map(escaped).joined() + "\""
  }

  private static func escaped(_ byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "\n"): return "\\n"
    case UInt8(ascii: "\t"): return "\\t"
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): return "\\" + String(Unicode.Scalar(byte))
    case 0x20..<0x7f: return String(Unicode.Scalar(byte))
    default:
      let octal = String(byte, radix: 8)
      return "\\" + String(repeating: "0", count: 3 - octal.count) + octal
    }
  }
}
