import FoundationEssentials

/// The job of one process: people give it as options, and a process gives it to another as JSON.
struct Arguments: Codable {
  var command = "run"
  var setting = Setting()
  var share = Cases.Share()
  /// The time to run; nil for one round.
  var minutes: Double?
  /// Only this trial.
  var trial: Trial?
  /// Only this workload.
  var workload: Workload?
  /// Where the database of a workload goes, and its marks.
  var path = ""
  var marks = ""
  var progress = ""
  /// The system start to open in; nil for this one.
  var start: String?
  /// After how many transactions a process of the feed trial is done, and the last one of all.
  var count: Int?
  var end: UInt64?
  /// The measurement to make instead: compacting that drops, or that archives; declaring; what
  /// comes of a damaged state; what live queries are followed through; which faults find what.
  var measure: Measure?
  /// The part of each trial's full size that a round takes; nil for the usual part.
  var scale: Double?
  /// True to plant a third of the bugs, which the seed draws.
  var drawsBugs = false

  /// The part of each trial's full size that a smoke run takes.
  private static let smokeScale = 0.5

  /// The part that a round of a long run takes: so an hour has more rounds than there are
  /// workloads, of which some trials take one in a round, and each round has sizes of its own.
  private static let longScale = 0.12

  /// The part of each trial's full size that each round takes.
  var scaleOfRounds: Double { scale ?? (minutes == nil ? 1 : Arguments.longScale) }

  /// The things that can be measured alone.
  enum Measure: String, Codable {
    case compaction
    case archiving
    case declaring
    case damage
    case live
    case kinds
  }

  static let usage = """
    usage: Tools/torture [--smoke | --minutes N] [--seed N]
           Tools/torture --trial power|kill|fault|loss|twice|brim|remount|clock|memory|space
                                 |corruption|feed|schedule|live
                         [--workload NAME] [--seed N] [--quota N] [--names strict|journal]
                         [--fault KIND] [--bug NAME] [--case N]
           Tools/torture --measure compaction|archiving|declaring|damage|live|kinds [--count N]
                         [--at DB]
    """
}

/// The command line.
extension Arguments {
  init(_ words: [String]) throws {
    if let first = words.first, first.hasPrefix("{") {
      self = try JSONDecoder().decode(Arguments.self, from: Data(first.utf8))
      return
    }
    self.init()
    var words = words[...]
    if let first = words.first, !first.hasPrefix("-") { command = words.removeFirst() }
    while let name = words.popFirst() {
      if name == "--smoke" {
        (scale, drawsBugs) = (Arguments.smokeScale, true)
        continue
      }
      guard let value = words.popFirst() else { throw Failure("\(name) needs a value") }
      guard try take(name, value) else {
        throw Failure("there is no option \(name)\n\(Arguments.usage)")
      }
    }
  }

  private mutating func take(_ name: String, _ value: String) throws -> Bool {
    func number<Number: LosslessStringConvertible>() throws -> Number {
      guard let number = Number(value) else { throw Failure("\(name) needs a number") }
      return number
    }
    func choice<Choice: RawRepresentable>() throws -> Choice where Choice.RawValue == String {
      guard let choice = Choice(rawValue: value) else { throw Failure("\(name) \(value)?") }
      return choice
    }
    switch name {
    case "--minutes": minutes = try number()
    case "--seed": setting.seed = try number()
    case "--quota": setting.quota = try number()
    case "--scale": scale = try number()
    case "--trial": trial = try choice()
    case "--workload":
      setting.workload = try choice()
      workload = setting.workload
    case "--names": setting.order = try choice()
    case "--fault": setting.fault = try choice() as Faults.Kind
    case "--bug": setting.bug = value
    case "--recording": setting.recording = value
    case "--recorder": setting.recorder = value
    case "--planted": setting.planted = value
    case "--case": share.only = try number()
    case "--at": path = value
    case "--count": count = try number() as Int
    case "--measure": measure = try choice()
    default: return false
    }
    return true
  }

  /// Starts another process that does this, with the bug that is to be found.
  func start(_ variables: [String: String], output: String) throws -> ChildProcess {
    let words = [String(decoding: try JSONEncoder().encode(self), as: UTF8.self)]
    let bug = setting.bug
    if bug.isEmpty { return try ChildProcess(words, variables, output: output) }
    let variables = variables.merging(["CAMBIUM_PLANTED_BUG": bug]) { own, _ in own }
    return try ChildProcess(words, variables, output: output, program: "\(setting.planted)/torture")
  }
}
