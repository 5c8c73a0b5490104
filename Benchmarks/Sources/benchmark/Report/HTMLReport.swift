#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A page of its own, light and dark, whose plots are read without a script.
///
///     operation  ├──────────┼────●───┃──────┤   ● median ratio, its quartiles as a line, ┃ the bar
///               1/16       1            16
struct HTMLReport {
  private let machines: [Machine]
  private let sections: [ReportSuite.Section]

  init(_ machines: [Machine], _ sections: [ReportSuite.Section]) {
    (self.machines, self.sections) = (machines, sections)
  }

  var text: String {
    """
    <!doctype html>
    <html lang="en"><meta charset="utf-8"><title>Cambium and its peers</title>
    <meta name="viewport" content="width=device-width">
    <style>\(Self.style)</style>
    <h1>Cambium and its peers</h1>
    \(machines.map { "<p>\(Self.escaped(ReportSuite.text(of: $0)))</p>" }.joined(separator: "\n"))
    <p>Each line is the ratio to the peer in the same round, on a scale of powers of two: the median
    as a dot, its quartiles as a line, the bar as a stroke. To the right of 1 Cambium is faster.</p>
    \(sections.map(Self.section).joined(separator: "\n"))
    </html>

    """
  }

  private static let style = """
    :root { color-scheme: light dark; --ink: #1b1b1f; --soft: #8a8a94; --good: #19734a;
      --bad: #b3372b; --page: #ffffff; }
    @media (prefers-color-scheme: dark) { :root { --ink: #e7e7ea; --soft: #8f8f9a;
      --good: #5cc98f; --bad: #ff8a7a; --page: #17171a; } }
    body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page);
      max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
    table { border-collapse: collapse; width: 100%; font-size: 14px; }
    th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid #8883; }
    th:first-child, td:first-child { text-align: left; }
    svg { display: block; } text { fill: var(--ink); font-size: 12px; }
    .rule { stroke: var(--soft); stroke-width: 1; opacity: .5; }
    .good { fill: var(--good); stroke: var(--good); } .bad { fill: var(--bad); stroke: var(--bad); }
    .plain { fill: var(--ink); stroke: var(--ink); } .bar { stroke: var(--ink); stroke-width: 2; }
    """

  // MARK: Sections

  private static func section(_ section: ReportSuite.Section) -> String {
    let names = section.contenders
    let head = (["operation"] + names + ["ratio", "bar", "CPU"]).map { "<th>\(escaped($0))</th>" }
    let lines = section.rows.map { row in
      let cells =
        names.map { rate(row.samples[$0].flatMap(median)) }
        + [
          times(median(row.ratios)), row.bar.map { "≥ " + times($0) } ?? "–",
          row.cpu[row.own].flatMap(median).map { digits($0) + " µs" } ?? "–",
        ]
      return "<tr><td>\(escaped(row.row))</td>"
        + cells.map { "<td>\(escaped($0))</td>" }.joined() + "</tr>"
    }
    return """
      <h2>\(escaped(section.title))</h2>
      \(plot(section.rows.filter { !$0.ratios.isEmpty }))
      <table><tr>\(head.joined())</tr>
      \(lines.joined(separator: "\n"))
      </table>
      """
  }

  // MARK: Plots

  private static let (left, right, lineHeight) = (330.0, 960.0, 22.0)
  /// The powers of two at the ends of the scale.
  private static let (lowest, highest) = (-4.0, 8.0)

  private static func plot(_ rows: [ResultRow]) -> String {
    if rows.isEmpty { return "" }
    let height = lineHeight * Double(rows.count + 1)
    var marks: [String] = []
    for power in stride(from: lowest, through: highest, by: 2) {
      let x = place(power)
      marks.append(line("rule", x, 0, x, height - lineHeight))
      let label = power < 0 ? "1/\(Int(exp2(-power)))" : "\(Int(exp2(power)))"
      marks.append(text(label, x, height - 6, "middle"))
    }
    for (index, row) in rows.enumerated() {
      marks.append(contentsOf: self.marks(of: row, lineHeight * (Double(index) + 0.5)))
    }
    return "<svg viewBox=\"0 0 \(Int(right + 10)) \(Int(height))\" role=\"img\">"
      + marks.joined() + "</svg>"
  }

  private static func marks(of row: ResultRow, _ y: Double) -> [String] {
    guard let middle = median(row.ratios), let low = quartile(row.ratios, 1),
      let high = quartile(row.ratios, 3)
    else { return [] }
    let kind = row.bar.map { middle >= $0 ? "good" : "bad" } ?? "plain"
    var marks = [
      text(row.row, left - 30, y + 4, "end"),
      line(kind, place(log2(low)), y, place(log2(high)), y),
      "<circle class=\"\(kind)\" cx=\"\(digits(place(log2(middle))))\" cy=\"\(digits(y))\" r=\"4\">"
        + "<title>\(escaped(row.row)): \(times(middle))</title></circle>",
    ]
    if let bar = row.bar {
      let x = place(log2(bar))
      marks.append(line("bar", x, y - 7, x, y + 7))
    }
    return marks
  }

  private static func place(_ power: Double) -> Double {
    let part = (min(max(power, lowest), highest) - lowest) / (highest - lowest)
    return left + part * (right - left)
  }

  private static func line(
    _ kind: String, _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double
  ) -> String {
    "<line class=\"\(kind)\" x1=\"\(digits(x1))\" y1=\"\(digits(y1))\" x2=\"\(digits(x2))\" "
      + "y2=\"\(digits(y2))\"/>"
  }

  private static func text(_ text: String, _ x: Double, _ y: Double, _ anchor: String) -> String {
    "<text x=\"\(digits(x))\" y=\"\(digits(y))\" text-anchor=\"\(anchor)\">\(escaped(text))</text>"
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { escaped, character in
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      default: escaped.append(character)
      }
    }
  }
}
