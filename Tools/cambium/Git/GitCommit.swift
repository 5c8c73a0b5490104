import Cambium

/// A commit, and what it changes against its first parent.
struct GitCommit: Equatable, Sendable {
  let id: String
  let author: String
  let email: String
  /// When it was written, in ISO 8601 with the author's time zone: `2026-11-21T15:53:43+01:00`.
  let date: String
  /// The first paragraph of the message, on one line.
  let subject: String
  /// In order of the paths' bytes; each path once.
  let changes: [GitChange]
}

/// The change that a commit makes to one path.
struct GitChange: Equatable, Sendable {
  enum Status: UInt8 {
    case add = 0x41
    case modify = 0x4d
    case delete = 0x44
    /// A file has become a symbolic link or a submodule, or the reverse.
    case typeChange = 0x54
  }

  let status: Status
  /// As git stores it: names joined by `/`, in any encoding.
  let path: [UInt8]
  /// As git prints it, such as `100644`; of a deleted path, the one it had.
  let mode: String
  /// The object's id, or a submodule's commit; of a deleted path, the one it had.
  let blob: String

  /// True if it is a commit of another repository, so that there is no content.
  var isSubmodule: Bool { mode == "160000" }
}

extension GitCommit {
  /// Where a changed path is in the database: one key per name, below the node that stands for the
  /// repository's top. A path that is not UTF-8, or has a name too long for a key, is an error.
  func path(for change: GitChange, under parent: NodePath) throws(GitError) -> NodePath {
    guard let text = String(validating: change.path, as: UTF8.self) else {
      throw badPath(change, "is not UTF-8")
    }
    do {
      let names = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      return parent.appending(NodePath(keys: try names.map { try Key(Substring($0)) }))
    } catch DatabaseError.badKey(_, let reason) {
      throw badPath(change, "has a name that cannot be a key: \(reason)")
    } catch {
      throw badPath(change, "cannot be used: \(error)")
    }
  }

  private func badPath(_ change: GitChange, _ reason: String) -> GitError {
    .badPath(commit: id, path: GitError.quoted(change.path), reason: reason)
  }
}
