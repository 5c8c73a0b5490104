import Cambium
import FoundationEssentials
import LMDB
import Simulation

/// Damages the state of a database thousands of times, asks it everything, and counts what comes of
/// it: a right answer, an error, a wrong answer, a signal, a hang.
///
/// Each question has a process and a damaged copy of its own: the commands of the tool, which is
/// taken from beside this program or from `TORTURE_CAMBIUM`, and the API, in this program's own
/// `answers`. A database that is given is asked with the commands alone, so that a tool of another
/// version can be tried on what that has made.
struct Damages {
  let directory: String
  let seed: UInt64
  let count: Int
  /// A database that is there already; otherwise one is made.
  let given: String

  private static let commands = [
    "log DB", "show DB 3", "get DB books/b1100", "get DB notes/n3/text", "tree DB notes",
    "history DB books/b1009", "blame DB books/b1101", "diff DB 70..HEAD",
    "query DB 'books where pages >= 400 and pages < 600 sort pages, id'",
    "query DB 'books where code = 700'", "query DB 'books where tags has \"whale\"'",
    "query DB 'books | group by author select count, sum(pages), max(pages)'",
    "query DB 'books where pages > 300 | count'", "search DB books whale", "schema DB",
    "export DB books", "get DB books/b1100 --at 60", "tree DB books --at 60",
  ]

  private var base: String { "\(directory)/base.cambium" }
  private var place: String { "\(directory)/case.cambium" }
  private var tool: String {
    let beside = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    return ProcessInfo.processInfo.environment["TORTURE_CAMBIUM"]
      ?? beside.appending(path: "cambium").path
  }

  /// The output of a process, and how it ended.
  private struct Answer: Equatable {
    let end: ChildProcess.End
    let output: [UInt8]
  }

  func measure() throws {
    try prepare()
    let folder = try LMDB.Files.names(in: base).first { $0.hasPrefix("state-") } ?? ""
    let state = "\(folder)/data.mdb"
    let sound = System.read("\(base)/\(state)")
    let right = try questions().map { try answer($0, state, sound) }
    for (question, right) in zip(questions(), right) where right.end != .exited(0) {
      throw Failure("without damage: \(right.end): \(question.joined(separator: " "))")
    }
    var random = SeededGenerator(seed: seed, 5)
    var counts = DamageCounts()
    var told = 0
    for number in 0..<count {
      let damage = StateDamage(of: sound, &random)
      let damaged = damage.applied(to: sound)
      for (question, right) in zip(questions(), right) {
        let found = try answer(question, state, damaged)
        counts.add(
          damage.name, outcome(found, right),
          "\(number), \(damage): \(question.joined(separator: " "))")
      }
      for failure in counts.failures.dropFirst(told) { System.tell(failure) }
      told = counts.failures.count
      if number % 100 == 99 { System.tell("\(number + 1): \(told) failures") }
    }
    System.tell("seed \(seed), \(count) damages, \(sound.count / 4096) pages\n\(counts)")
  }

  private func prepare() throws {
    if !given.isEmpty { return try FileManager.default.copyItem(atPath: given, toPath: base) }
    let database = try Database(at: base)
    try Library.fill(database, seed: seed)
    try database.close()
    // Without free pages every damage hits something.
    _ = try Database.vacuum(at: base)
  }

  private func questions() -> [[String]] {
    let commands = Damages.commands.map { command in
      ["-c", "exec timeout 20 \(tool) \(command.replacing("DB", with: place)) 2>/dev/null"]
    }
    if !given.isEmpty { return commands }
    let answers = "exec timeout 60 \(CommandLine.arguments[0]) answers --at \(place) 2>/dev/null"
    return commands + [["-c", answers]]
  }

  private func answer(_ question: [String], _ state: String, _ bytes: [UInt8]) throws -> Answer {
    System.remove(place)
    try FileManager.default.copyItem(atPath: base, toPath: place)
    System.remove("\(place)/\(state)")
    try System.makeFile("\(place)/\(state)", bytes[...], [], size: bytes.count)
    let output = "\(directory)/output"
    System.remove(output)
    let child = try ChildProcess(question, [:], output: output, program: "/bin/sh")
    let end = child.wait()
    return Answer(end: end, output: System.read(output))
  }

  private func outcome(_ found: Answer, _ right: Answer) -> DamageCounts.Outcome {
    switch found.end {
    case _ where found == right: .right
    case .killed: .signal
    case .exited(124): .hang
    case .exited(128...): .signal
    // 1 says that nothing was found, 3 that there is no such node.
    case .exited(0), .exited(1), .exited(3): .wrong
    case .exited: saysOnly(found, right) ? .error : .wrong
    }
  }

  /// True if the API's answers are right, or errors.
  private func saysOnly(_ found: Answer, _ right: Answer) -> Bool {
    let newline = UInt8(ascii: "\n")
    let lines = Set(right.output.split(separator: newline))
    if !lines.contains(Array(Damages.answersHead.utf8)[...]) { return true }
    return found.output.split(separator: newline).allSatisfy {
      lines.contains($0) || $0.starts(with: "torture: ".utf8)
    }
  }

  // MARK: The API

  /// The line that the answers of the API begin with.
  private static let answersHead = "answers"

  /// Asks the API all questions, and prints a line for each that is answered, with a digest.
  ///
  /// - Throws: The first error, after the last question.
  static func answer(_ path: String) throws {
    System.tell(answersHead)
    let database = try Database(at: path)
    var failure: (any Error)?
    for question in Library.questions {
      do {
        let text = try question.ask(database)
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
          ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
        System.tell("\(question.name) \(hash)")
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }
}
