import Cambium
import LMDB
import Testing

@testable import CambiumCommands

@Suite("A failure") struct FailureTests {
  @Test("is told with what to do, and for programs in one line of JSON")
  func text() {
    var failure = Failure(.missing, "no_database", "no database at a\nb", hint: "check\u{1B} it")
    #expect(failure.text == "cambium: error: no database at a\\nb\n  hint: check\\u{1b} it\n")
    #expect(
      failure.json
        == #"{"error":{"code":"no_database","message":"no database at a\nb","#
        + #""hint":"check\u001b it"}}"# + "\n")
    failure.hint = nil
    failure.usage = "cambium info [OPTIONS] [DB]"
    failure.excerpt = .init(text: "漢字 x", offset: 6)
    #expect(
      failure.text == """
        cambium: error: no database at a\\nb
            漢字 x
                ^
          usage: cambium info [OPTIONS] [DB]

        """)
  }

  @Test("is damage where LMDB has found damage, whoever met it")
  func damage() {
    let failure = Failure(StorageError(code: -30796, while: "reading"), database: "a.cambium")
    #expect(failure.exit == .corrupt && failure.code == "corrupt")
    #expect(failure.message?.contains("MDB_CORRUPTED") == true)
  }

  @Test("is bad input where a path is longer than one can be")
  func longPaths() throws {
    let key = String(repeating: "k", count: 481)
    let name = String(repeating: "n", count: 256)
    let path = String(repeating: "a/", count: 2048)
    try Workplace.with { place in
      for words in [
        "get a.cambium p/\(key)", "put a.cambium \(key) 1", "import a.cambium r.csv --into \(key)",
        "get \(name).cambium p", "put --create \(path)a.cambium p 1", "verify \(name)/a.cambium",
        "import a.cambium \(name).csv --into r", "replay a.cambium --to \(name)",
      ] {
        let printed = try place.run("cambium put --create a.cambium x 1 -q; cambium \(words)")
        #expect(printed.contains("too long") && printed.hasSuffix("[7]\n"), "\(printed)")
      }
    }
  }

  @Test(
    "has the exit code and the name of what the database reports",
    arguments: [
      (.badKey("", reason: "it is empty"), 7, "bad_key"),
      (.badValue("a", reason: "no"), 7, "bad_value"),
      (.notFound("a/b c", reason: "no node"), 3, "not_found"),
      (.exists("a", reason: "a node"), 7, "exists"),
      (.conflict("a", expected: 3, found: 5), 7, "conflict"),
      (.misuse(reason: "write inside write"), 7, "misuse"),
      (.undoConflict([]), 7, "undo_conflict"),
      (
        .transactionTooLarge(bytes: 2_000_000_000, limit: 1_000_000_000), 7, "transaction_too_large"
      ),
      (.busy(reason: "another writer"), 5, "busy"), (.alreadyOpen(path: "x"), 5, "already_open"),
      (.noSuchMoment(reason: "the newest is 9"), 3, "no_such_moment"),
      (.compacted(oldest: 40), 7, "compacted"), (.noDatabase(path: "x"), 3, "no_database"),
      (.unsupported(path: "x", reason: "format 9"), 6, "unsupported"),
      (.readOnly(reason: "no permission"), 8, "read_only"), (.full(reason: "disk"), 8, "full"),
      (.stateBehind(applied: 4, head: 5, reason: "disk"), 8, "state_behind"),
      (.corrupt(reason: "record 7"), 4, "corrupt"), (.ioFailure(reason: "EIO"), 8, "io_failure"),
      (.outcomeUnknown(9), 8, "outcome_unknown"), (.closed(reason: "forked"), 8, "closed"),
    ] as [(DatabaseError, Int32, String)])
  func database(_ error: DatabaseError, exit: Int32, code: String) throws {
    let failure = Failure(error, database: "my shop.cambium")
    #expect(failure.exit.rawValue == exit)
    #expect(failure.code == code)
    let message = try #require(failure.message)
    #expect(!message.isEmpty && !message.contains("DatabaseError") && !message.contains("reason:"))
    if let hint = failure.hint {
      #expect(!hint.contains(" DB"), "names the database: \(hint)")
    }
  }

  @Test("names the next command, ready to be pasted")
  func hints() {
    let hint = { (error: DatabaseError, database: String?) in
      Failure(error, database: database).hint ?? ""
    }
    #expect(hint(.notFound("a/b c/d", reason: ""), "x").hasPrefix("`cambium tree x 'a/b c'`"))
    #expect(hint(.notFound("a", reason: ""), nil).hasPrefix("`cambium tree DB`"))
    #expect(hint(.corrupt(reason: ""), "it's").hasPrefix(#"`cambium verify 'it'\''s'`"#))
    #expect(hint(.conflict("a", expected: 1, found: 7), "x").contains("`cambium show x 7`"))
    #expect(Shell.quoted("") == "''" && Shell.quoted("a-b_c/d.e~") == "'a-b_c/d.e~'")
    #expect(Shell.quoted("a-b_c/d.e") == "a-b_c/d.e" && Shell.quoted("é") == "'é'")
  }

  @Test("comes of any error")
  func others() {
    struct Odd: Error {}
    let stopped = Failure.silent(.success)
    #expect(Failure(stopped, database: nil) == stopped)
    #expect(Failure(CancellationError(), database: nil).exit == .interrupted)
    #expect(Failure(Odd(), database: nil).message == "Odd()")
    #expect(Failure(Odd(), database: nil).exit == .negative)
    let input = InputError(input: "a.csv", place: nil, reason: "it is gone", hint: "look")
    #expect(
      Failure(input, database: nil).text == "cambium: error: a.csv: it is gone\n  hint: look\n")
    let git = GitError.noRepository(path: "x", reason: "y")
    #expect(Failure(git, database: nil).exit == .missing)
    let child = ChildProcessError.notFound(program: "git")
    #expect(Failure(child, database: nil).exit == .inputOutput)
    #expect(
      Failure.system("cannot read x", errno: 2).message
        == "cannot read x: No such file or directory")
  }
}
