import Testing

@testable import CambiumCommands

@Suite("The terminal") struct TerminalTests {
  @Test(
    "is shown no character that it would obey",
    arguments: [
      ("plain, é, 漢字, 👍🏽", "plain, é, 漢字, 👍🏽"),
      ("a\nb\r\tc", "a\\nb\\r\\tc"),
      ("\u{1B}[31mred\u{7}", "\\u{1b}[31mred\\u{7}"),
      ("\u{9B}2J\u{7F}", "\\u{9b}2J\\u{7f}"),
      ("user\u{202E}nimda\u{2066}", "user\\u{202e}nimda\\u{2066}"),
      ("a\u{2028}b\u{0}", "a\\u{2028}b\\u{0}"), ("", ""),
    ])
  func escaping(_ text: String, escaped: String) {
    #expect(Terminal.escaped(text) == escaped)
    #expect(Terminal.escaped(escaped) == escaped)
  }

  @Test(
    "gives characters the columns that they take",
    arguments: [
      ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("漢字", 4), ("ｱ", 1), ("Ａ", 2), ("한", 2),
      ("\u{1112}\u{1161}\u{11AB}", 2), ("👍", 2), ("👍🏽", 2),
      ("👩‍👩‍👧‍👦", 2), ("🇫🇷", 2), ("❤", 1), ("❤️", 2),
      ("—", 1), ("→", 1), ("█", 1), ("a\u{200B}b", 2), ("ก็", 1), ("かな", 4), ("𠀀", 2), ("ÀÉ", 2),
    ])
  func width(_ text: String, columns: Int) {
    #expect(Terminal.displayWidth(text) == columns)
  }

  @Test("pads and cuts by columns")
  func alignment() {
    #expect(Terminal.padded("漢", to: 4) == "漢  ")
    #expect(Terminal.padded("7", to: 3, leading: true) == "  7")
    #expect(Terminal.padded("abc", to: 2) == "abc")
    #expect(Terminal.truncated("abcdef", to: 6) == "abcdef")
    #expect(Terminal.truncated("abcdef", to: 4) == "abc…")
    #expect(Terminal.truncated("漢字かな", to: 6) == "漢字…")
  }

  @Test("is as wide as it says, else as COLUMNS, else 80")
  func columns() throws {
    try Captured.withTerminal {
      #expect(Terminal.columns($0, environment: ["COLUMNS": "50"]) == 97)
    }
    try Captured.withFile { descriptor, _ in
      #expect(Terminal.columns(descriptor, environment: ["COLUMNS": "50"]) == 50)
      #expect(Terminal.columns(descriptor, environment: ["COLUMNS": "-1"]) == 20)
      #expect(Terminal.columns(descriptor, environment: ["COLUMNS": "wide"]) == 80)
      #expect(Terminal.columns(descriptor, environment: [:]) == 80)
    }
  }

  @Test(
    "is coloured when the user would expect it",
    arguments: [
      ("auto", true, [:], true), ("auto", false, [:], false),
      ("auto", true, ["NO_COLOR": "1"], false), ("auto", true, ["NO_COLOR": ""], true),
      ("auto", true, ["TERM": "dumb"], false), ("auto", false, ["CLICOLOR_FORCE": "1"], true),
      ("auto", false, ["CLICOLOR_FORCE": "0"], false),
      ("auto", false, ["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], false),
      ("always", false, ["NO_COLOR": "1"], true), ("never", true, ["CLICOLOR_FORCE": "1"], false),
    ] as [(String, Bool, [String: String], Bool)])
  func colours(_ choice: String, isTerminal: Bool, environment: [String: String], expected: Bool) {
    let style = Style(choice: choice, isTerminal: isTerminal, environment: environment)
    #expect(style.isColoured == expected)
    #expect(style(.deleted, "x") == (expected ? "\u{1B}[31mx\u{1B}[0m" : "x"))
  }

  @Test(
    "reads numbers as people do",
    arguments: [
      (0, "0", "0", "0 B"), (999, "999", "999", "999 B"), (1000, "1,000", "1000", "1.0 kB"),
      (9999, "9,999", "9999", "10.0 kB"), (12_345, "12,345", "12.3k", "12.3 kB"),
      (999_949, "999,949", "999.9k", "999.9 kB"), (999_950, "999,950", "1.0M", "1.0 MB"),
      (1_204_311, "1,204,311", "1.2M", "1.2 MB"),
      (.max, "18,446,744,073,709,551,615", "18.4E", "18.4 EB"),
    ] as [(UInt64, String, String, String)])
  func quantities(_ number: UInt64, count: String, short: String, bytes: String) {
    #expect(Quantity.count(number) == count)
    #expect(Quantity.short(Double(number)) == short)
    #expect(Quantity.bytes(number) == bytes)
    #expect(Quantity.count(-1234) == "-1,234" && Quantity.count(Int.min).hasPrefix("-9,223"))
    #expect(Quantity.time(seconds: 59.6) == "01:00" && Quantity.time(seconds: 3661) == "01:01:01")
  }
}
