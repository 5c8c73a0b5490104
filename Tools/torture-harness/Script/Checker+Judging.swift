import Cambium
import FoundationEssentials
import Simulation

/// Everything that is not the tree: what queries answer, times, tags, kept positions, the archive,
/// and the bytes that must be gone.
extension Checker {
  /// Judges what is stored beside the tree.
  func judgeRest(_ database: Database, _ head: UInt64, _ path: String, _ marks: Marks) throws {
    try judgeTimes(database, head)
    try judgeTags(database, marks)
    try script.secrets.demandErased(upTo: head, from: path)
    if !hasPositions { return }
    let position = try database.consumer(Script.keeper).position().rawValue
    let kept = marks.position
    try demand(
      kept.stored <= position && position <= kept.newest,
      "P2: the kept position is \(position), not \(kept.stored) to \(kept.newest)")
  }

  // MARK: Times

  /// Checks that times never go back and are those of the script, and that they lead to moments.
  private func judgeTimes(_ database: Database, _ head: UInt64) throws {
    let horizon = try database.horizon.rawValue
    var times: [(number: UInt64, milliseconds: Int64)] = []
    var commits = try database.commits(after: SequenceNumber(horizon))
    while let commit = try commits.next() {
      let (number, time) = (commit.sequence.rawValue, ScriptTimes.milliseconds(commit.time))
      try demand(
        times.last.map { $0.milliseconds <= time } ?? true, "the time of \(number) goes back")
      try demand(
        !hasTimes || script.times.milliseconds(number) == time,
        "the time of \(number) is \(commit.time)")
      times.append((number, time))
    }
    guard hasTimes, let first = times.first, first.number < head else { return }
    var random = SeededGenerator(seed: head, 59)
    for _ in 0..<3 {
      let wanted = random.pick(times).milliseconds + Int64(random.below(3)) - 1
      guard wanted >= first.milliseconds else { continue }
      let expected = times.last { $0.milliseconds <= wanted }?.number
      let found = try database.snapshot(at: .time(ScriptTimes.date(wanted))).sequence.rawValue
      try demand(
        found == expected, "time \(wanted) leads to \(found), not to \(expected ?? horizon)")
    }
  }

  // MARK: Tags

  private func judgeTags(_ database: Database, _ marks: Marks) throws {
    let tags = try database.tags
    let numbers = Set(tags.map(\.sequence.rawValue))
    for tag in tags {
      let number = tag.sequence.rawValue
      try demand(
        tag.name == TagMarks.name(number) && marks.tags.possible.contains(number),
        "\(tag.name) is of transaction \(number)")
      let snapshot = try database.snapshot(at: .tag(tag.name))
      try demand(snapshot.sequence.rawValue == number, "\(tag.name) leads to \(snapshot.sequence)")
    }
    try demand(
      !hasPositions || marks.tags.sure.isSubset(of: numbers),
      "of the tags of \(marks.tags.sure.sorted()) there are \(numbers.sorted())")
  }

  // MARK: The archive

  /// Walks the archive, which has each transaction from its start on once and in order, and
  /// restores one of its moments.
  func judgeArchive(
    _ database: Database, _ path: String, _ random: inout SeededGenerator
  ) throws {
    guard let archived = try database.information().archived else { return }
    var walked: [UInt64] = []
    let start = archived.lowerBound
    var commits = try database.commits(after: start.previous, readsArchive: true)
    while let commit = try commits.next() {
      walked.append(commit.sequence.rawValue)
      try checkCommit(commit)
    }
    let head = try database.head.rawValue
    try demand(walked == Array(start.rawValue...head), "P5: with the archive it gave \(walked)")
    let count = Int(archived.upperBound.rawValue - start.rawValue) + 1
    let moment = start.rawValue + UInt64(random.oneIn(3) ? 0 : random.below(count))
    let restored = "\(path).restored"
    defer { System.remove(restored) }
    try database.replay(to: restored, until: SequenceNumber(moment))
    let copy = try Database(at: restored, options: .roomy)
    try compare(copy, at: moment, isPresent: true, judging: false)
    try copy.close()
  }
}
