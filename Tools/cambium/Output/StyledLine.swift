/// A line made of parts, each in a colour or in none, that knows its width.
///
/// The parts must be fit for a terminal: see ``Terminal/escaped(_:)``.
struct StyledLine {
  private var parts: [(text: String, role: Role?)] = []
  /// The number of columns that it takes.
  private(set) var width = 0

  init() {}

  init(_ text: String, _ role: Role? = nil) { add(text, role) }

  /// A number of spaces.
  init(spaces: Int) { add(String(repeating: " ", count: max(0, spaces))) }

  mutating func add(_ text: String, _ role: Role? = nil) {
    parts.append((text, role))
    width += Terminal.displayWidth(text)
  }

  mutating func add(_ other: StyledLine) {
    parts += other.parts
    width += other.width
  }

  static func + (first: StyledLine, second: StyledLine) -> StyledLine {
    var sum = first
    sum.add(second)
    return sum
  }

  static func + (first: StyledLine, second: String) -> StyledLine { first + StyledLine(second) }

  /// The line as it is written; where it is wider than `columns`, its start and an ellipsis.
  func text(_ style: Style, columns: Int = .max) -> String {
    if width <= columns { return parts.map { painted($0, style) }.joined() }
    var text = ""
    var room = columns - 1
    for part in parts {
      let width = Terminal.displayWidth(part.text)
      if width > room {
        // The space makes it too wide, so that the ellipsis is there even where just it has room.
        return text + painted((Terminal.truncated(part.text + " ", to: room + 1), part.role), style)
      }
      text += painted(part, style)
      room -= width
    }
    return text
  }

  private func painted(_ part: (text: String, role: Role?), _ style: Style) -> String {
    part.role.map { style($0, part.text) } ?? part.text
  }
}

extension StyledLine {
  /// Puts items after a head, two spaces apart, on as many lines as they need. Further lines begin
  /// under the first item, or are indented a little where that leaves too little room.
  static func filled(_ head: StyledLine, _ items: [StyledLine], columns: Int) -> [StyledLine] {
    let widest = items.map(\.width).max() ?? 0
    let hasRoom = head.width + 2 <= columns / 2 && head.width + 2 + widest <= columns
    let hanging = hasRoom ? head.width + 2 : 6
    var lines = [head]
    for item in items {
      if lines[lines.count - 1].width + 2 + item.width <= columns {
        lines[lines.count - 1].add("  ")
      } else {
        lines.append(StyledLine(spaces: hanging))
      }
      lines[lines.count - 1].add(item)
    }
    return lines
  }
}

extension Output {
  /// Writes a line; on a terminal it is cut where the terminal ends.
  func line(_ line: StyledLine) throws {
    try self.line(line.text(style, columns: isTerminal ? columns : .max))
  }

  /// Writes what was looked at, and what came of it: in green where it is sound, else in red.
  func verdict(_ name: String, _ words: String, isSound: Bool) throws {
    try line(StyledLine(name, .heading) + StyledLine(" \(words)", isSound ? .inserted : .deleted))
  }

  /// Writes a finding in full: the place that is damaged, and the reason.
  func finding(_ place: String, _ text: String) throws {
    let mark = StyledLine("  ✗\(place.isEmpty ? "" : " ")\(place)", .deleted)
    try line((mark + "  \(Terminal.escaped(text))").text(style))
  }

  /// Writes names and their texts, in two columns.
  func table(_ entries: Entries, indent: Int = 0) throws {
    let entries = entries.all
    let width = entries.map { Terminal.displayWidth($0.name) }.max() ?? 0
    for entry in entries {
      var line = StyledLine(spaces: indent)
      line.add(Terminal.padded(entry.name, to: width), .metadata)
      if !entry.text.isEmpty { line.add("  " + entry.text) }
      try self.line(line.text(style))
    }
  }
}

/// Names with their texts, in order; one whose text is nil is left out.
struct Entries: ExpressibleByDictionaryLiteral {
  private(set) var all: [(name: String, text: String)] = []

  init(dictionaryLiteral entries: (String, String?)...) { self.init(entries) }

  init(_ entries: some Sequence<(String, String?)>) {
    all = entries.compactMap { name, text in text.map { (name: name, text: $0) } }
  }

  static func + (first: Entries, second: Entries) -> Entries {
    var sum = first
    sum.all += second.all
    return sum
  }
}
