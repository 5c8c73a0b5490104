import Cambium

/// Asks what makes backtracking run for ever, and holds that every query ends in time: with an
/// answer, or with an error that says why there is none.
///
///     pattern, text ──▶ a query of one record ──▶ answer or error, and how long it took
struct PatternSuite {
  /// No query may take longer.
  private static let secondsMax = 0.1

  private let isSmoke: Bool
  private let workspace: Workspace

  private struct Case {
    let name: String
    /// The condition on the text `t`, with `$1` for the pattern.
    let condition: String
    let pattern: String
    let text: String
  }

  init(_ options: Options, _ workspace: Workspace) {
    isSmoke = options.isSmoke
    self.workspace = workspace
  }

  private static let cases: [Case] = {
    let (as34, as800) = (String(repeating: "a", count: 34), String(repeating: "a", count: 800))
    let long = String(repeating: "ab ", count: 20_000)
    let nested = String(repeating: "(", count: 40) + "a" + String(repeating: "*)", count: 40)
    let options = String(repeating: "a?", count: 30) + String(repeating: "a", count: 30)
    return [
      Case(name: "(a+)+$", condition: "t matches $1", pattern: "(a+)+$", text: as34 + "!"),
      Case(name: "(a|aa)+$", condition: "t matches $1", pattern: "(a|aa)+$", text: as34 + "!"),
      Case(name: "(.*a){20}", condition: "t matches $1", pattern: "(.*a){20}!", text: as800),
      Case(name: "a?…a…", condition: "t matches $1", pattern: options, text: as34),
      Case(name: "((a*)*)*…", condition: "t matches $1", pattern: nested + "$", text: as800 + "!"),
      Case(name: "[ab ]*c, 60 KB", condition: "t matches $1", pattern: "[ab ]*c", text: long),
      Case(name: "(a+)+\\1$", condition: "t matches $1", pattern: "(a+)+\\1$", text: as34 + "!"),
      Case(name: "(?=(a+)+$)", condition: "t matches $1", pattern: "^(?=(a+)+$)", text: as34 + "!"),
      Case(
        name: "(?<=a)(a+)+$", condition: "t matches $1", pattern: "(?<=a)(\\w+\\s?)+$",
        text: as34 + "!"),
      Case(
        name: "(?1) without end", condition: "t matches $1", pattern: "^(a|(?1)b)*$", text: as800),
      Case(
        name: "(\\w+\\s?)+\\b(?!x)", condition: "t matches $1", pattern: "(\\w+\\s?)+(?!x)!$",
        text: long),
      Case(name: "like %a%a%b%c", condition: "t like $1", pattern: "%a%a%b%c", text: as800),
      Case(
        name: "like %a_%…", condition: "t like $1",
        pattern: String(repeating: "%a_", count: 50) + "b", text: as800 + as800),
    ]
  }()

  func run() throws {
    let directory = try workspace.directory()
    defer { workspace.remove(directory) }
    let database = try Database(at: directory + "/patterns.cambium")
    defer { try? database.close() }
    var table = Table(["hostile pattern", "ms", "outcome"])
    var late: [String] = []
    for (number, hostile) in Self.cases.enumerated() {
      let path = NodePath(keys: ["texts", .integer(Int64(number))])
      try database.write { tx in try tx.set(path, to: ["t": .string(hostile.text)]) }
      let (seconds, outcome) = try timed { try ask(hostile, number, database) }
      table.add([hostile.name, digits(seconds * 1000), outcome])
      if seconds > Self.secondsMax { late.append(hostile.name) }
    }
    print(table.text)
    // A smoke run shares the machine: it shows that every pattern ends.
    if !isSmoke && !late.isEmpty {
      throw BenchmarkError("took more than 100 ms: \(late.joined(separator: ", "))")
    }
  }

  private func ask(_ hostile: Case, _ number: Int, _ database: Database) throws -> String {
    do {
      let text = "texts where id = \(number) and \(hostile.condition) | count"
      return try database.records(text, hostile.pattern).count() > 0 ? "found" : "not found"
    } catch let error as QueryError {
      return error.reason.contains("too long") ? "refused" : "\(error)"
    }
  }
}
