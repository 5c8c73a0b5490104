/// A Markdown table: the first column to the left, figures to the right.
struct Table {
  let header: [String]
  private var lines: [[String]] = []

  init(_ header: [String]) { self.header = header }

  mutating func add(_ cells: [String]) { lines.append(cells) }

  var text: String {
    let rule = header.indices.map { $0 == 0 ? "---" : "---:" }
    return ([header, rule] + lines).map(Table.line).joined(separator: "\n")
  }

  /// One line of a table.
  static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
}

/// Three significant digits with a unit prefix: `1.23M`, `45.6k`, `789`.
func rate(_ value: Double?) -> String {
  guard let value else { return "–" }
  if value >= 1e6 { return digits(value / 1e6) + "M" }
  if value >= 1e3 { return digits(value / 1e3) + "k" }
  return digits(value)
}

/// `0.83×`.
func times(_ ratio: Double?) -> String { ratio.map { fixed($0, places: 2) + "×" } ?? "–" }

/// Three significant digits.
func digits(_ value: Double) -> String {
  fixed(value, places: value >= 100 ? 0 : value >= 10 ? 1 : 2)
}

private func fixed(_ value: Double, places: Int) -> String {
  let scale = (0..<places).reduce(1.0) { product, _ in product * 10 }
  let scaled = Int((value * scale).rounded())
  if places == 0 { return String(scaled) }
  let fraction = String(scaled % Int(scale))
  let zeros = String(repeating: "0", count: places - fraction.count)
  return "\(scaled / Int(scale)).\(zeros)\(fraction)"
}
