import Cambium
import Dispatch

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A moment at which an observer was called, with a number that says for which commit.
struct ObservedMoment: Sendable {
  let number: Int
  /// Nanoseconds of the clock that all processes share.
  let time: Int64
}

/// The other process of the latency stage: it follows the newest open issues of the same database
/// and writes a line for each difference, and one for each byte that it is sent.
///
///     difference ──▶ "change NUMBER NANOSECONDS"
///     byte       ──▶ "echo 0 NANOSECONDS"
enum LiveFollower {
  static let argument = "--follow"

  static func query(_ database: Database) -> ModelQuery<Issue> {
    database.query(Issue.self).where { $0.isOpen == true }.order(by: \.created.descending)
      .limit(50)
  }

  /// The number that a commit has left in the first issue.
  static func moment(of diff: LiveDiff<Issue>) -> ObservedMoment {
    ObservedMoment(number: diff.elements.first?.priority ?? -1, time: MonotonicClock.now)
  }

  /// The other process's part.
  static func answer(_ arguments: [String]) async throws {
    guard arguments.count == 2 else { throw BenchmarkError("\(argument) PATH") }
    let database = try TrackerData.open(arguments[1])
    DispatchQueue(label: "echo").async { echo() }
    for try await diff in query(database).changes() { say("change", moment(of: diff)) }
  }

  /// Answers bytes until there is nobody to send them; then the process has no reason to go on.
  private static func echo() {
    var byte: UInt8 = 0
    while unsafe read(STDIN_FILENO, &byte, 1) == 1 {
      say("echo", ObservedMoment(number: 0, time: MonotonicClock.now))
    }
    exit(0)
  }

  private static func say(_ word: String, _ moment: ObservedMoment) {
    // One call for each line, so that those of two threads do not mix.
    var line = "\(word) \(moment.number) \(moment.time)\n"
    line.withUTF8 { bytes in _ = unsafe write(STDOUT_FILENO, bytes.baseAddress, bytes.count) }
  }

  /// Reads a line of the other process, which must be of a kind and have a number.
  static func time(of line: String, _ word: String, _ number: Int) throws -> Int64 {
    let words = line.split(separator: " ")
    guard words.count == 3, words[0] == word, Int(words[1]) == number, let time = Int64(words[2])
    else { throw BenchmarkError("\(word) \(number) was not told; instead came: \(line)") }
    return time
  }
}
