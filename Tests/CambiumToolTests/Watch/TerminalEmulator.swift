/// A terminal as far as the list needs one: it keeps the characters that are shown, on two screens,
/// and obeys jumps, erasing, and the modes for the other screen and the cursor. It records what it
/// does not know.
struct TerminalEmulator {
  private(set) var rows: Int
  private(set) var columns: Int
  private(set) var isAlternate = false
  private(set) var showsCursor = true
  /// Sequences that were not understood.
  private(set) var unknown: [String] = []
  private var grid: [[Character]]
  /// The other screen and its cursor.
  private var saved: (grid: [[Character]], row: Int, column: Int) = ([], 0, 0)
  private var row = 0
  private var column = 0
  private var unread = ""

  init(rows: Int, columns: Int) {
    (self.rows, self.columns) = (rows, columns)
    grid = TerminalEmulator.empty(rows, columns)
  }

  private static func empty(_ rows: Int, _ columns: Int) -> [[Character]] {
    Array(repeating: Array(repeating: " ", count: columns), count: rows)
  }

  /// The lines, without spaces at their ends.
  var lines: [String] {
    grid.map { line in
      var text = String(line)
      while text.last == " " { text.removeLast() }
      return text
    }
  }

  /// Gives it another size, and fills it with rubbish as a real one might.
  mutating func resize(rows: Int, columns: Int) {
    (self.rows, self.columns) = (rows, columns)
    grid = Array(repeating: Array(repeating: "#", count: columns), count: rows)
    (row, column) = (0, 0)
  }

  /// Takes what a program writes; a sequence may be cut anywhere.
  mutating func write(_ text: String) {
    unread += text
    while let next = unread.first {
      if next != "\u{1B}" {
        unread.removeFirst()
        put(next)
        continue
      }
      guard let sequence = unread.firstMatch(of: /^\u{1B}\[(\??)([0-9;]*)([@-~])/) else { return }
      let (_, mark, numbers, last) = sequence.output
      obey(String(mark), numbers.split(separator: ";").compactMap { Int($0) }, String(last))
      unread.removeSubrange(sequence.range)
    }
  }

  private mutating func put(_ character: Character) {
    switch character {
    case "\r": column = 0
    case "\n", "\r\n":
      if character == "\r\n" { column = 0 }
      row = min(rows - 1, row + 1)
    default:
      // As in xterm, a full line leaves the cursor on its last character until the next one.
      if column == columns { (row, column) = (min(rows - 1, row + 1), 0) }
      grid[row][column] = character
      column += 1
    }
  }

  private mutating func obey(_ mark: String, _ numbers: [Int], _ last: String) {
    switch (mark, last) {
    case ("", "H"):
      row = min(rows, max(1, numbers.first ?? 1)) - 1
      column = min(columns, max(1, numbers.dropFirst().first ?? 1)) - 1
    case ("", "K"):
      for place in min(column, columns - 1)..<columns { grid[row][place] = " " }
    case ("", "J"): grid = TerminalEmulator.empty(rows, columns)
    case ("", "m"): break
    case ("?", "h") where numbers == [1049] && !isAlternate:
      (isAlternate, saved) = (true, (grid, row, column))
      grid = TerminalEmulator.empty(rows, columns)
    case ("?", "l") where numbers == [1049] && isAlternate:
      isAlternate = false
      (grid, row, column) = saved
    case ("?", "h") where numbers == [1049], ("?", "l") where numbers == [1049]: break
    case ("?", "h") where numbers == [25]: showsCursor = true
    case ("?", "l") where numbers == [25]: showsCursor = false
    default: unknown.append("\(mark)\(numbers)\(last)")
    }
  }
}
