// Goal: the history that the importer reads is the one that git has.
// Method: generated repositories; the plans of all commits are replayed into a dictionary, and at
// every commit the dictionary is compared with `git ls-tree -r`.

import Cambium
import FoundationEssentials
import Testing

@testable import CambiumCommands

@Suite("The git history")
struct GitHistoryTests {
  @Test("gives the tree of git ls-tree at every commit", arguments: [1, 2, 3] as [UInt64])
  func equalsLsTree(seed: UInt64) throws {
    print("seed \(seed)")
    try GitFixture.with(seed: seed, commits: 300) { fixture in
      let repository = try GitRepository(path: fixture.path)
      var replay = Replay()
      let history = try repository.history()
      while let commit = try history.next() {
        try replay.apply(GitImportPlan(commit, under: Replay.top))
        #expect(try replay.files == fixture.tree(at: commit.id, under: Replay.top), "\(commit.id)")
        replay.commits.append(commit.id)
      }
      #expect(try replay.commits == fixture.commits())
      #expect(try repository.commitCount() == replay.commits.count)
      #expect(replay.commits.count > 100)
    }
  }

  @Test("is tested with commits of every kind")
  func fixtureHoldsEverything() throws {
    try GitFixture.with(seed: 1, commits: 300) { fixture in
      let commits = try all(GitRepository(path: fixture.path).history())
      let changes = commits.flatMap(\.changes)
      for status in [GitChange.Status.add, .modify, .delete, .typeChange] {
        #expect(changes.contains { $0.status == status }, "\(status)")
      }
      for mode in ["100644", "100755", "120000", "160000"] {
        #expect(changes.contains { $0.mode == mode }, "\(mode)")
      }
      #expect(commits.contains { $0.changes.isEmpty })
      #expect(commits.contains { replaces($0, from: .delete, to: .add) }, "file to folder")
      #expect(commits.contains { replaces($0, from: .add, to: .delete) }, "folder to file")
      let merges = try fixture.git(["rev-list", "--first-parent", "--merges", "HEAD"])
      #expect(merges.count > 41 * 20)
    }
  }

  /// True if a path gets one status and a path below it the other.
  private func replaces(
    _ commit: GitCommit, from upper: GitChange.Status, to lower: GitChange.Status
  ) -> Bool {
    commit.changes.contains { above in
      above.status == upper
        && commit.changes.contains {
          $0.status == lower && $0.path.starts(with: above.path + [UInt8(ascii: "/")])
        }
    }
  }

  @Test("reads a repository with SHA-256 ids")
  func readsSHA256() throws {
    try GitFixture.withFolder { folder in
      let fixture = try GitFixture.make(
        seed: 4, commits: 30, in: folder, objectFormat: "sha256")
      let replay = try Replay(of: GitRepository(path: fixture.path))
      #expect(try replay.files == fixture.tree(at: "HEAD", under: Replay.top))
      #expect(replay.commits.last?.count == 64)
    }
  }

  @Test("begins a shallow clone with everything")
  func readsShallowClone() throws {
    try GitFixture.with(seed: 5, commits: 60) { fixture in
      let clone = GitFixture(path: fixture.path + "/clone")
      try GitFixture.run([
        "clone", "--quiet", "--bare", "--depth=5", "file://" + fixture.path, clone.path,
      ])
      let replay = try Replay(of: GitRepository(path: clone.path))
      #expect(replay.commits.count <= 5)
      #expect(try replay.commits == clone.commits())
      #expect(try replay.files == fixture.tree(at: "HEAD", under: Replay.top))
    }
  }

  @Test("is the same whatever the configuration says")
  func ignoresConfiguration() throws {
    try GitFixture.with(seed: 6, commits: 80) { fixture in
      try addSignedCommit(fixture)
      let plain = try all(GitRepository(path: fixture.path).history())
      try mislead(fixture)
      let changed = try GitRepository(
        path: fixture.path, environment: misleadingEnvironment(fixture))
      #expect(try all(changed.history()) == plain)
    }
  }

  /// Everything in a repository that changes what `git log` prints. The program `gpg.program` only
  /// has to complain, for its complaint to come between the commits.
  private func mislead(_ fixture: GitFixture) throws {
    let settings = [
      "log.showSignature=true", "log.showRoot=false", "log.diffMerges=off", "log.mailmap=true",
      "log.follow=true", "log.date=relative", "log.decorate=full", "diff.renames=copies",
      "diff.ignoreSubmodules=all", "diff.relative=true", "diff.orderFile=order", "core.abbrev=7",
      "diff.external=false", "color.ui=always", "format.pretty=oneline", "diff.submodule=log",
      "i18n.logOutputEncoding=ISO-8859-1", "notes.displayRef=*", "mailmap.file=mailmap",
      "gpg.program=git",
    ]
    for setting in settings {
      let parts = setting.split(separator: "=", maxSplits: 1).map(String.init)
      try fixture.git(["config", parts[0], parts[1]])
    }
    try Data("z*\nsrc/*\n".utf8).write(to: URL(filePath: fixture.path + "/order"))
    try Data("Other <o@x> <ada@example.org>\n".utf8)
      .write(to: URL(filePath: fixture.path + "/mailmap"))
    let commits = try fixture.commits()
    try fixture.git(["replace", commits[9], commits[3]])
    try FileManager.default.createDirectory(
      atPath: fixture.path + "/info", withIntermediateDirectories: true)
    try Data("\(commits[20])\n".utf8).write(to: URL(filePath: fixture.path + "/info/grafts"))
  }

