import Dispatch
import Synchronization

/// Measures Cambium and its peers: in one process, interleaved, each number with a digest of what
/// was computed.
///
///     Options ──▶ suite ──▶ rounds of all contenders ──▶ Measurements ──▶ Table
///                                                               └──▶ ResultFile ──▶ report
@main
enum Benchmark {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      if arguments.first == IterationProbe.argument {
        return try IterationProbe.answer(arguments)
      }
      if arguments.first == LiveFollower.argument {
        return try waiting { try await LiveFollower.answer(arguments) }
      }
      if arguments.first == ServedDatabase.argument { return try ServedDatabase.answer(arguments) }
      let options = try Options(arguments)
      for suite in options.suites { try run(suite, options) }
    } catch {
      ChildProcess.fail("\(error)")
    }
  }

  private static func run(_ suite: String, _ options: Options) throws {
    let workspace = try Workspace(in: options.directory)
    defer { workspace.removeAll() }
    switch suite {
    case "layout": try LayoutSuite(options, workspace).run()
    case "reads": try ReadSuite(options, workspace).run()
    case "past": try PastSuite(options, workspace).run()
    case "serve": try ServeSuite(options, workspace).run()
    case "patterns": try PatternSuite(options, workspace).run()
    case "growth": try GrowthSuite(options, workspace).run()
    case "text": try TextSuite(options, workspace).run()
    case "machine": try MachineProbe.run(options, workspace)
    case "report": try ReportSuite(options).run()
    default: try waiting { try await runAwaiting(suite, options) }
    }
  }

  /// Runs a suite that has many tasks write, or follow.
  private static func runAwaiting(_ suite: String, _ options: Options) async throws {
    let workspace = try Workspace(in: options.directory)
    defer { workspace.removeAll() }
    switch suite {
    case "models": try await ModelSuite(options, workspace).run()
    case "transfers": try await TransferSuite(options, workspace).run()
    case "live": try await LiveSuite(options, workspace).run()
    default: try await EngineSuite(options, workspace).run()
    }
  }

  /// Waits for a suite that awaits. An asynchronous `main` would end the thread that it began on,
  /// which valgrind does not survive, so that no suite could be counted in instructions.
  private static func waiting(_ body: @escaping @Sendable () async throws -> Void) throws {
    let end = Mutex<Result<Void, any Error>>(.success(()))
    let hasEnded = DispatchSemaphore(value: 0)
    Task {
      do { try await body() } catch { end.withLock { $0 = .failure(error) } }
      hasEnded.signal()
    }
    hasEnded.wait()
    try end.withLock { $0 }.get()
  }
}
