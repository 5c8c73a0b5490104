/// Measures Cambium and its peers: in one process, interleaved, each number with a digest of what
/// was computed.
///
///     Options ──▶ suite ──▶ rounds of all contenders ──▶ Measurements ──▶ Table
@main
enum Benchmark {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      if arguments.first == IterationProbe.argument {
        return try IterationProbe.answer(arguments)
      }
      if arguments.first == LiveFollower.argument {
        return try await LiveFollower.answer(arguments)
      }
      let options = try Options(arguments)
      for suite in options.suites { try await run(suite, options) }
    } catch {
      ChildProcess.fail("\(error)")
    }
  }

  private static func run(_ suite: String, _ options: Options) async throws {
    let workspace = try Workspace(in: options.directory)
    defer { workspace.removeAll() }
    switch suite {
    case "layout": try LayoutSuite(options, workspace).run()
    case "models": try await ModelSuite(options, workspace).run()
    case "live": try await LiveSuite(options, workspace).run()
    case "reads": try ReadSuite(options, workspace).run()
    case "past": try PastSuite(options, workspace).run()
    case "patterns": try PatternSuite(options, workspace).run()
    default: try await EngineSuite(options, workspace).run()
    }
  }
}
