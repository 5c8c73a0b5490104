// Goal: the terminal shows each frame, whatever it showed before, and only lines that differ are
// written. Method: random frames and sizes, to an emulated terminal.

import Testing

@testable import CambiumCommands

@Suite("The screen of a list")
struct ScreenTests {
  private static let plain = Style(choice: "never", isTerminal: true, environment: [:])
  private static let coloured = Style(choice: "always", isTerminal: true, environment: [:])

  private static func line(_ random: inout SplitMix, _ columns: Int) -> StyledLine {
    var line = StyledLine()
    for _ in 0..<random.below(4) {
      let count = random.below(columns)
      line.add(String(repeating: ["a", "b", "é", "−"][random.below(4)], count: count), .moved)
    }
    return line
  }

  @Test("shows each frame", arguments: 1...3 as ClosedRange<UInt64>)
  func frames(_ seed: UInt64) {
    var random = SplitMix(seed: seed)
    var size = Screen.Size(rows: 6, columns: 12)
    var screen = Screen(size, random.chance(oneIn: 2) ? Self.coloured : Self.plain)
    var terminal = TerminalEmulator(rows: size.rows, columns: size.columns)
    var lines: [StyledLine] = []
    for _ in 0..<300 {
      if random.chance(oneIn: 10) {
        size = Screen.Size(rows: 1 + random.below(8), columns: 3 + random.below(20))
        terminal.resize(rows: size.rows, columns: size.columns)
        screen.resize(to: size)
      }
      if random.chance(oneIn: 3) {
        lines = (0..<random.below(10)).map { _ in Self.line(&random, size.columns) }
      } else if !lines.isEmpty {
        lines[random.below(lines.count)] = Self.line(&random, size.columns)
      }
      terminal.write(screen.text(showing: lines))
      let expected = (0..<size.rows).map { row in
        row < lines.count ? lines[row].text(Self.plain, columns: size.columns) : ""
      }
      #expect(terminal.lines == expected, "seed \(seed)")
      #expect(terminal.unknown.isEmpty)
      #expect(screen.text(showing: lines).isEmpty)
    }
  }

  @Test("writes only what differs")
  func differences() {
    var screen = Screen(Screen.Size(rows: 3, columns: 5), Self.plain)
    let all = screen.text(showing: [StyledLine("one"), StyledLine("two")])
    #expect(all == "\u{1B}[0m\u{1B}[2J\u{1B}[1;1Hone\u{1B}[K\u{1B}[2;1Htwo\u{1B}[K")
    let next = screen.text(showing: [StyledLine("one"), StyledLine("fiver")])
    #expect(next == "\u{1B}[2;1Hfiver")
    #expect(screen.text(showing: [StyledLine("one")]) == "\u{1B}[2;1H\u{1B}[K")
    screen.invalidate()
    #expect(screen.text(showing: [StyledLine("one")]).hasPrefix("\u{1B}[0m\u{1B}[2J"))
  }
}
