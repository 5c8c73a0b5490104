/// Numbered cases, each of which may break a promise, and which of them this process is to run.
///
/// Before each case its number goes to a file, and how many were run, so that whoever waits for
/// this process knows which case killed it; an alarm ends one that hangs.
final class Cases {
  private let share: Share
  private let progress: Int32
  private let stop: String
  private(set) var number: UInt64 = 0
  private(set) var run: UInt64 = 0
  private(set) var violations: UInt64 = 0

  /// The share of the cases that is to be run.
  struct Share: Codable, Sendable {
    /// Every `stride`th case from `first` on.
    var stride: UInt64 = 1
    var first: UInt64 = 0
    /// The only one, where a case is to be seen again.
    var only: UInt64?
    /// Cases before this number have been run.
    var resumeAt: UInt64 = 0
    /// True if the first violation ends the run.
    var stopsAtFirst = false
  }

  /// The longest that one case may take, in seconds.
  static let secondsMax = 60

  /// Notes its progress in one file; another, once it is there, ends the run.
  init(_ share: Share, progress: String, stop: String) throws {
    self.share = share
    self.stop = stop
    self.progress = try System.open(progress, isAppended: false)
  }

  /// True if nothing more is to be run.
  var isOver: Bool {
    share.stopsAtFirst && violations > 0 || share.only.map { number > $0 } ?? false
      || System.exists(stop)
  }

  /// Runs the next case, if it is one of ours; what it throws is a violation.
  func next(_ label: @autoclosure () -> String, _ body: () throws -> Void) {
    defer { number += 1 }
    let isOurs = share.only.map { $0 == number } ?? (number % share.stride == share.first)
    if !isOurs || number < share.resumeAt || isOver { return }
    System.limit(seconds: Cases.secondsMax)
    run += 1
    System.note([number + 1, run], in: progress)
    if share.only != nil { tell("running \(label())") }
    do { try body() } catch {
      violations += 1
      tell("violation \(number) \(label()): \(error)")
    }
    System.limit(seconds: 0)
  }

  /// Counts one thing more that the present case tries.
  func addOne() { run += 1 }

  /// Prints the counts.
  func report() { tell("cases \(run) of \(number)") }

  /// Writes a line at once, since the next case may end this process.
  private func tell(_ line: String) {
    System.write(line.split(separator: "\n").joined(separator: " ") + "\n", to: 1)
  }
}
