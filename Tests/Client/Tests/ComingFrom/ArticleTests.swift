// Goal: the article that shows Cambium beside other projects says what is true. Method: its pairs
// of fragments are read; those for Cambium must be in the tests of this folder, line by line, and
// none may have more lines than the original beside it.

import FoundationEssentials
import Testing

@Suite("The article on coming from elsewhere")
struct ArticleTests {
  private struct Pair {
    var original: [String]
    var ours: [String]
  }

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()

  private static func text(_ url: URL) throws -> String {
    String(decoding: try Data(contentsOf: url), as: UTF8.self)
  }

  /// The fragments of each row, line by line, without indentation.
  private static func pairs() throws -> [Pair] {
    let root = (0..<4).reduce(folder) { folder, _ in folder.deletingLastPathComponent() }
    let article = try text(root.appending(path: "Sources/Cambium/Cambium.docc/ComingFrom.md"))
    var (pairs, fragments): ([Pair], [[String]]) = ([], [])
    var isCode = false
    for line in article.split(separator: "\n", omittingEmptySubsequences: false) {
      let line = line.trimmed
      if line.hasPrefix("```") {
        isCode.toggle()
        if isCode { fragments.append([]) }
      } else if isCode {
        fragments[fragments.count - 1].append(line)
      } else if line.hasPrefix("@Row") {
        try #require(fragments.isEmpty, "code outside of a row: \(fragments)")
      } else if fragments.count == 2 {
        pairs.append(Pair(original: fragments[0], ours: fragments[1]))
        fragments = []
      }
    }
    try #require(!isCode && fragments.isEmpty)
    return pairs
  }

  @Test("shows code that the tests run")
  func verbatim() throws {
    let sources = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path())
      .filter { $0.hasSuffix("Tests.swift") && !$0.hasPrefix("Article") }
      .map { try Self.text(Self.folder.appending(path: $0)) }
      .map { "\n" + $0.split(separator: "\n").map(\.trimmed).joined(separator: "\n") + "\n" }
    let pairs = try Self.pairs()
    #expect(pairs.count > 30 && sources.count == 8)
    for pair in pairs {
      // An empty line divides parts that are at different places.
      for part in pair.ours.split(separator: "") {
        let part = "\n" + part.joined(separator: "\n") + "\n"
        #expect(sources.contains { $0.contains(part) }, "not in the tests: \(part)")
      }
    }
  }

  @Test("shows nothing that is longer than the original")
  func lengths() throws {
    for pair in try Self.pairs() {
      let lengths = [pair.original, pair.ours].map { $0.filter { !$0.isEmpty }.count }
      #expect(lengths[1] <= lengths[0], "\(lengths) lines: \(pair.ours.joined(separator: "\n"))")
    }
  }
}

extension Substring {
  fileprivate var trimmed: String {
    let kept = drop { $0 == " " }
    return String(kept.reversed().drop { $0 == " " }.reversed())
  }
}
