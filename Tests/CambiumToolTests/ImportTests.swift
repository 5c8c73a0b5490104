// Goal: an import makes records of what is given, names the place of what is wrong, and never lets
// a row or a digit go in silence. Method: small files, imported by the program.

import Foundation
import Testing

@testable import CambiumCommands

@Suite("An import", .timeLimit(.minutes(1)))
struct ImportTests {
  /// Runs commands after a file was written. The rate that is printed differs each time.
  private static func run(_ file: String, _ text: String, _ commands: String) throws -> String {
    try Workplace.with { place in
      try text.write(toFile: "\(place.folder)/\(file)", atomically: true, encoding: .utf8)
      return try place.run(commands).replacing(#/, \S+ rows\/s/#, with: "")
    }
  }

  private static let nested =
    #"{"id": "a", "tags": ["x", 1], "home": {"city": "Rome", "rooms": [1, {"n": null}]}}"#

  @Test("makes a record of each JSON object, whatever is inside")
  func records() throws {
    let printed = try Self.run(
      "rows.jsonl", Self.nested + "\n",
      "cambium import -q a.cambium rows.jsonl --into rows --key id && cambium export a.cambium")
    #expect(
      printed == """
        {"path": "rows/a", "value": {"home":{"city":"Rome","rooms":[1,{"n":null}]},"id":"a",\
        "tags":["x",1]}}

        """)
    let array = try Self.run(
      "rows.json", "[\(Self.nested)]",
      """
      cambium import -q a.cambium rows.json --into rows --key id
      cambium query a.cambium 'rows where tags has "x"' -o json --fields id
      """)
    #expect(array == "{\"id\":\"a\"}\n")
  }

