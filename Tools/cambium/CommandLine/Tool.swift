/// The program `cambium`.
///
///     arguments ──Parser──▶ Invocation ──Command.run──▶ Output
///         └──────────────── Failure ────────────────▶ standard error, exit code
package enum Tool {
  static let version = "0.1.0"

  /// Runs the command line of this process, and ends the process.
  ///
  /// - Parameter serve: Serves a database until it is told to stop: the work of `cambium serve`,
  ///   which is in another module since that needs the commands.
  package static func main(serve: @escaping Serve) async {
    System.claimStandardDescriptors()
    Signals.install()
    System.exit(await run(serve))
  }

  private static func run(_ serve: @escaping Serve) async -> ExitCode {
    var arguments: [String] = []
    do {
      arguments = try System.arguments()
      let here = Surroundings.current()
      let commands = Commands.all + Commands.hidden
      let invocation = try Parser(commands: commands, here: here).parse(arguments)
      try await run(invocation, here, serve)
      return .success
    } catch {
      let failure = Failure(error, database: nil)
      System.complain(failure.text)
      if Parser.wantsJSON(arguments) { System.complain(failure.json) }
      return failure.exit
    }
  }

  /// Runs a command and finishes its output, also after a failure: what was found before it counts.
  private static func run(
    _ invocation: Invocation, _ here: Surroundings, _ serve: @escaping Serve
  ) async throws {
    if invocation.command.stopsSafely { Signals.deferInterrupts() }
    let output = Output(
      color: invocation.color, format: invocation.format, isQuiet: invocation.isQuiet,
      environment: here.environment,
      startPager: { invocation.isPaged ? Pager.start(here) : nil })
    let call = Call(invocation, output, serve: serve)
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
