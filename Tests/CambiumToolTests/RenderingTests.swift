import Cambium
import FoundationEssentials
import Testing

@testable import CambiumCommands

@Suite("What people read") struct RenderingTests {
  private static let painted = Style(choice: "always", isTerminal: false, environment: [:])

  @Test("is cut where the terminal ends, whatever the parts", arguments: 1...12)
  func cutting(columns: Int) {
    var line = StyledLine("ab", .heading)
    line.add("漢字")
    line.add("cd", .metadata)
    line.add("")
    #expect(line.width == 8)
    let text = line.text(.plain, columns: columns)
    #expect(Terminal.displayWidth(text) <= columns)
    if columns >= 8 {
      #expect(text == "ab漢字cd")
    } else {
      #expect(text.hasSuffix("…") && "ab漢字cd".hasPrefix(text.dropLast()))
      #expect(Terminal.displayWidth(text) >= columns - 1, "no column is given away: \(text)")
    }
    #expect(line.text(Self.painted).contains("\u{1B}[1mab\u{1B}[0m漢字"))
  }

  @Test("stands under the first item, or is indented where there is no room")
  func filling() {
    let items = ["one", "two", "three"].map { StyledLine($0) }
    let lines = { (head: String, columns: Int) in
      StyledLine.filled(StyledLine(head), items, columns: columns).map { $0.text(.plain) }
    }
    #expect(lines("+ a", 80) == ["+ a  one  two  three"])
    #expect(lines("+ a", 14) == ["+ a  one  two", "     three"])
    #expect(lines("+ aaaaaaaaaa", 18) == ["+ aaaaaaaaaa  one", "      two  three"])
    #expect(lines("+ a", 5) == ["+ a", "      one", "      two", "      three"])
    #expect(StyledLine.filled(StyledLine("+ a"), [], columns: 5).count == 1)
  }