  @Test("makes children of JSON objects when it is asked to")
  func children() throws {
    let printed = try Self.run(
      "rows.jsonl", Self.nested + "\n",
      """
      cambium import -q a.cambium rows.jsonl --into rows --key id --children
      cambium export a.cambium && cambium verify -q a.cambium
      """)
    #expect(
      printed == """
        {"path": "rows/a/home/city", "value": "Rome"}
        {"path": "rows/a/home/rooms", "value": [1,{"n":null}]}
        {"path": "rows/a/id", "value": "a"}
        {"path": "rows/a/tags", "value": ["x",1]}

        """)
  }

  @Test("refuses a key that comes twice, and names both lines and the remedy")
  func duplicates() throws {
    let command = "cambium import a.cambium"
    let csv = try Self.run("r.csv", "k,v\na,1\nb,2\na,3\n", "\(command) r.csv --into r --key k; ls")
    #expect(
      csv == """
        cambium: error: r.csv:4:1: expected each key once, found "a" again, the key of line 2, \
        column 1 (byte 12)
          hint: correct one of them, or add --on-duplicate last, first or skip; nothing was \
        imported; mend it and run the same command again
        r.csv

        """)
    let json = try Self.run(
      "r.json", #"[{"k": 1}, {"k": 1}]"#, "\(command) r.json --into r --key k 2>&1 | head -n 1")
    #expect(
      json == "cambium: error: r.json:1:12: expected each key once, found \"1\" again, the key of "
        + "line 1, column 2 (byte 11)\n")
  }

  @Test(
    "takes the row of a key that it is told to take",
    arguments: [("last", "a,3\nb,2\nc,old\n", 3), ("first", "a,1\nb,2\nc,4\n", 3)])
  func treatment(_ name: String, _ rows: String, _ count: Int) throws {
    let last = name == "last"
    let printed = try Self.run(
      "r.csv", "k,v\na,1\nb,2\na,3\n" + (last ? "" : "c,4\n"),
      """
      cambium put --create a.cambium r/c '{"k": "c", "v": "old"}' -q
      cambium import a.cambium r.csv --into r --key k --on-duplicate \(name)
      cambium export a.cambium r -o csv --columns k,v
      """)
    let report =
      last
      ? "imported 3 rows in 1 transaction\n"
      : "imported \(count) rows in 1 transaction\nleft out 1 row whose key was there\n"
    #expect(printed == report + "k,v\n" + rows)
  }

  @Test("leaves out what is there already when it is told to skip that, also when it goes on")
  func skipping() throws {
    let printed = try Self.run(
      "r.csv", "k,v\na,1\nb,2\na,3\nc,4\n",
      """
      cambium put --create a.cambium r/c '{"k": "c", "v": "old"}' -q
      cambium import a.cambium r.csv --into r --key k --on-duplicate skip --batch 2 -o json
      cambium export a.cambium r -o csv --columns k,v
      cambium verify -q a.cambium
      """)
    #expect(
      printed == """
        {"rows":2,"transactions":2,"resumed":0,"left_out":2}
        k,v
        a,1
        b,2
        c,old

        """)
  }

  @Test("finds a key again that an interrupted run has committed")
  func resumed() throws {
    let printed = try Self.run(
      "r.csv", "k\na\nb\nc\na\n",
      """
      cambium import -q a.cambium r.csv --into r --key k --batch 2 2>&1 | head -n 1
      cambium import -q a.cambium r.csv --into r --key k --batch 2 2>&1 | head -n 1
      cambium tree a.cambium r --depth 0
      """)
    let line =
      "cambium: error: r.csv:5:1: expected each key once, found \"a\" again, the key of line 2, "
      + "column 1 (byte 8)\n"
    #expect(printed == line + line + "r  2 children\n")
  }

  @Test(
    "reads tables with other delimiters",
    arguments: [
      ("t.tsv", "a\tb,c\n1\t\"x\ty\"\n", ""), ("t.csv", "a;b,c\n1;\"x;y\"\n", "--delimiter ';'"),
      ("t.txt", "a|b,c\n1|\"x|y\"\n", "--format csv --delimiter '|'"),
      ("t.csv", "a\tb,c\n1\t\"x\ty\"\n", "--delimiter tab"),
    ])
  func delimiters(_ file: String, _ text: String, _ options: String) throws {
    let printed = try Self.run(
      file, text,
      """
      cambium import -q a.cambium \(file) --into t \(options)
      cambium export a.cambium t | cut -d ' ' -f 4-
      """)
    let value = text.split(separator: "\"")[1].replacing("\t", with: "\\t")
    #expect(printed == "{\"a\":1,\"b,c\":\"\(value)\"}}\n")
  }

  @Test("refuses what cannot be a delimiter", arguments: ["x", "5", "ab", "'\"'", "é"])
  func badDelimiter(_ text: String) throws {
    let printed = try Self.run(
      "t.csv", "a\n", "cambium import a.cambium t.csv --into t --delimiter \(text)")
    #expect(printed.hasPrefix("cambium: error: --delimiter cannot be "))
    #expect(printed.hasSuffix("[2]\n"))
  }

  @Test("names line and column of what is larger than CSV or a record may be")
  func limits() throws {
    let long = String(repeating: "x", count: 1_100_000)
    let columns = (0...CSVReader.columnsMax).map { "c\($0)" }.joined(separator: ",")
    let name = String(repeating: "n", count: 481)
    for (text, options, place) in [
      ("a,b,c\n1,2,3\n1,\(long),3\n", "", "t.csv:3:3: expected a record of at most 1 MiB"),
      (columns + "\n", "", "t.csv:1:\(columns.utf8.count - 5): expected at most 16384 columns"),
      ("a,\(name)\n1,2\n", "", "t.csv:1:3: expected the name of a property, but it has 481 bytes"),
      ("a,b\n1,2\n1,\(name)\n", "--key b", "t.csv:3:3: expected a key, but it has 481 bytes"),
    ] as [(String, String, String)] {
      let printed = try Self.run(
        "t.csv", text, "cambium import a.cambium t.csv --into t \(options)")
      #expect(printed.hasPrefix("cambium: error: \(place)"), "\(printed)")
      #expect(printed.hasSuffix("[1]\n"))
    }
    let json = try Self.run(
      "t.jsonl", "{\"a\": 1}\n{\"a\": \"\(long)\"}\n", "cambium import a.cambium t.jsonl --into t")
    #expect(json.hasPrefix("cambium: error: t.jsonl:2:1: t/") && json.hasSuffix("[1]\n"))
  }

  @Test("keeps a column of numbers one in which few have too many digits, and says so")
  func rounding() throws {
    let numbers = (1...20).map { "\($0).5\n" }.joined()
    let printed = try Self.run(
      "t.csv", "x\n" + numbers + "0.12345678901234567890123\n",
      """
      cambium import a.cambium t.csv --into t
      cambium query a.cambium 't | max(x), min(x)'
      """)
    #expect(
      printed == """
        cambium: the column x became a number, in which 1 value lost digits, the first in line 22; \
        with --text x all are kept
        imported 21 rows in 1 transaction
        max(x) 20.5  min(x) 0.12345678901234568

        """)
  }

  @Test("reads -0 as the integer that it is")
  func zero() throws {
    let printed = try Self.run(
      "t.csv", "k,x\n1,5\n2,-0\n",
      """
      cambium import -q a.cambium t.csv --into t --key k
      echo '[{"k": 3, "x": -0}]' | cambium import -q a.cambium - --format json --into t --key k
      cambium export a.cambium t
      """)
    #expect(
      printed == """
        {"path": "t/1", "value": {"k":1,"x":5}}
        {"path": "t/2", "value": {"k":2,"x":0}}
        {"path": "t/3", "value": {"k":3,"x":0}}

        """)
  }

  @Test("of a git history needs no files where their contents are not asked for")
  func partialClone() throws {
    let printed = try Workplace.with { place in
      try place.run(
        """
        git init -q full && echo one > full/a && cd full && git add a
        git -c user.name=Ada -c user.email=a@b.c commit -qm one
        git config uploadpack.allowFilter 1
        cd .. && git clone -q --bare --filter=blob:none "file://$PWD/full" part.git
        cambium import a.cambium --git part.git --into repo | cut -d , -f 1
        cambium export a.cambium repo
        cambium import b.cambium --git part.git --into repo --contents -q 2>&1 | head -c 22
        """)
    }
    #expect(
      printed == """
        cambium: the repository is a partial clone, so the sizes of files are left out
        imported 1 commit with 1 change
        {"path": "repo/a", "value": {"blob":"5626abf0f72e58d7a153368ba57db4c673c0e171",\
        "mode":"100644"}}
        cambium: error: object
        """)
  }
}