  private func addSignedCommit(_ fixture: GitFixture) throws {
    let text = """
      tree \(try id("HEAD^{tree}", fixture))
      parent \(try id("HEAD", fixture))
      author A <a@b> 0 +0000
      committer A <a@b> 0 +0000
      gpgsig -----BEGIN PGP SIGNATURE-----
       \u{20}
       iQ
       -----END PGP SIGNATURE-----

      signed
      """
    let commit = try fixture.git(
      ["hash-object", "-t", "commit", "-w", "--stdin"], input: Array(text.utf8))
    try fixture.git([
      "update-ref", "refs/heads/main", String(decoding: commit.prefix(40), as: UTF8.self),
    ])
  }

  private func id(_ name: String, _ fixture: GitFixture) throws -> String {
    String(decoding: try fixture.git(["rev-parse", name]).prefix(40), as: UTF8.self)
  }

  private func misleadingEnvironment(_ fixture: GitFixture) -> [String: String] {
    let variables = [
      "GIT_DIR": "/nowhere", "GIT_WORK_TREE": "/nowhere", "GIT_OBJECT_DIRECTORY": "/nowhere",
      "GIT_EXTERNAL_DIFF": "false", "GIT_PAGER": "false", "GIT_GRAFT_FILE": "info/grafts",
      "LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo",
    ]
    return ProcessInfo.processInfo.environment.merging(variables) { $1 }
  }
}

// MARK: Going on

extension GitHistoryTests {
  @Test("goes on after any commit of it")
  func resumes() throws {
    try GitFixture.with(seed: 7, commits: 40) { fixture in
      let repository = try GitRepository(path: fixture.path)
      let whole = try all(repository.history())
      for (index, commit) in whole.enumerated() {
        let rest = try all(repository.history(of: "v1", after: commit.id))
        #expect(rest == Array(whole[(index + 1)...]))
      }
    }
  }

  @Test("refuses to go on after a commit that is not in it")
  func refusesOtherCommit() throws {
    try GitFixture.with(seed: 8, commits: 60) { fixture in
      let repository = try GitRepository(path: fixture.path)
      let main = try fixture.commits()
      let reachable = try repository.lines("rev-list", ["--all"]).filter { !$0.isEmpty }
      let others = Set(reachable).subtracting(main)
      #expect(!others.isEmpty)
      for other in others {
        let error = GitError.notInHistory(commit: other, head: main[main.count - 1])
        #expect(throws: error) { try repository.history(after: other).next() }
      }
      let rewound = GitError.notInHistory(commit: main[5], head: main[4])
      #expect(throws: rewound) { try repository.history(of: main[4], after: main[5]).next() }
      let unknown = String(repeating: "1", count: 40)
      #expect(throws: GitError.self) { try repository.history(after: unknown) }
    }
  }
}

// MARK: Content of commits

