import Cambium
import FoundationEssentials

@testable import CambiumCommands

/// The output of a command line, in this process.
enum Printed {
  private final class Buffer { var bytes: [UInt8] = [] }

  /// Runs the words with `--json` as the program does, but on a database that is open: a process
  /// opens it once.
  static func text(_ words: [String], _ database: Database) throws -> String {
    let here = Surroundings(
      environment: [:], now: .now, zone: .utc, holdsDatabase: { $0 == "DB" })
    let line = [words[0], "DB"] + words.dropFirst() + ["--json"]
    let invocation = try Parser(commands: Commands.all, here: here).parse(line)
    let served = Served(
      database: database, scope: .root, body: [], pageSize: nil, isAbandoned: { false },
      progress: nil)
    let buffer = Buffer()
    try Served.$current.withValue(served) {
      let output = Output(format: invocation.format) { buffer.bytes += $0 }
      let call = Call(invocation, output)
      do { try run(invocation.command, call) } catch let failure as Failure
        where failure.exit == .negative && failure.message == nil
      {}
      try output.finish()
    }
    return String(decoding: buffer.bytes, as: UTF8.self)
  }

  private static func run(_ command: Command, _ call: Call) throws {
    // The commands that are compared do not wait for anything but `get`, whose work is done here.
    switch command.name {
    case "log": try LogCommand.run(call)
    case "show": try ShowCommand.run(call)
    case "tree": try TreeCommand.run(call)
    case "history": try HistoryCommand.run(call)
    case "blame": try BlameCommand.run(call)
    case "diff": try DiffCommand.run(call)
    case "query": try QueryCommand.run(call)
    case "schema": try SchemaCommand.run(call)
    case "info": try InfoCommand.run(call)
    case "consumers": try ConsumersCommand.run(call)
    case "tag": try TagCommand.run(call)
    default: throw Failure.usage("the test does not know \(command.name)")
    }
  }
}
