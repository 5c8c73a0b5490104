/// The first-parent history of a commit, oldest first, from one `git log`.
///
/// Each commit comes as its header, six pieces ended by NUL, and, unless it changes nothing against
/// its first parent, a line feed and the changes:
///
///     id 00 parents 00 author 00 email 00 date 00 subject 00
///     0A
///     :100644 100755 <old id> <new id> M 00 path 00
///     :000000 120000 000…000  <new id> A 00 path 00
///
/// An id starts with a hexadecimal digit, so the next byte always shows what follows.
///
/// Invariant: each commit's first parent is the commit before it, and that of the first is the
/// commit after which to continue. ``next()`` compares them.
final class GitHistory {
  /// The id of the newest commit of this history.
  let head: String
  private let after: String?
  private var previous: String?
  private let reader: OutputReader
  private var isAtEnd = false

  init(_ process: ChildProcess, head: String, after: String?) {
    self.head = head
    self.after = after
    previous = after
    reader = OutputReader(process)
  }

  /// The next commit, or nil after the head.
  ///
  /// - Throws: ``GitError/notInHistory(commit:head:)`` before any commit is given, when the one to
  ///   continue after is not there; ``ChildProcessError`` when git fails.
  /// - Complexity: O(changes of the commit), in memory too.
  func next() throws -> GitCommit? {
    if isAtEnd { return nil }
    isAtEnd = true  // After an error too: what follows would make no sense.
    guard let id = try reader.piece(endedBy: 0) else {
      try end()
      return nil
    }
    let commit = try readCommit(id: try self.id(id))
    previous = commit.id
    isAtEnd = false
    return commit
  }

  private func end() throws {
    try reader.process.finish()
    guard previous != head else { return }
    if let after, previous == after { throw GitError.notInHistory(commit: after, head: head) }
    throw reader.bad("it ends before commit \(head)")
  }
}

extension GitHistory {
  /// The options of `git log`. From `--root` on they overrule what configuration can change: what a
  /// first commit and a merge are compared with, renames, shortened ids, the order of paths,
  /// submodules left out, signatures, the encoding.
  static let arguments = [
    "--first-parent", "--reverse", "--raw", "-z", "--root", "--diff-merges=first-parent",
    "--no-renames", "--no-abbrev", "-O/dev/null", "--ignore-submodules=none",
    "--no-show-signature", "--encoding=UTF-8",
    "--format=%H%x00%P%x00%an%x00%ae%x00%aI%x00%s",
  ]

  private func readCommit(id: String) throws -> GitCommit {
    let parents = try text()
    try checkParent(of: id, parents.split(separator: " ").first)
    return GitCommit(
      id: id, author: try text(), email: try text(), date: GitHistory.normalized(date: try text()),
      subject: try text(), changes: try changes())
  }

  private func checkParent(of id: String, _ parent: Substring?) throws {
    guard let previous, parent != previous[...] else { return }
    if let after, previous == after {
      throw GitError.notInHistory(commit: after, head: head)
    }
    throw reader.bad("commit \(id) does not follow \(previous)")
  }

  /// Git before 2.45 writes `+00:00` where later versions write `Z`.
  static func normalized(date: String) -> String {
    date.hasSuffix("Z") ? date.dropLast() + "+00:00" : date
  }

  private func changes() throws -> [GitChange] {
    guard try reader.peek() == UInt8(ascii: "\n") else { return [] }
    reader.skip()
    var changes: [GitChange] = []
    while try reader.peek() == UInt8(ascii: ":") { changes.append(try change()) }
    return changes
  }

  private func change() throws -> GitChange {
    let line = try piece()
    let words = line.dropFirst().split(separator: UInt8(ascii: " "))
    guard words.count == 5, words[4].count == 1, let letter = words[4].first,
      let status = GitChange.Status(rawValue: letter)
    else { throw reader.bad("\(GitError.quoted(line)) is not a change") }
    let isDelete = status == .delete
    let mode = String(decoding: words[isDelete ? 0 : 1], as: UTF8.self)
    let blob = try id(words[isDelete ? 2 : 3])
    return GitChange(status: status, path: Array(try piece()), mode: mode, blob: blob)
  }

  private func id(_ bytes: ArraySlice<UInt8>) throws -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    guard GitRepository.isID(text) else {
      throw reader.bad("\(GitError.quoted(bytes.prefix(100))) is not an object's id")
    }
    return text
  }

  /// Names and subjects may be in no known encoding; what is not UTF-8 becomes U+FFFD.
  private func text() throws -> String { String(decoding: try piece(), as: UTF8.self) }

  private func piece() throws -> ArraySlice<UInt8> {
    if let piece = try reader.piece(endedBy: 0) { return piece }
    try reader.process.finish()
    throw reader.bad("it ends in the middle of a commit")
  }
}