extension GitHistoryTests {
  @Test("decodes what is not UTF-8 leniently, and what names its encoding exactly")
  func decodesMetadata() throws {
    let stream =
      Array("commit refs/heads/main\nauthor J\u{FC}".utf8) + [0xfc]
      + Array(" <j@x> 86399 -0130\ncommitter C <c@x> 0 +0000\ndata 8\n".utf8) + [0xe9]
      + Array("t\u{E9}\n\nb\n\n".utf8)
      + Array("commit refs/heads/main\nauthor J".utf8) + [0xfc]
      + Array("r <j@x> 1700000000 +0000\ncommitter C <c@x> 0 +0000\n".utf8)
      + Array("encoding ISO-8859-1\ndata 2\n".utf8) + [0xe9, 0x0a] + Array("\n".utf8)
    try GitFixture.withFolder { folder in
      let fixture = try GitFixture.make(stream: stream, in: folder)
      let commits = try all(GitRepository(path: fixture.path).history())
      #expect(commits.map(\.author) == ["J\u{FC}\u{FFFD}", "J\u{FC}r"])
      #expect(commits.map(\.email) == ["j@x", "j@x"])
      #expect(commits.map(\.subject) == ["\u{FFFD}t\u{E9}", "\u{E9}"])
      #expect(
        commits.map(\.date) == ["1970-01-01T22:29:59-01:30", "2023-11-14T22:13:20+00:00"])
      #expect(commits.allSatisfy { $0.changes.isEmpty })
      #expect(GitHistory.normalized(date: "2023-11-14T22:13:20Z") == commits[1].date)
    }
  }

  @Test("names the commit and the path that is not UTF-8, or skips and counts it")
  func reportsInvalidPaths() throws {
    try GitFixture.with(seed: 9, commits: 100, invalidPaths: true) { fixture in
      let repository = try GitRepository(path: fixture.path)
      let skipping = try Replay(of: repository, skipInvalid: true)
      #expect(skipping.skipped.count > 10)
      #expect(try skipping.files == fixture.tree(at: "HEAD", under: Replay.top))
      let commit = try #require(skipping.skipped.first).commit
      let path = GitError.quoted(try #require(skipping.skipped.first).change.path)
      #expect(path.contains("\\3"))
      let error = GitError.badPath(commit: commit, path: path, reason: "is not UTF-8")
      #expect(throws: error) { try Replay(of: repository) }
    }
  }

  @Test("names the commit and the path whose name is too long for a key")
  func reportsLongNames() throws {
    let name = String(repeating: "é", count: 241)
    let commit = commit([change(.add, "a/\(name)/b")])
    let error = #expect(throws: GitError.self) { try GitImportPlan(commit, under: "repo") }
    let text = try #require(error).description
    #expect(text.hasPrefix("commit c1 has the path \"a/\\303\\251"))
    #expect(text.contains("it has 482 bytes; 480 is the limit"))
    let plan = try GitImportPlan(commit, under: "repo", skipInvalid: true)
    #expect(plan.steps.isEmpty && plan.skipped == commit.changes)
  }

  @Test("is planned with removals first")
  func plansRemovalsFirst() throws {
    let commit = commit([
      change(.delete, "a"), change(.add, "a/42"), change(.add, "c"), change(.delete, "c/~d"),
    ])
    let plan = try GitImportPlan(commit, under: "repo")
    #expect(
      plan.steps == [
        .remove("repo/a"), .remove("repo/c/~0d"),
        .put(NodePath(keys: ["repo", "a", .integer(42)]), mode: "100644", blob: "b1"),
        .put("repo/c", mode: "100644", blob: "b1"),
      ])
  }

  @Test("of a repository without commits is an error")
  func refusesEmptyRepository() throws {
    try GitFixture.withFolder { folder in
      let fixture = try GitFixture.make(stream: [], in: folder)
      let repository = try GitRepository(path: fixture.path)
      let error = GitError.noCommit(revision: "HEAD", path: fixture.path, reason: "")
      #expect(throws: error) { try repository.history() }
      #expect(throws: GitError.self) { try repository.history(of: "--all") }
    }
  }

  @Test("ends with an error where an object is missing")
  func reportsMissingObjects() throws {
    let commit = "commit refs/heads/main\ncommitter C <c@x> 0 +0000\ndata 0\n"
    let stream = (1...3).map { commit + "M 100644 inline f\ndata 1\n\($0)\n" }.joined()
    try GitFixture.withFolder { folder in
      let fixture = try GitFixture.make(stream: stream.utf8, in: folder)
      let tree = try id("HEAD~1^{tree}", fixture)
      let file = "\(fixture.path)/objects/\(tree.prefix(2))/\(tree.dropFirst(2))"
      try FileManager.default.removeItem(atPath: file)
      let history = try GitRepository(path: fixture.path).history()
      #expect(try history.next() != nil)
      let error = #expect(throws: ChildProcessError.self) { try history.next() }
      #expect(try #require(error).description.contains("unable to read tree"))
    }
  }
}

// MARK: Helpers

extension GitHistoryTests {
  private func all(_ history: GitHistory) throws -> [GitCommit] {
    var commits: [GitCommit] = []
    while let commit = try history.next() { commits.append(commit) }
    return commits
  }

  private func change(_ status: GitChange.Status, _ path: String) -> GitChange {
    GitChange(status: status, path: Array(path.utf8), mode: "100644", blob: "b1")
  }

  private func commit(_ changes: [GitChange]) -> GitCommit {
    GitCommit(id: "c1", author: "", email: "", date: "", subject: "", changes: changes)
  }
}

/// A tree to which plans are applied as the engine would: removing takes what is below along.
private struct Replay {
  static let top: NodePath = "repo/1"
  var files: [NodePath: GitFixture.File] = [:]
  var commits: [String] = []
  var skipped: [(commit: String, change: GitChange)] = []

  init() {}

  init(of repository: GitRepository, skipInvalid: Bool = false) throws {
    let history = try repository.history()
    while let commit = try history.next() {
      let plan = try GitImportPlan(commit, under: Replay.top, skipInvalid: skipInvalid)
      try apply(plan)
      commits.append(commit.id)
      skipped += plan.skipped.map { (commit.id, $0) }
    }
  }

  mutating func apply(_ plan: GitImportPlan) throws {
    for step in plan.steps {
      switch step {
      case .remove(let path):
        try #require(files[path] != nil, "\(path) is not there to be removed")
        files = files.filter { !$0.key.isWithin(path) }
      case .put(let path, let mode, let blob):
        files[path] = GitFixture.File(mode: mode, blob: blob)
      }
    }
  }
}
