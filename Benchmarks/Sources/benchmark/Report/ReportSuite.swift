import FoundationEssentials

/// Makes a report of files of results: tables of medians with quartiles, and a page with plots.
struct ReportSuite {
  /// The rows of one suite in one durability.
  struct Section {
    let title: String
    var rows: [ResultRow]
  }

  private let files: [String]
  private let html: String?

  init(_ options: Options) throws {
    files = options.files
    html = options.html
    if files.isEmpty { throw BenchmarkError("report needs a file of results; see --json") }
  }

  func run() throws {
    var machines: [Machine] = []
    var sections: [Section] = []
    for line in try files.flatMap({ try ResultFile(path: $0).lines() }) {
      switch line {
      case .machine(let machine): machines.append(machine)
      case .row(let row): Self.add(row, to: &sections)
      }
    }
    for machine in machines { print(Self.text(of: machine)) }
    for section in sections { print("\n## \(section.title)\n\n\(Self.table(section).text)") }
    guard let html else { return }
    try HTMLReport(machines, sections).text.write(
      toFile: html, atomically: true, encoding: .utf8)
  }

  /// Rows of the same suite, durability and name are the rounds of one.
  private static func add(_ row: ResultRow, to sections: inout [Section]) {
    let title = "\(row.suite), \(row.durability)"
    let index = sections.firstIndex { $0.title == title } ?? sections.count
    if index == sections.count { sections.append(Section(title: title, rows: [])) }
    if let known = sections[index].rows.firstIndex(where: { $0.row == row.row }) {
      sections[index].rows[known] = sections[index].rows[known].joined(with: row)
    } else {
      sections[index].rows.append(row)
    }
  }

  static func text(of machine: Machine) -> String {
    "\(machine.date): \(machine.cores) cores of \(machine.processor), \(machine.system); a flush "
      + "in \(machine.directory) takes \(digits(machine.flush)) µs; others used "
      + "\(digits(machine.busy * 100)) % of the processors"
      + (machine.busy > Machine.busyMax ? ", too much to believe the figures." : ".")
  }

  private static func table(_ section: Section) -> Table {
    let names = section.contenders
    var table = Table(
      ["operation"] + names + ["ratio", "quartiles", "bar", "CPU", "digest"])
    for row in section.rows {
      let ratios = row.ratios
      let cpu = row.cpu[row.own].flatMap(median)
      table.add(
        [row.row] + names.map { rate(row.samples[$0].flatMap(median)) }
          + [
            times(median(ratios)),
            ratios.isEmpty ? "–" : "\(times(quartile(ratios, 1)))…\(times(quartile(ratios, 3)))",
            row.bar.map { "≥ " + times($0) } ?? "–", cpu.map { digits($0) + " µs" } ?? "–",
            row.digest ?? "–",
          ])
    }
    return table
  }
}

extension ReportSuite.Section {
  /// The contenders, the own one last.
  var contenders: [String] {
    let own = Set(rows.map(\.own))
    let others = Set(rows.flatMap { $0.samples.keys }).subtracting(own)
    return others.sorted() + own.sorted()
  }
}

extension ResultRow {
  /// The rounds of two runs; a digest only where both have the same.
  fileprivate func joined(with other: ResultRow) -> ResultRow {
    ResultRow(
      suite: suite, durability: durability, row: row, own: own, peer: peer, bar: bar,
      samples: samples.merging(other.samples) { $0 + $1 },
      cpu: cpu.merging(other.cpu) { $0 + $1 },
      digest: digest == other.digest ? digest : nil)
  }
}

/// The first, second or third quartile of some values.
func quartile(_ values: [Double], _ number: Int) -> Double? {
  let sorted = values.sorted()
  guard let last = sorted.indices.last else { return nil }
  let place = Double(last * number) / 4
  let (low, part) = (Int(place), place - place.rounded(.down))
  return sorted[low] + (low < last ? part * (sorted[low + 1] - sorted[low]) : 0)
}
