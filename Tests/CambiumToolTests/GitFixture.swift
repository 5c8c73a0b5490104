import Cambium
import FoundationEssentials

@testable import CambiumCommands

/// A bare git repository for tests, made from a seed through `git fast-import`.
///
///     try GitFixture.with(seed: 1, commits: 300) { fixture in
///       for commit in try fixture.commits() { compare(try fixture.tree(at: commit)) }
///     }
///
/// The same seed always gives the same commits: names, contents and dates come from it alone.
struct GitFixture: Sendable {
  /// Where the repository is.
  let path: String

  /// The mode and the blob that git has at a path.
  struct File: Hashable {
    let mode: String
    let blob: String
  }

  /// Makes a repository with a generated history in an existing folder; `commits` counts those of
  /// side branches too. The object format is `sha1` or `sha256`.
  static func make(
    seed: UInt64, commits: Int, in directory: String, invalidPaths: Bool = false,
    objectFormat: String = "sha1"
  ) throws -> GitFixture {
    var generator = GitFixtureGenerator(seed: seed, invalidPaths: invalidPaths)
    generator.idLength = objectFormat == "sha256" ? 64 : 40
    let stream = generator.history(commits: commits)
    return try make(stream: stream, in: directory, objectFormat: objectFormat)
  }

  /// Makes a repository from a stream for `git fast-import`.
  static func make(
    stream: some Sequence<UInt8>, in directory: String, objectFormat: String = "sha1"
  ) throws -> GitFixture {
    let fixture = GitFixture(path: directory + "/source.git")
    let format = "--object-format=\(objectFormat)"
    try run(["init", "--quiet", "--bare", format, "--initial-branch=main", fixture.path])
    try fixture.git(["fast-import", "--quiet", "--force"], input: Array(stream))
    return fixture
  }

  /// Lends a generated repository in a temporary folder.
  static func with<R>(
    seed: UInt64, commits: Int, invalidPaths: Bool = false, _ body: (GitFixture) throws -> R
  ) throws -> R {
    try withFolder { folder in
      try body(make(seed: seed, commits: commits, in: folder, invalidPaths: invalidPaths))
    }
  }

  /// Lends an empty folder, and removes it afterwards.
  static func withFolder<R>(_ body: (String) throws -> R) throws -> R {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "cambium-git-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
  }
}

extension GitFixture {
  /// The ids of the first-parent history, oldest first.
  func commits(of revision: String = "HEAD") throws -> [String] {
    let output = try git(["rev-list", "--first-parent", "--reverse", revision])
    return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// The files that `git ls-tree -r` lists at a commit, below a node that stands for the
  /// repository's top. Names that are not UTF-8 are left out.
  func tree(at commit: String, under parent: NodePath = .root) throws -> [NodePath: File] {
    var files: [NodePath: File] = [:]
    for entry in try git(["ls-tree", "-r", "-z", "--full-tree", commit]).split(separator: 0) {
      let parts = entry.split(separator: UInt8(ascii: "\t"), maxSplits: 1)
      let words = String(decoding: parts[0], as: UTF8.self).split(separator: " ")
      guard let name = String(validating: parts[1], as: UTF8.self) else { continue }
      let file = File(mode: String(words[0]), blob: String(words[2]))
      files[parent.appending(try NodePath(name.replacing("~", with: "~0")))] = file
    }
    return files
  }

  /// Runs git in the repository and gives what it wrote.
  @discardableResult
  func git(_ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
    try GitFixture.run(["-C", path] + arguments, input: input)
  }

  /// Runs git without the user's configuration.
  @discardableResult
  static func run(_ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
    var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("GIT_") }
    environment["GIT_CONFIG_GLOBAL"] = "/dev/null"
    environment["GIT_CONFIG_NOSYSTEM"] = "1"
    let process = try ChildProcess("git", arguments, environment: environment, takesInput: true)
    process.send(input)
    return try process.readAll()
  }
}
