// Goal: a line is taken apart as a POSIX shell does it. Method: random lines of what has a meaning
// are given to sh as well, and both must find the same words.

import Testing

@testable import CambiumCommands

@Suite("A line's words")
struct LineWordsTests {
  @Test(
    "are those that sh finds",
    arguments: [1, 2, 3, 4, 5])
  func likeShell(_ seed: UInt64) throws {
    var random = InterchangeRandom(seed: seed)
    let pieces = ["a", "é", " ", "  ", "'", "\"", "\\", "x#", " #", "=", "/", "-", "{", ":"]
    for _ in 0..<60 {
      let line = (0..<random.below(14)).map { _ in random.pick(pieces) }.joined()
      let read = try LineWords(line)
      if read.isUnfinished { continue }
      let script = "printf '%s\\0' \(line)\n"
      let shell = try ChildProcess("sh", ["-c", script], environment: ["LANG": "C.UTF-8"])
      let expected = try shell.readAll().split(separator: 0, omittingEmptySubsequences: false)
        .dropLast().map { String(decoding: $0, as: UTF8.self) }
      // Without an argument, printf prints its format once.
      #expect(read.words == (read.words.isEmpty && expected == [""] ? [] : expected), "\(line)")
    }
  }

  @Test("tell what is being written, and where it begins")
  func last() throws {
    #expect(try LineWords("get users/a").typed.before == ["get"])
    #expect(try LineWords("get users/a").last == .init(start: 4, text: "users/a"))
    #expect(try LineWords("get 'a b").last == .init(start: 4, text: "a b"))
    #expect(try LineWords("get 'a b").isUnfinished)
    #expect(try LineWords("é\\ x").last == .init(start: 0, text: "é x"))
    #expect(try LineWords("get ").last == nil)
    #expect(try LineWords("get ''").words == ["get", ""])
    #expect(try LineWords("get 'a\nb' \"\\\n\" \\\nc").words == ["get", "a\nb", "", "c"])
  }

  @Test("are escaped so that they are read again", arguments: ["a b", "it's", "#x", "a\\\"|é;"])
  func escapes(_ word: String) throws {
    #expect(try LineWords(LineWords.escaped(word)).words == [word])
  }

  @Test("are not what only a shell of the system understands", arguments: ["|", ">", ";", "&"])
  func refuses(_ mark: String) throws {
    let failure = try #require(throws: Failure.self) { try LineWords("é \(mark) b") }
    #expect(failure.exit == .usage && failure.excerpt?.offset == 3)
    #expect(try LineWords("é '\(mark)'").words == ["é", mark])
  }
}
