// Goal: a git history in the database is that history, at every commit.
// Method: a generated repository is imported, and at each transaction the tree is compared with
// `git ls-tree -r` of its commit; contents with `git cat-file`; then the state is rebuilt and
// compared again.

import Cambium
import FoundationEssentials
import Testing

@testable import CambiumCommands

@Suite("An imported git history")
struct GitOracleTests {
  private static let top: NodePath = "repo"

  @Test("has the tree of git ls-tree at every commit", arguments: [11, 12] as [UInt64])
  func equalsLsTree(seed: UInt64) throws {
    print("seed \(seed)")
    try GitFixture.with(seed: seed, commits: 300) { fixture in
      let database = try Database(at: fixture.path + ".cambium")
      try importAll(fixture, into: database)
      try compare(fixture, database)
      try database.rebuild()
      try compare(fixture, database)
      #expect(try database.verify().findings == [])
      try database.close()
    }
  }

  @Test("holds the contents of the files")
  func holdsContents() throws {
    try GitFixture.with(seed: 13, commits: 60) { fixture in
      let database = try Database(at: fixture.path + ".cambium")
      try importAll(fixture, into: database, withContents: true)
      let snapshot = try database.snapshot()
      var count = 0
      for (path, file) in try fixture.tree(at: "HEAD", under: Self.top) where file.mode != "160000"
      {
        guard case .blob(let blob)? = try snapshot[path]["contents"] else {
          Issue.record("\(path) has no contents")
          continue
        }
        var content: [UInt8] = []
        try snapshot.read(blob) { content += $0 }
        #expect(content == Array(try fixture.git(["cat-file", "blob", file.blob])))
        #expect(try snapshot[path]["size"] == .integer(Int64(content.count)))
        count += 1
      }
      #expect(count > 5)
      #expect(try database.verify().findings == [])
      try database.close()
    }
  }

  @Test("goes on where it was, also in steps of single commits")
  func resumes() throws {
    try GitFixture.with(seed: 14, commits: 40) { fixture in
      let database = try Database(at: fixture.path + ".cambium")
      for commit in try fixture.commits() {
        #expect(try importAll(fixture, into: database, revision: commit).commits == 1)
      }
      try compare(fixture, database)
      #expect(try importAll(fixture, into: database).commits == 0)
      #expect(try database.verify().findings == [])
      try database.close()
    }
  }

  @discardableResult
  private func importAll(
    _ fixture: GitFixture, into database: Database, revision: String = "HEAD",
    withContents: Bool = false
  ) throws -> GitImport.Report {
    let bar = ProgressBar(
      .none, unit: "commits", columns: 80, clock: { ContinuousClock.now }, write: { _ in })
    return try GitImport(
      repository: GitRepository(path: fixture.path), into: Self.top, revision: revision,
      withContents: withContents, skipInvalid: false
    ).run(database, bar)
  }

  private func compare(_ fixture: GitFixture, _ database: Database) throws {
    let commits = try fixture.commits()
    #expect(try database.head.rawValue == UInt64(commits.count))
    for (index, commit) in commits.enumerated() {
      let sequence = SequenceNumber(UInt64(index) + 1)
      #expect(try database.commit(sequence).metadata["commit"] == commit)
      let files = try files(database.snapshot(at: .sequence(sequence)))
      #expect(try files == fixture.tree(at: commit, under: Self.top), "\(commit)")
    }
  }

  /// The files of a snapshot; a folder without files would be one too many.
  private func files(_ snapshot: Snapshot) throws -> [NodePath: GitFixture.File] {
    var files: [NodePath: GitFixture.File] = [:]
    var nodes = try snapshot[Self.top].descendants(includingSelf: false)
    while let node = try nodes.next() {
      if case .string(let mode)? = try node["mode"], case .string(let blob)? = try node["blob"] {
        files[node.path] = GitFixture.File(mode: mode, blob: blob)
      } else {
        #expect(try node.value == nil && node.childCount > 0, "\(node.path) is an empty folder")
      }
    }
    return files
  }
}
