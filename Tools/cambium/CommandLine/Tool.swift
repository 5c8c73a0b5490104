/// The program `cambium`.
///
///     arguments ──Parser──▶ Invocation ──Command.run──▶ Output
///         └──────────────── Failure ────────────────▶ standard error, exit code
@main
enum Tool {
  static let version = "0.1.0"

  static func main() async {
    System.claimStandardDescriptors()
    Signals.install()
    System.exit(await run())
  }

  private static func run() async -> ExitCode {
    var arguments: [String] = []
    do {
      arguments = try System.arguments()
      let here = Surroundings.current()
      let commands = Commands.all + Commands.hidden
      let invocation = try Parser(commands: commands, here: here).parse(arguments)
      try await run(invocation, here)
      return .success
    } catch {
      let failure = Failure(error, database: nil)
      System.complain(failure.text)
      if Parser.wantsJSON(arguments) { System.complain(failure.json) }
      return failure.exit
    }
  }

  /// Runs a command and finishes its output, also after a failure: what was found before it counts.
  private static func run(_ invocation: Invocation, _ here: Surroundings) async throws {
    if invocation.command.stopsSafely { Signals.deferInterrupts() }
    let output = Output(
      color: invocation.color, format: invocation.format, isQuiet: invocation.isQuiet,
      environment: here.environment,
      startPager: { invocation.isPaged ? Pager.start(here) : nil })
    let call = Call(invocation, output)
    do {
      defer { call.close() }
      try await invocation.command.run(call)
    } catch {
      let failure = Failure(
        error, database: invocation.database.isEmpty ? nil : invocation.database)
      if failure.exit != .brokenPipe { try output.finish() }
      throw failure
    }
    try output.finish()
  }
}
