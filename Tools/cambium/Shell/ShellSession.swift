import Cambium
import FoundationEssentials

/// One run of the shell: the database and the node that its commands are about, and its own few
/// commands. Every other is run as a program of its own, so that it does, prints and is interrupted
/// as from the system's shell, and other processes may write between two.
struct ShellSession {
  /// The commands that are not in the table.
  static let builtins = ["cd", "pwd", "exit", "quit"]

  let database: String
  /// True if commands may read what is typed. A script's may not: it is the shell that reads it.
  let isInteractive: Bool
  private(set) var node = NodePath.root

  /// The text that a user sees before the line: `air.cambium:weather> `.
  var prompt: String {
    let name = URL(filePath: database).standardizedFileURL.lastPathComponent
    let place = node.isRoot ? name : "\(name):\(node)"
    return Terminal.truncated(Terminal.escaped(place), to: 40) + "> "
  }

  /// Where the words of a line are read.
  var here: Surroundings {
    var here = Surroundings.current()
    here.environment = environment
    return here
  }

  private var environment: [String: String] {
    var environment = ProcessInfo.processInfo.environment
    environment["CAMBIUM_DB"] = database
    environment["CAMBIUM_NODE"] = node.isRoot ? nil : "/" + node.description
    return environment
  }

  /// Runs a line's command.
  ///
  /// - Returns: Its exit status; nil where it is the command that ends the shell.
  mutating func run(_ words: [String], _ output: Output) throws -> Int32? {
    var words = words
    // Whoever types the tool's name too, or pastes it from a hint, means the same.
    if words.first == "cambium" { words.removeFirst() }
    guard let name = words.first else { return 0 }
    let operands = Array(words.dropFirst())
    do {
      switch name {
      case "exit", "quit":
        try expect(operands, atMost: 0, name)
        return nil
      case "cd": try change(to: operands, output)
      case "pwd":
        try expect(operands, atMost: 0, name)
        try output.line("/" + output.shown(node.description))
        try output.flush()
      case "help" where operands.isEmpty:
        try output.write(ShellCommand.ownHelp)
        try output.flush()
        return try start(words)
      default: return try start(words)
      }
      return 0
    } catch {
      let failure = Failure(error, database: database)
      System.complain(failure.text)
      return failure.exit.rawValue
    }
  }

  private func expect(_ operands: [String], atMost count: Int, _ name: String) throws(Failure) {
    if operands.count <= count { return }
    throw Failure.usage("“\(operands[count])” is one operand too many for \(name)")
  }

  /// `cd` goes to the root, `cd ..` one up, `cd PATH` to a node that must be there.
  private mutating func change(to operands: [String], _ output: Output) throws {
    try expect(operands, atMost: 1, "cd")
    guard let text = operands.first else { return node = .root }
    if text == ".." || text == "../" { return node = node.parent ?? .root }
    let path = try Surroundings.path(text, from: node)
    let here = Invocation(command: ShellCommand.command, database: database, arguments: [:])
    let call = Call(here, output)
    defer { call.close() }
    let snapshot = try OpenDatabase.forReading(call).snapshot()
    guard try snapshot[path].exists else {
      throw try MissingNode.failure(path, below: snapshot.root, self.database, base: node)
    }
    node = path
  }

  /// Runs a command of the table, and waits for its end.
  private func start(_ words: [String]) throws -> Int32 {
    let nothing = Channel.empty()
    let input = isInteractive ? System.standardInput : nothing.theirs.number
    let id = try Spawning.start(
      System.executable, words, environment,
      [input, System.standardOutput, System.standardError], hasOwnGroup: false)
    let status =
      switch Spawning.ending(of: id) {
      case .exited(let status): status
      case .killed(let signal): 128 + signal
      case .unknown: ExitCode.inputOutput.rawValue
      }
    // The terminal has shown ^C, and no end of that line.
    if isInteractive && status >= 128 { System.complain("\n") }
    return status
  }
}
