// Goal: a repository is found where the user says it is, and nowhere else.
// Method: one small repository seen through each of the paths that git has for it.

import FoundationEssentials
import Testing

@testable import CambiumCommands

@Suite("A git repository")
struct GitRepositoryTests {
  /// Lends a folder with a bare repository, a clone with a worktree, and a second worktree of it.
  private func withRepositories(_ body: (_ folder: String, _ head: String) throws -> Void) throws {
    try GitFixture.withFolder { folder in
      let commit = "commit refs/heads/main\ncommitter C <c@x> 0 +0000\ndata 0\n"
      let stream = commit + "M 100644 inline dir/f\ndata 1\n1\n"
      let fixture = try GitFixture.make(stream: stream.utf8, in: folder)
      let head = try #require(try fixture.commits().last)
      try GitFixture.run(["clone", "--quiet", fixture.path, folder + "/it's a clone"])
      try GitFixture.run([
        "-C", folder + "/it's a clone", "worktree", "add", "--quiet", "--detach",
        folder + "/second",
      ])
      try body(folder, head)
    }
  }

  @Test("is found by its top folder, its .git, and as a bare one")
  func isFound() throws {
    try withRepositories { folder, head in
      let names = [
        "source.git", "source.git/", "it's a clone", "it's a clone/", "it's a clone/.git",
        "it's a clone/.git/", "second", "second/.git", "second/.git/",
      ]
      for name in names {
        let repository = try GitRepository(path: "\(folder)/\(name)")
        #expect(try repository.commit("HEAD") == head, "\(name)")
      }
    }
  }

  @Test("is not looked for above the path")
  func isNotSearched() throws {
    try withRepositories { folder, _ in
      for name in ["it's a clone/dir", "it's a clone/.git/refs", "source.git/refs"] {
        let path = "\(folder)/\(name)"
        let error = GitError.noRepository(path: path, reason: "it is a folder inside one")
        #expect(throws: error) { try GitRepository(path: path) }
      }
    }
  }

  @Test("that is none is an error with git's reason")
  func isRefused() throws {
    try GitFixture.withFolder { folder in
      try Data("x".utf8).write(to: URL(filePath: folder + "/file"))
      for name in ["", "/none", "/file", "/.git"] {
        let error = #expect(throws: GitError.self) { try GitRepository(path: folder + name) }
        guard case .noRepository(folder + name, let reason) = error else {
          return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(reason.hasPrefix("fatal: "))
      }
      let empty = GitError.noRepository(path: "\"\"", reason: "the path is empty")
      #expect(throws: empty) { try GitRepository(path: "") }
    }
  }

  @Test("cannot be read without git")
  func needsGit() throws {
    let error = ChildProcessError.notFound(program: "no-such-git")
    #expect(throws: error) { try GitRepository(path: "/", program: "no-such-git") }
  }

  @Test("resolves names to commits, through tags")
  func resolvesNames() throws {
    try GitFixture.with(seed: 21, commits: 12) { fixture in
      let repository = try GitRepository(path: fixture.path)
      let commits = try fixture.commits()
      #expect(try repository.commit("v1") == commits.last)
      #expect(try repository.commit("main~1") == commits.dropLast().last)
      for name in ["none", "-x", "--all", "main:", "main..v1", "", "v1^{tree}"] {
        let error = #expect(throws: GitError.self) { try repository.commit(name) }
        guard case .noCommit(name, fixture.path, _) = error else {
          return #expect(Bool(false), "\(name): \(String(describing: error))")
        }
      }
    }
  }
}
