/// The lines that a terminal shows, and the text that turns them into others.
///
/// Only lines that differ are written, each by a jump to its start:
///
///     ESC [ row ; 1 H   text   ESC [ K
///
/// The end of a line is erased only where the text leaves some of it: after a text that fills the
/// line, the cursor still stands on its last character. It holds no terminal, and can be tested
/// without one.
struct Screen {
  /// The number of lines and of columns.
  struct Size: Equatable, Sendable {
    var rows: Int
    var columns: Int
  }

  private(set) var size: Size
  private let style: Style
  /// The lines that are there; nil where that is not known.
  private var shown: [String]?

  init(_ size: Size, _ style: Style) {
    self.size = size
    self.style = style
  }

  /// The terminal has another size now, and what it shows is not known.
  mutating func resize(to size: Size) {
    self.size = size
    shown = nil
  }

  /// The terminal may show anything now; the next frame is written as a whole.
  mutating func invalidate() { shown = nil }

  /// The text that makes the terminal show these lines; those that it has no room for are cut.
  mutating func text(showing lines: [StyledLine]) -> String {
    var text = shown == nil ? "\u{1B}[0m\u{1B}[2J" : ""
    var frame: [String] = []
    for row in 0..<size.rows {
      let line = row < lines.count ? lines[row] : StyledLine()
      let content = line.text(style, columns: size.columns)
      let isSame = shown.map { $0[row] == content } ?? content.isEmpty
      if !isSame {
        text += "\u{1B}[\(row + 1);1H\(content)"
        if line.width < size.columns { text += "\u{1B}[K" }
      }
      frame.append(content)
    }
    shown = frame
    return text
  }
}
