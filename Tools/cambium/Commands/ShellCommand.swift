import Cambium

/// `cambium shell`: commands at a prompt, or from a file.
enum ShellCommand {
  static let keepGoing = Option(
    flag: "keep-going", "from a file or pipe: go on after a command that failed")

  static let command = Command(
    name: "shell", group: .look,
    summary: "takes commands at a prompt, or from a file",
    discussion: """
      Each line is a command as after `cambium`, without DB, in words as a POSIX shell takes them,
      with its quotes and comments but without variables and pipes. What the database holds is
      read anew by each command, and others may write meanwhile. Besides there are:

        cd [PATH]   paths start at this node; without one, at the root; `cd ..` goes up
        pwd         prints that node
        help        lists the commands; `help log` explains one
        exit        ends the shell; so does Ctrl-D

      A path with a leading slash starts at the root wherever you are, as those that are printed do;
      keys named `..` are only reached by such a one. Tab completes commands, options, paths and
      files. Ctrl-C abandons a line, or stops the command that runs. Lines are kept in a history
      file, see `cambium help environment`; one that begins with a space is not. `cambium erase`
      leaves that file as it is.

      Where standard input is no terminal, there is no prompt: lines are run until one fails, and
      the exit code is that of the first that failed. Commands that ask need --yes there, and none
      reads standard input.
      """,
    operands: [.database],
    options: [keepGoing],
    examples: [
      "cambium shell shop.cambium": "at a prompt",
      "cat nightly.txt | cambium shell shop.cambium": "a file of commands",
      "printf 'tag before\\nlog -n 3\\n' | cambium shell shop.cambium": "from a pipe",
    ],
    run: run)

  /// The part of plain `help` that is about the shell itself.
  static let ownHelp = """
    Here a command is written without `cambium` and without DB. There are also cd, pwd and exit;
    `help shell` tells about them.


    """

  static func run(_ call: Call) throws {
    // A wrong database is reported now, and not by each command.
    _ = try OpenDatabase.forReading(call)
    call.close()
    let isInteractive =
      System.isTerminal(System.standardInput) && System.isTerminal(System.standardOutput)
    let session = ShellSession(database: call.database, isInteractive: isInteractive)
    Signals.leaveInterrupts()
    if isInteractive {
      try talk(session, call.output)
    } else {
      try runScript(session, call)
    }
  }

  // MARK: At a prompt

  private static func talk(_ session: ShellSession, _ output: Output) throws {
    var session = session
    let place = Place(session.here)
    let columns = output.columns
    let editor = LineEditor(historyMax: LineHistory.linesMax) { line in
      let completion = LineCompletion(
        commands: Commands.all, builtins: ShellSession.builtins, here: place.here)
      return LineTab(completion: completion, columns: columns).completed(line)
    }
    guard let editor else {
      throw Failure(.inputOutput, "terminal", "this terminal cannot be used to edit lines")
    }
    let history = LineHistory(place.here.environment)
    for line in history.lines() { editor.remember(line) }
    while let line = command(editor, session.prompt) {
      if LineHistory.keeps(line) {
        var kept = line.replacing("\n", with: " ")
        while kept.last == " " { kept.removeLast() }
        editor.remember(kept)
        history.add(kept)
      }
      if try run(line, &session, output) == nil { return }
      place.here = session.here
    }
    try output.line()
  }

  /// The surroundings that completion works with; they change with `cd`, while the editor keeps the
  /// completion.
  private final class Place {
    var here: Surroundings

    init(_ here: Surroundings) { self.here = here }
  }

  /// Reads a command, which goes over several lines where quotes do; nil at the end.
  private static func command(_ editor: LineEditor, _ prompt: String) -> String? {
    var command = ""
    while true {
      switch editor.line(prompt: command.isEmpty ? prompt : "> ") {
      case .end: return nil
      case .abandoned:
        System.complain("^C\n")
        command = ""
      case .line(let line):
        command += line
        guard (try? LineWords(command))?.isUnfinished == true else { return command }
        command += "\n"
      }
    }
  }

  // MARK: From a file

  private static func runScript(_ session: ShellSession, _ call: Call) throws {
    var session = session
    var (number, start) = (0, 1)
    var command = ""
    var firstFailure: Int32 = 0
    while let line = readLine() {
      number += 1
      if command.isEmpty { start = number }
      command += line
      let words = try? LineWords(command)
      if words?.isUnfinished == true {
        command += "\n"
        continue
      }
      defer { command = "" }
      guard let status = try run(command, &session, call.output) else { break }
      if status == 0 { continue }
      if firstFailure == 0 { firstFailure = status }
      if call.has(keepGoing) && !isInterruption(status) { continue }
      System.note("stopped at line \(start)")
      break
    }
    if !command.isEmpty {
      throw Failure.usage("the quotes that line \(start) opens are never closed")
    }
    if firstFailure != 0 { throw Failure.silent(ExitCode(rawValue: firstFailure) ?? .negative) }
  }

  private static func run(
    _ line: String, _ session: inout ShellSession, _ output: Output
  ) throws -> Int32? {
    let words: [String]
    do { words = try LineWords(line).words } catch {
      System.complain(error.text)
      return ExitCode.usage.rawValue
    }
    return try session.run(words, output)
  }

  private static func isInterruption(_ status: Int32) -> Bool {
    [ExitCode.interrupted, .terminated].map(\.rawValue).contains(status)
  }
}
