import Cambium
import FoundationEssentials
import Glibc

/// Tortures databases, and checks what Cambium promises of them.
///
/// One program in several parts, since a part may be killed: `run` starts the others. `workload`,
/// `endure`, `starve` and `write` write, under the recorder; `observe` and `consume` follow;
/// `recover` opens what they left; `hold` reads until it is killed; `live` writes beside live
/// queries; `answers` reads what was damaged; `trial` runs a share of a trial's cases; `fill` and
/// `reopen` measure a recovery.
@main struct Torture {
  static func main() async {
    do {
      let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
      exit(try await run(arguments) ? 0 : 1)
    } catch {
      System.write("torture: \(error)\n", to: 1)
      exit(2)
    }
  }

  /// - Returns: True if no promise was broken.
  private static func run(_ arguments: Arguments) async throws -> Bool {
    // Nobody ends a process that hangs once the one that waits for it has given up.
    if ["workload", "endure", "starve", "recover", "write"].contains(arguments.command) {
      System.limit(seconds: Cases.secondsMax / 2)
    }
    switch arguments.command {
    case "workload": try await workload(arguments).run(arguments.setting.workload.acts)
    case "endure":
      let order = ProcessInfo.processInfo.environment["TORTURE_FAULT"] ?? ""
      var endurance = try Endurance(run: workload(arguments), order: order)
      try await endurance.endure()
    case "starve":
      var starvation = Starvation(run: try workload(arguments))
      try starvation.starve()
    case "write":
      try await feed(arguments).work.run([.open, .write(arguments.count ?? 0), .close])
    case "observe": try await feed(arguments).run(.observer)
    case "consume": try await feed(arguments).run(.consumer)
    case "fill": try Recovery(path: arguments.path).fill()
    case "reopen": try Recovery(path: arguments.path).measure()
    case "recover": try recover(arguments)
    case "answers": try Damages.answer(arguments.path)
    case "hold": try KilledReader.hold(arguments.path)
    case "live":
      try LiveHistory.write(
        at: arguments.path, seed: arguments.setting.seed, commits: arguments.count ?? 0)
    case "trial":
      let cases = try Cases(
        arguments.share, progress: arguments.progress,
        stop: "\(arguments.setting.directory)/../stop")
      guard let trial = arguments.trial else { throw Failure("which trial?") }
      try trial.run(arguments.setting, cases)
      cases.report()
    case "run":
      let session = try Session(arguments)
      guard let measure = arguments.measure else { return session.run() }
      defer { session.removeFiles() }
      if measure == .kinds { return try session.measureKinds() }
      return try run(measure, arguments, in: session.directory)
    default: throw Failure(Arguments.usage)
    }
    return true
  }

  /// - Returns: True if no promise was broken.
  private static func run(
    _ measure: Arguments.Measure, _ arguments: Arguments, in directory: String
  ) throws -> Bool {
    let count = arguments.count ?? (measure == .damage ? 3000 : 1_000_000)
    switch measure {
    case .damage:
      try Damages(
        directory: directory, seed: arguments.setting.seed, count: count, given: arguments.path
      ).measure()
    case .declaring: try DeclaringSteps(directory: directory, records: count).measure()
    case .compaction, .archiving:
      try CompactionSteps(
        directory: directory, operations: count, archives: measure == .archiving
      ).measure()
    case .live:
      var setting = arguments.setting
      setting.directory = directory
      return try LiveHistories(setting: setting).measure(commits: arguments.count ?? 200_000)
    // The session runs it, since it is made of jobs.
    case .kinds: break
    }
    return true
  }

  private static func workload(_ arguments: Arguments) throws -> WorkloadRun {
    WorkloadRun(
      workload: arguments.setting.workload, script: arguments.setting.script,
      path: arguments.path, marks: try MarkWriter(arguments.marks),
      options: arguments.setting.sizes.options, hasTimes: arguments.setting.hasTimes)
  }

  private static func feed(_ arguments: Arguments) throws -> FeedProcess {
    let work = try FeedProcess.work(arguments.setting, at: arguments.path, marks: arguments.marks)
    return FeedProcess(
      work: work, marks: arguments.marks, count: arguments.count, end: arguments.end)
  }

  /// Opens a database, whose recovery is done when that returns; a backup continues. What was
  /// acknowledged is there, or an error says what is not.
  private static func recover(_ arguments: Arguments) throws {
    guard System.exists(arguments.path) else { return }
    var options = arguments.setting.sizes.options
    options.systemStart = arguments.start
    let database = try Database(at: arguments.path, options: options)
    if arguments.setting.workload == .backup {
      try database.backUp(to: BackupPlaces(arguments.path).directory)
    }
    do {
      let (head, least) = (try database.head.rawValue, arguments.count ?? 0)
      try demand(head >= least, "P6: \(least) was acknowledged, and opening shows \(head)")
    } catch DatabaseError.stateBehind {}
    withExtendedLifetime(database) {}
  }
}
