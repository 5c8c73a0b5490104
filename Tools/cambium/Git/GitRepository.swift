import FoundationEssentials

/// A git repository, read through the `git` command, version 2.31 or later.
///
///     let repository = try GitRepository(path: "../project")
///     let history = try repository.history()
///     while let commit = try history.next() { … }
///
/// Settings of configuration and environment for output, replaced objects, grafts or another
/// repository are overruled, so that a commit reads the same everywhere.
struct GitRepository: Sendable {
  /// The folder that git works in: the top of a worktree, or what holds the objects.
  let path: String
  private let program: String
  private let environment: [String: String]

  /// Finds the repository at a path: the top folder of a worktree, a bare repository, or a `.git`.
  ///
  /// A folder *inside* a repository is refused: whoever mistypes a path should not import what
  /// happens to lie around it. Variables that point to another repository are left out of the
  /// environment.
  ///
  /// - Throws: ``GitError/noRepository(path:reason:)``, or ``ChildProcessError`` without git.
  init(
    path: String, program: String = "git",
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws {
    self.path = GitRepository.folder(of: path)
    self.program = program
    self.environment = GitRepository.cleaned(environment)
    try check(path)
  }

  /// Starts a git command.
  func start(
    _ command: String, _ arguments: [String], takesInput: Bool = false
  ) throws(ChildProcessError) -> ChildProcess {
    try ChildProcess(
      program, ["-C", path] + ["--no-replace-objects", command] + arguments,
      name: "git \(command)", environment: environment, takesInput: takesInput)
  }

  /// Runs a git command to its end and gives the lines that it wrote.
  func lines(_ command: String, _ arguments: [String]) throws(ChildProcessError) -> [String] {
    let output = try start(command, arguments).readAll()
    return String(decoding: output, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// The full id of the commit that a revision names; tags are followed to it.
  ///
  /// - Throws: ``GitError/noCommit(revision:path:reason:)``.
  func commit(_ revision: String) throws -> String {
    let arguments = ["--verify", "--quiet", "--end-of-options", "\(revision)^{commit}"]
    do {
      if let id = try lines("rev-parse", arguments).first, GitRepository.isID(id) { return id }
      throw GitError.badOutput("git rev-parse", reason: "there is no object's id")
    } catch ChildProcessError.failed(_, .exited, let errors) {
      throw GitError.noCommit(revision: revision, path: path, reason: errors)
    }
  }

  /// The number of commits that ``history(of:after:)`` gives, for a progress bar.
  ///
  /// - Complexity: O(commits), about 5 µs each.
  func commitCount(of revision: String = "HEAD", after: String? = nil) throws -> Int {
    let range = try range(of: revision, after: after)
    let lines = try lines("rev-list", ["--first-parent", "--count"] + range.arguments)
    guard let count = lines.first.flatMap({ Int($0) }) else {
      throw GitError.badOutput("git rev-list", reason: "there is no count")
    }
    return count
  }

  /// The first-parent history of a revision, oldest commit first; or what comes after a commit,
  /// which must be in that history.
  func history(of revision: String = "HEAD", after: String? = nil) throws -> GitHistory {
    let range = try range(of: revision, after: after)
    let process = try start("log", GitHistory.arguments + range.arguments)
    return GitHistory(process, head: range.head, after: range.after)
  }

  /// True for a partial clone, in which files may be missing.
  func isPartial() throws(ChildProcessError) -> Bool {
    try lines("config", ["--list"]).contains { line in
      line.hasPrefix("extensions.partialclone=") || line.hasSuffix(".promisor=true")
    }
  }

  /// Access to the contents of files.
  func objects() -> GitObjects { GitObjects(self) }

  /// True if text is an object's id: 40 hexadecimal digits, or 64 in a repository with SHA-256.
  static func isID(_ text: some StringProtocol) -> Bool {
    (text.utf8.count == 40 || text.utf8.count == 64)
      && text.utf8.allSatisfy {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
      }
  }
}

extension GitRepository {
  private struct Range {
    let head: String
    let after: String?
    var arguments: [String] { [head] + (after.map { ["^" + $0] } ?? []) }
  }

  private func range(of revision: String, after: String?) throws -> Range {
    Range(head: try commit(revision), after: try after.map { try commit($0) })
  }

  /// Variables that would send git to another repository, as they do within a hook.
  private static let misleading: Set<String> = [
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_SHALLOW_FILE",
    "GIT_IMPLICIT_WORK_TREE",
  ]

  /// No grafts, which are a way to replace commits; and no network: git would fetch missing objects
  /// one by one, and could wait for a password that nobody is asked for.
  private static func cleaned(_ environment: [String: String]) -> [String: String] {
    var variables = environment.filter { !misleading.contains($0.key) }
    variables["LC_ALL"] = "C"
    variables["GIT_GRAFT_FILE"] = "/dev/null"
    variables["GIT_ALLOW_PROTOCOL"] = "none"
    return variables
  }

  /// The folder to work in; a worktree or submodule has a `.git` that is a file.
  private static func folder(of path: String) -> String {
    var name = path[...]
    while name.count > 1, name.last == "/" { name = name.dropLast() }
    var isFolder = false
    guard name == ".git" || name.hasSuffix("/.git"),
      FileManager.default.fileExists(atPath: String(name), isDirectory: &isFolder), !isFolder
    else { return path }
    let parent = name.dropLast(".git".count)
    return parent.isEmpty ? "." : String(parent)
  }

  /// Asks git what is at the path; `given` is how the user wrote it.
  private func check(_ given: String) throws {
    func none(_ reason: String) -> GitError { .noRepository(path: given, reason: reason) }
    if given.isEmpty { throw GitError.noRepository(path: "\"\"", reason: "the path is empty") }
    let questions = ["--is-inside-work-tree", "--is-inside-git-dir", "--show-prefix", "--git-dir"]
    var answers: [String] = []
    do throws(ChildProcessError) {
      answers = try lines("rev-parse", questions)
    } catch {
      guard case .failed(_, .exited, let errors) = error else { throw error }
      throw none(errors)
    }
    guard answers.count >= 4 else { throw none("git rev-parse did not say what it is") }
    let isTop = answers[0] == "true" && answers[2].isEmpty
    // git calls the folder that it works in "." where that folder itself holds the objects.
    guard isTop || answers[1] == "true" && answers[3] == "." else {
      throw none("it is a folder inside one")
    }
  }
}
