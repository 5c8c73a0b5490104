import Cambium
import FoundationEssentials
import Testing

@testable import CambiumCommands

/// Goal: a command line means what its user expects, or says how to write it. Method: tables of
/// lines, and random lines built from the words of the table of commands.
@Suite("The parser") struct ParserTests {
  private static func parser(database: String? = "default.cambium") -> Parser {
    let here = Surroundings(
      environment: database.map { ["CAMBIUM_DB": $0] } ?? [:],
      now: Date(timeIntervalSince1970: 1_795_000_000), zone: .utc,
      holdsDatabase: { $0 == "held" })
    return Parser(commands: Commands.all, here: here)
  }

  private static func parse(_ line: String, database: String? = "default.cambium") throws
    -> Invocation
  {
    try parser(database: database).parse(shellWords(line))
  }

  private static func failure(_ line: String, database: String? = "default.cambium") -> Failure? {
    do {
      _ = try parse(line, database: database)
      return nil
    } catch {
      return error as? Failure
    }
  }

  @Test(
    "reads options in every way of writing them",
    arguments: [
      "log db.cambium users -n 5 -r", "log -n5 -r db.cambium users", "log -rn5 db.cambium users",
      "log -rn 5 db.cambium users", "log --limit=5 --reverse db.cambium users",
      "log db.cambium --limit 5 users --reverse", "log -n 7 --reverse -n 5 db.cambium users",
      "log -r -n 5 -- db.cambium users", "--reverse log -n 5 db.cambium users",
      "-n 5 log -r db.cambium users",
    ])
  func spellings(_ line: String) throws {
    let invocation = try Self.parse(line)
    #expect(invocation.command.name == "log")
    #expect(invocation.database == "db.cambium")
    #expect(invocation[LogCommand.path]?.path == "users")
    #expect(invocation[.limit]?.number == 5)
    #expect(invocation.has(.reverse))
  }

  @Test(
    "tells the database from what comes after it",
    arguments: [
      // Line, default, database, path.
      ("tree", "d.cambium", "d.cambium", nil),
      ("tree held", "d.cambium", "held", nil),
      ("tree new.cambium", "d.cambium", "new.cambium", nil),
      ("tree new.cambium/", "d.cambium", "new.cambium/", nil),
      ("tree users", "d.cambium", "d.cambium", "users"),
      ("tree users", nil, "users", nil),
      ("tree shop users", "d.cambium", "shop", "users"),
      ("get users/ada", "d.cambium", "d.cambium", "users/ada"),
      ("get shop users/ada", "d.cambium", "shop", "users/ada"),
      ("get shop users/ada", nil, "shop", "users/ada"),
    ] as [(String, String?, String, NodePath?)])
  func database(_ line: String, fallback: String?, database: String, path: NodePath?) throws {
    let invocation = try Self.parse(line, database: fallback)
    #expect(invocation.database == database)
    let operand = try #require(invocation.command.operands.last)
    #expect(invocation[operand]?.path == path)
  }

  @Test("takes the current directory where it holds a database")
  func currentDirectory() throws {
    var here = Surroundings(
      environment: ["CAMBIUM_DB": ""], now: Date(), zone: .utc, holdsDatabase: { $0 == "." })
    #expect(try Parser(commands: Commands.all, here: here).parse(["info"]).database == ".")
    here.environment["CAMBIUM_DB"] = "other"
    #expect(try Parser(commands: Commands.all, here: here).parse(["info"]).database == "other")
  }

  @Test("reads each value as its kind says")
  func kinds() throws {
    let put = try Self.parse("put db.cambium users/1 -5 --if-seq 12 --wait 1min --actor=anna")
    #expect(put.value(PutCommand.value).text == "-5")
    #expect(put[.ifSequence]?.number == 12)
    #expect(put.value(.wait).duration == .seconds(60))
    #expect(put[.actor]?.text == "anna")
    #expect(put[.reason] == nil)
    let get = try Self.parse("get users --at -10m")
    #expect(get[.at]?.moment == .date(Date(timeIntervalSince1970: 1_795_000_000 - 600)))
    let text = try Self.parse("import db.cambium - --into a --text b --text c --format csv")
    #expect(text.all(ImportCommand.text).map(\.text) == ["b", "c"])
    #expect(text[ImportCommand.file]?.text == "-")
    #expect(text[ImportCommand.batch]?.number == 1000)
    #expect(try Self.parse("put db.cambium a -- --json")[PutCommand.value]?.text == "--json")
  }

  @Test("knows the format that was asked for last")
  func format() throws {
    #expect(try Self.parse("log").format == .short)
    #expect(try Self.parse("log --json").format == .json)
    #expect(try Self.parse("log --json -o csv").format == .csv)
    #expect(try Self.parse("log -ocsv --json").format == .json)
    #expect(try Self.parse("export").format == .json)
    #expect(try Self.parse("log --json").isPaged == false)
    #expect(try Self.parse("log").isPaged)
    #expect(try Self.parse("verify -q").progress == "never")
    #expect(try Self.parse("verify").progress == "auto")
  }

