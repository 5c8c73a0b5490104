@testable import CambiumCommands

/// A generated history as a stream for `git fast-import`.
///
/// Goal: everything that a git history can hold and an importer could get wrong. Renames of files
/// and folders, mode changes, symbolic links, submodules, deletes, files that become folders and
/// back in one commit, names with every kind of character, empty commits, merges (of several
/// parents; that change nothing; whose first parent is the side branch), dates out of order.
///
/// Method: a plain model of the tree beside each commit, so that every change can be made.
struct GitFixtureGenerator {
  var idLength = 40
  private var random: SplitMix
  private var stream: [UInt8] = []
  private var marks = 0
  private let names: [[UInt8]]

  init(seed: UInt64, invalidPaths: Bool) {
    random = SplitMix(seed: seed)
    let invalid: [[UInt8]] = [[0xff], [0x61, 0xc3], [0xc3, 0x28, 0x62], [0xed, 0xa0, 0x80]]
    names = GitFixtureGenerator.names.map { Array($0.utf8) } + (invalidPaths ? invalid : [])
  }

  /// A commit and what is in its tree.
  private struct Tip {
    let mark: Int
    var tree: Tree
  }

  /// Files in a fixed order: a dictionary's changes from run to run.
  private struct Tree {
    var paths: [[UInt8]] = []
    var modes: [[UInt8]: String] = [:]

    mutating func remove(_ path: [UInt8]) {
      let folder = path + [slash]
      paths.removeAll { $0 == path || $0.starts(with: folder) }
      modes = modes.filter { $0.key != path && !$0.key.starts(with: folder) }
    }

    mutating func put(_ path: [UInt8], mode: String) {
      remove(path)
      for end in path.indices where path[end] == slash {
        let folder = Array(path[..<end])
        if modes.removeValue(forKey: folder) != nil { paths.removeAll { $0 == folder } }
      }
      paths.append(path)
      modes[path] = mode
    }
  }
}

private let slash = UInt8(ascii: "/")

// MARK: Commits

extension GitFixtureGenerator {
  /// The whole stream.
  mutating func history(commits: Int) -> [UInt8] {
    var head = commit(on: "main", from: nil, edits: 60)
    var recent = [head]
    while marks < commits {
      head = step(from: head, recent)
      recent = recent.suffix(8) + [head]
    }
    write("reset refs/heads/main\nfrom :\(head.mark)\n\n")
    write("tag v1\nfrom :\(head.mark)\ntagger A <a@b> 1600000000 +0000\ndata 2\nv1\n")
    return stream
  }

  private mutating func step(from head: Tip, _ recent: [Tip]) -> Tip {
    switch roll(10) {
    case 0: return commit(on: "main", from: head, edits: 0)
    case 1, 2: return merge(head, side(from: recent[roll(recent.count)]))
    case 3:
      let octopus = [side(from: recent[roll(recent.count)]), side(from: head)]
      return commit(on: "main", from: head, merging: octopus, edits: roll(4))
    default: return commit(on: "main", from: head, edits: 1 + roll(8))
    }
  }

  private mutating func side(from start: Tip) -> Tip {
    var tip = start
    for _ in 0...roll(3) { tip = commit(on: "side", from: tip, edits: 1 + roll(5)) }
    return tip
  }

  /// In one of three merges the side branch is the first parent: the main line loses its past.
  private mutating func merge(_ head: Tip, _ side: Tip) -> Tip {
    roll(3) == 0
      ? commit(on: "main", from: side, merging: [head], edits: roll(4))
      : commit(on: "main", from: head, merging: [side], edits: roll(4))
  }

  private mutating func commit(
    on branch: String, from parent: Tip?, merging others: [Tip] = [], edits: Int
  ) -> Tip {
    marks += 1
    var tip = Tip(mark: marks, tree: parent?.tree ?? Tree())
    write("commit refs/heads/\(branch)\nmark :\(tip.mark)\n")
    let author = GitFixtureGenerator.authors[roll(GitFixtureGenerator.authors.count)]
    let zone = ["+0000", "-0830", "+1345"][roll(3)]
    let time = 1_600_000_000 + tip.mark * 3600 - roll(20_000)
    write("author \(author) \(time) \(zone)\ncommitter C <c@example.org> \(time + 60) +0100\n")
    let message = GitFixtureGenerator.messages[roll(GitFixtureGenerator.messages.count)]
    write("data \(message.utf8.count)\n\(message)\n")
    if let parent { write("from :\(parent.mark)\n") }
    for other in others { write("merge :\(other.mark)\n") }
    for _ in 0..<edits { edit(&tip.tree) }
    write("\n")
    return tip
  }
}