  @Test(
    "shows a value on one line, in quotes where it could be taken for another",
    arguments: [
      (.null, "null"), (.bool(true), "true"), (.integer(-5), "-5"), (.double(12), "12.0"),
      (.string("plain"), "plain"), (.string("two words"), #""two words""#),
      (.string("12"), #""12""#), (.string("2013-01-01"), #""2013-01-01""#),
      (.string("true"), #""true""#), (.string("null"), #""null""#), (.string(""), #""""#),
      (.string("[x"), #""[x""#), (.string("a\u{1B}[2J"), #""a\u001b[2J""#),
      (.string("a\u{9B}2J"), #"a\u{9b}2J"#),
      (.string("a\nb c"), #""a\nb c""#), (.string("é漢"), "é漢"),
      (.date(Date(timeIntervalSince1970: 0.25)), "1970-01-01T00:00:00.25Z"),
      (.data(Data([0, 255])), "data 2 B AP8="), (.reference("a/b"), "reference a/b"),
      (.array([1, "x"]), #"[1,"x"]"#), (.map(["a": .null]), #"{"a":null}"#),
      (
        .blob(Blob(hash: [UInt8](repeating: 0xAB, count: 32), size: 1500)),
        "blob 1.5 kB abababababab"
      ),
      (.string(String(repeating: "x", count: 99)), String(repeating: "x", count: 47) + "…"),
    ] as [(Value, String)])
  func values(_ value: Value, text: String) { #expect(ValueText.short(value) == text) }

  @Test("keeps within its columns, however long the value is", arguments: [3, 8, 48])
  func columns(_ columns: Int) {
    let long = String(repeating: "ab ", count: 1000)
    let values: [Value] = [
      .string(long), .string(String(repeating: "漢", count: 1000)), .data(Data(long.utf8)),
      .array([.string(long)]), .double(-1.7976931348623157e308),
    ]
    for value in values {
      #expect(Terminal.displayWidth(ValueText.short(value, columns: columns)) <= columns)
    }
    #expect(ValueText.whole(.string(long)) == long)
  }

  @Test("has times that sort as they follow each other")
  func times() {
    let text = { JSONLine.text(Date(microseconds: $0 as Int64)) }
    #expect(text(0) == "1970-01-01T00:00:00.000000Z")
    #expect(text(1_795_000_000_250_000) == "2026-11-18T11:06:40.250000Z")
    #expect(text(1_795_000_000_000_001) == "2026-11-18T11:06:40.000001Z")
    #expect(text(-1) == "1969-12-31T23:59:59.999999Z")
  }

  @Test("is drawn with what the locale can show")
  func locales() {
    let branch = { TreeWalk.Marks.fitting($0).branch }
    #expect(branch([:]) == "├── ")
    #expect(branch(["LANG": "en_US.UTF-8"]) == "├── ")
    #expect(branch(["LANG": "C.utf8", "LC_ALL": ""]) == "├── ")
    #expect(branch(["LANG": "C"]) == "|-- ")
    #expect(branch(["LANG": "C.UTF-8", "LC_ALL": "de_DE.ISO-8859-1"]) == "|-- ")
  }

  @Test("counts children exactly where that is cheap, and up to a limit in the past")
  func tally() throws {
    try GitFixture.withFolder { folder in
      let database = try Database(at: folder + "/a.cambium")
      defer { try? database.close() }
      try database.write { tx in
        for number in 0..<12_000 {
          try tx.set(NodePath(keys: ["many", .integer(Int64(number))]), to: 1)
        }
        try tx.set("one/child", to: 1)
        try tx.set("late/last", to: 1)
      }
      let first = try database.head
      try database.write { tx in
        for number in 0..<12_000 {
          try tx.set(NodePath(keys: ["late", .integer(Int64(number))]), to: 1)
        }
      }
      let snapshot = try database.snapshot()
      #expect(try ChildTally(snapshot["many"], isPast: false).text == "12,000 children")
      #expect(try ChildTally(snapshot["many"], isPast: true).text == "1,000+ children")
      #expect(try ChildTally(snapshot["many"], isPast: true).left(after: 20) == "980+")
      #expect(try ChildTally(snapshot["one"], isPast: true).text == "1 child")
      #expect(try ChildTally(snapshot["none"], isPast: false).isNone)
      // Places that got their nodes later are passed by, up to a number; its one child lies behind.
      let past = try database.snapshot(at: .sequence(first))
      #expect(try ChildTally(past["late"], isPast: true).text == "0+ children")
      #expect(try past["late"].childCount == 1)
      #expect(try ChildTally(past["one"], isPast: true).text == "1 child")
    }
  }

  @Test("draws any depth")
  func depth() throws {
    try GitFixture.withFolder { folder in
      let database = try Database(at: folder + "/a.cambium")
      defer { try? database.close() }
      let path = NodePath(keys: (0..<2000).map { _ in "a" as Key })
      try database.write { tx in try tx.set(path, to: 1) }
      var count = 0
      let walk = TreeWalk(marks: .none, depthMax: .max, childrenMax: 1)
      try walk.forEach(from: database.snapshot().root) { _, _ in
        count += 1
      } cut: { _, _, _ in
        Issue.record("there is one child only")
      }
      #expect(count == 2001)
    }
  }
}

@Suite("A patch") struct PatchTests {
  @Test(
    "changes a value as RFC 7396 has it",
    arguments: [
      (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
      (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
      (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#),
      (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
      (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
      (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
      (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
      (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
      (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
      (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
      (#"{"e":null}"#, #"{"a":1}"#, #"{"a":1,"e":null}"#),
      (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
      (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
      (#"{"a":1}"#, "null", nil),
    ] as [(String, String, String?)])
  func merging(_ old: String, _ patch: String, _ expected: String?) throws {
    let value = { try JSONReader.value(of: $0 as String, name: "test") }
    let merged = PatchCommand.merged(try value(old), try value(patch))
    #expect(merged.map { JSONWriter.text($0) } == expected)
  }
}
