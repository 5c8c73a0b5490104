// Goal: sizes and contents are those that git has, for any size and number, and an error in between
// spoils nothing after it.
// Method: every file of a generated repository against `git cat-file`; handmade large ones.

import FoundationEssentials
import Testing

@testable import CambiumCommands

@Suite("Git objects")
struct GitObjectsTests {
  private struct Stop: Error, Equatable {}

  @Test("have the sizes and contents of git cat-file")
  func equalCatFile() throws {
    try GitFixture.with(seed: 31, commits: 80) { fixture in
      let blobs = try blobs(of: fixture)
      let objects = try GitRepository(path: fixture.path).objects()
      let contents = try read(blobs, objects)
      for (blob, content) in zip(blobs, contents).prefix(50) {
        #expect(try fixture.git(["cat-file", "blob", blob]) == Array(content))
      }
      #expect(try objects.sizes(of: blobs) == contents.map { UInt64($0.count) })
      #expect(blobs.count > 100)
    }
  }

  @Test("answer more requests at once than any pipe holds")
  func answerManyRequests() throws {
    try withLargeFiles { objects, blobs in
      let many = (0..<20_000).map { blobs[$0 % 2] }
      let sizes = try objects.sizes(of: many)
      #expect(sizes == many.indices.map { $0 % 2 == 0 ? 0 : 3 })
      #expect(try read(many, objects).map { UInt64($0.count) } == sizes)
      #expect(try objects.sizes(of: []) == [])
    }
  }

  @Test("come in parts, and what is not read is passed over")
  func comeInParts() throws {
    try withLargeFiles { objects, blobs in
      var parts: [Int: [Int]] = [:]
      try objects.contents(of: [blobs[2], blobs[1], blobs[2], blobs[0]]) { index, content in
        if index == 0 {
          #expect(content.size == 3_000_000)
          parts[index] = [try #require(try content.next()).count]
        } else {
          while let part = try content.next() { parts[index, default: []].append(part.count) }
        }
      }
      #expect(parts[1] == [3])
      #expect(parts[3] == nil)
      #expect(try #require(parts[2]).reduce(0, +) == 3_000_000)
      #expect(try #require(parts[2]?.max()) <= 256 << 10)
    }
  }

  @Test("can be read after an error")
  func surviveErrors() throws {
    try withLargeFiles { objects, blobs in
      #expect(try objects.sizes(of: blobs) == [0, 3, 3_000_000])
      #expect(try read([blobs[1]], objects) == [Data([0, 3, 7])])
      #expect(throws: Stop()) { try objects.contents(of: blobs) { _, _ in throw Stop() } }
      let contents = try read(blobs, objects)
      #expect(contents.map(\.count) == [0, 3, 3_000_000])
      let missing = String(repeating: "1", count: 40)
      let error = GitError.noObject(id: missing, reason: "is missing")
      #expect(throws: error) { try objects.sizes(of: [blobs[1], missing, blobs[1]]) }
      #expect(throws: error) { try read([blobs[1], missing, blobs[1]], objects) }
      #expect(try objects.sizes(of: [blobs[2]]) == [3_000_000])
      #expect(throws: GitError.noObject(id: "\"a\\nb\"", reason: "has no valid id")) {
        try objects.sizes(of: ["a\nb"])
      }
    }
  }

  @Test("that are not files are an error")
  func refuseTrees() throws {
    try GitFixture.with(seed: 32, commits: 3) { fixture in
      let commit = try #require(try fixture.commits().last)
      let objects = try GitRepository(path: fixture.path).objects()
      let error = GitError.noObject(id: commit, reason: "is a commit, not a file")
      #expect(throws: error) { try objects.sizes(of: [commit]) }
    }
  }

  @Test("are not fetched from elsewhere")
  func stayLocal() throws {
    try GitFixture.with(seed: 33, commits: 5) { fixture in
      try fixture.git(["config", "uploadpack.allowFilter", "true"])
      let clone = fixture.path + "/clone"
      try GitFixture.run([
        "clone", "--quiet", "--bare", "--filter=blob:none", "file://" + fixture.path, clone,
      ])
      let blob = try #require(try blobs(of: fixture).first)
      let objects = try GitRepository(path: clone).objects()
      let error = #expect(throws: GitError.self) { try objects.sizes(of: [blob]) }
      #expect(try #require(error).description.hasPrefix("object \(blob) cannot be read: fatal: "))
    }
  }

  private func blobs(of fixture: GitFixture) throws -> [String] {
    let history = try GitRepository(path: fixture.path).history()
    var blobs: [String] = []
    while let commit = try history.next() {
      blobs += commit.changes.filter { !$0.isSubmodule }.map(\.blob)
    }
    return blobs
  }

  private func read(_ blobs: [String], _ objects: GitObjects) throws -> [Data] {
    var contents = [Data](repeating: Data(), count: blobs.count)
    try objects.contents(of: blobs) { index, content in
      #expect(content.blob == blobs[index])
      while let part = try content.next() { contents[index] += part }
    }
    return contents
  }

  /// Lends a repository's objects and the ids of three files, of 0, 3 and 3,000,000 bytes.
  private func withLargeFiles(_ body: (GitObjects, [String]) throws -> Void) throws {
    try GitFixture.withFolder { folder in
      let fixture = try GitFixture.make(stream: [], in: folder)
      let blobs = try [0, 3, 3_000_000].map { size in
        let content = (0..<size).map { UInt8(truncatingIfNeeded: ($0 &* 31) >> 3) }
        let id = try fixture.git(["hash-object", "-w", "--stdin"], input: content)
        return String(decoding: id.prefix(40), as: UTF8.self)
      }
      try body(try GitRepository(path: fixture.path).objects(), blobs)
    }
  }
}