// MARK: Edits

extension GitFixtureGenerator {
  private mutating func edit(_ tree: inout Tree) {
    guard !tree.paths.isEmpty else { return put(newPath(), in: &tree) }
    let path = tree.paths[roll(tree.paths.count)]
    // The last two remove: all that is done to a large tree, and not done to a small one.
    let kind = tree.paths.count > 150 ? 10 + roll(2) : roll(tree.paths.count < 50 ? 10 : 12)
    switch kind {
    case 0, 1, 2, 3: put(newPath(), in: &tree)
    case 4: put(path, mode: tree.modes[path], in: &tree)
    case 5: put(path, in: &tree)
    case 6: put(path + [slash] + name(), in: &tree)
    case 7: put(folder(of: path), in: &tree)
    case 8: rename(path, in: &tree)
    case 9: rename(folder(of: path), in: &tree)
    case 10: remove(path, in: &tree)
    default: remove(folder(of: path), in: &tree)
    }
  }

  private mutating func put(_ path: [UInt8], mode given: String? = nil, in tree: inout Tree) {
    let modes = ["100644", "100644", "100644", "100755", "120000", "160000"]
    let mode = given ?? modes[roll(modes.count)]
    tree.put(path, mode: mode)
    if mode == "160000" {
      let id = (0..<idLength).map { _ in String(roll(16), radix: 16) }.joined()
      return write("M 160000 \(id) ", path, "\n")
    }
    let content = "content \(roll(50))\n" + String(repeating: "x\0\n", count: roll(100))
    write("M \(mode) inline ", path, "\ndata \(content.utf8.count)\n\(content)\n")
  }

  private mutating func rename(_ path: [UInt8], in tree: inout Tree) {
    let target = newPath()
    guard !(target + [slash]).starts(with: path + [slash]),
      !(path + [slash]).starts(with: target + [slash])
    else { return }
    let moved = tree.paths.filter { $0 == path || $0.starts(with: path + [slash]) }
    let modes = moved.map { tree.modes[$0] ?? "" }
    write("R ", path, " ")
    write("", target, "\n")
    tree.remove(path)
    tree.remove(target)
    for (old, mode) in zip(moved, modes) {
      tree.put(target + old.dropFirst(path.count), mode: mode)
    }
  }

  private mutating func remove(_ path: [UInt8], in tree: inout Tree) {
    tree.remove(path)
    write("D ", path, "\n")
  }

  private mutating func newPath() -> [UInt8] {
    Array((0...roll(4)).map { _ in name() }.joined(separator: [slash]))
  }

  private mutating func name() -> [UInt8] { names[roll(names.count)] }

  /// One of the folders that a path lies in, or the path itself where it lies in none.
  private mutating func folder(of path: [UInt8]) -> [UInt8] {
    let ends = path.indices.filter { path[$0] == slash }
    return ends.isEmpty ? path : Array(path[..<ends[roll(ends.count)]])
  }
}

// MARK: Writing

extension GitFixtureGenerator {
  private mutating func roll(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private mutating func write(_ text: String) { stream += text.utf8 }

  private mutating func write(_ before: String, _ path: [UInt8], _ after: String) {
    write(before + GitError.quoted(path) + after)
  }

  /// Names that look like integers and UUIDs, and some that nearly do; with spaces, quotes, line
  /// feeds and glob characters; equal but for normalization or case; of the greatest length.
  private static let names = [
    "src", "docs", "a", "b", "c.txt", "B", "42", "007", "-5", "-0", "9223372036854775807",
    "9223372036854775808", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", "with space", " lead", "trail ", "quote\"s", "it's",
    "back\\slash", "\\101", "tab\there", "line\nfeed", "\n", "til~de", "~0", "~1", "na\u{EF}ve",
    "nai\u{308}ve", "日本語", "🎄", "*", "?", "[x]", ":100644 100644", "-dash", "--", "\u{1}",
    "\u{7f}", "\u{FEFF}bom", "...", ".hidden", "%H", String(repeating: "n", count: 480),
  ]

  private static let authors = [
    "Ada Lovelace <ada@example.org>", "Zo\u{EB} Ñandú <zoe@example.org>", "名前 <n@example.org>",
    "O'Brien \"Q\" <>", "A  B <a b@c>",
  ]

  private static let messages = [
    "Add the parser\n", "Two\nlines in the subject\n\nand a body\n", "", "\n\n  padded\n\n",
    "a:b :100644 100644", "tab\there\u{1}\n", "naïve 🎄\n\nSigned-off-by: A <a@b>\n",
    "commit 0123456789012345678901234567890123456789\n",
  ]
}