  @Test(
    "turns a request for help into the command that gives it",
    arguments: [
      ("", nil, false), ("--help", nil, false), ("-h", nil, false),
      ("log --help", "log", false), ("log -h", "log", true), ("log --nothing --help", nil, false),
      ("log -rh", "log", true), ("--help log", "log", false),
      ("log --help --nothing", "log", false),
    ] as [(String, String?, Bool)])
  func help(_ line: String, subject: String?, isShort: Bool) throws {
    if line.contains("--nothing --help") {
      #expect(Self.failure(line)?.code == "unknown_option")
      return
    }
    let invocation = try Self.parse(line)
    #expect(invocation.command.name == "help")
    #expect(invocation[HelpCommand.subject]?.text == subject)
    #expect(invocation.has(HelpCommand.short) == isShort)
    #expect(try Self.parse("--version").command.name == "version")
  }

  @Test(
    "says what is wrong, how it is written, and what to do",
    arguments: [
      ("lgo", "no command “lgo”", "cambium log"),
      ("stat", "no command “stat”", "cambium help"),
      ("held", "no command “held”", "cambium info held"),
      ("log --snce 5", "no option --snce", "--since"),
      ("log --qqqqqq", "no option --qqqqqq", "log -h"),
      ("log -x", "no option -x", "log -h"),
      ("log -n", "-n needs a value: N", "log -h"),
      ("log --since --json", "--since needs a value: REV", "--since=--json"),
      ("log --reverse=1", "--reverse takes no value", "log -h"),
      ("log -n five", "whole number", "log -h"),
      ("log -n -5", "whole number", "log -h"),
      ("log -o xml", "one of short, table, json, json-pretty", "log -h"),
      ("log --since yesterdy", "a moment is", "log -h"),
      ("get", "PATH is missing", "get -h"),
      ("get held", "PATH is missing", "get -h"),
      ("get a//b", "PATH: “” cannot be a key", "~1"),
      ("info held a", "“a” is one operand too many", "info -h"),
      ("import held f.csv", "--into PATH is missing", "import -h"),
      ("import held f.csv --into a --batch 0", "from 1 to", "import -h"),
      ("put held a 1 --wait 5parsecs", "a unit is one of", "put -h"),
    ])
  func errors(_ line: String, message: String, hint: String) throws {
    let failure = try #require(Self.failure(line))
    #expect(failure.exit == .usage)
    #expect(failure.message?.contains(message) == true, "\(failure.text)")
    #expect(failure.hint?.contains(hint) == true, "\(failure.text)")
    #expect(failure.usage?.hasPrefix("cambium ") == true)
  }

  @Test("asks for a database where none can be meant")
  func noDatabase() throws {
    for line in ["info", "log", "get users/ada", "put users/ada 1"] {
      let failure = try #require(Self.failure(line, database: nil))
      #expect(failure.message == "no database is named")
      #expect(failure.hint?.contains("CAMBIUM_DB") == true)
    }
  }

  @Test("marks the place in a value that cannot be read")
  func caret() throws {
    let failure = try #require(Self.failure("get a --at 2026-02-30"))
    #expect(failure.excerpt == .init(text: "2026-02-30", offset: 8))
    #expect(failure.text.contains("    2026-02-30\n            ^\n"))
  }

  @Test("finds the request for JSON in a line that it cannot read")
  func wantsJSON() {
    for line in ["log -o json --x", "x --json", "-ojson", "log --output=json", "log --output json"]
    {
      #expect(Parser.wantsJSON(Self.shellWords(line)), "\(line)")
    }
    for line in ["log -o csv", "log json", "put a -- --json", ""] {
      #expect(!Parser.wantsJSON(Self.shellWords(line)), "\(line)")
    }
  }

  @Test("gives every random line a meaning or an error of usage", arguments: [1, 2, 3] as [UInt64])
  func randomLines(seed: UInt64) {
    var words = Commands.all.flatMap { $0.allOptions.map { "--" + $0.name } + [$0.name] }
    words += [
      "-", "--", "-n", "-n5", "-rqh", "-5", "", "=", "--=", "--at=", "é", "held", "a/b", "HEAD",
    ]
    words += ["-o", "json", "--limit=9", "-é", "---", "\u{1B}[2J", "3..x"]
    var random = SplitMix(seed: seed)
    var meanings = 0
    for _ in 0..<5000 {
      let line = (0..<Int.random(in: 0...6, using: &random)).map { _ in
        words.randomElement(using: &random) ?? ""
      }
      do {
        _ = try Self.parser().parse(line)
        meanings += 1
      } catch {
        #expect(error.exit == .usage, "seed \(seed): \(line)")
        #expect(error.text.unicodeScalars.allSatisfy { $0 != "\u{1B}" }, "seed \(seed): \(line)")
      }
    }
    #expect(meanings > 100, "seed \(seed)")
  }

  /// Splits at spaces outside of quotes, as a shell does.
  static func shellWords(_ line: String) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    for character in line {
      if character == quote {
        quote = nil
      } else if quote == nil && "'\"".contains(character) {
        quote = character
        word = word ?? ""
      } else if quote == nil && character == " " {
        words += word.map { [$0] } ?? []
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    return words + (word.map { [$0] } ?? [])
  }
}
