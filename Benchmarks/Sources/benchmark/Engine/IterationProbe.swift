import Cambium
import FoundationEssentials

/// The memory that a fresh process adds while it reads one property of every child of `items`.
///
/// A process of its own opens the database, reads a node, iterates, and leaves three numbers in a
/// file: bytes of its own added at most, bytes of mapped files added at most, the sum of `score`.
struct IterationProbe {
  static let argument = "--iterate"

  let anonymous: Int
  let file: Int
  let sum: Int

  /// Measures in a process of its own; nil where the system does not report memory.
  static func measure(_ path: String, in directory: String) throws -> IterationProbe? {
    if Memory.current() == nil { return nil }
    let answer = directory + "/iterated"
    try ChildProcess.run([argument, path, answer])
    let numbers = try String(contentsOfFile: answer, encoding: .utf8).split(separator: " ")
      .compactMap { Int($0) }
    guard numbers.count == 3 else { throw BenchmarkError("iterating left \(numbers)") }
    return IterationProbe(anonymous: numbers[0], file: numbers[1], sum: numbers[2])
  }

  /// The other process's part.
  static func answer(_ arguments: [String]) throws {
    guard arguments.count == 3 else { throw BenchmarkError("--iterate PATH ANSWER") }
    let database = try Database(at: arguments[1])
    defer { try? database.close() }
    let probe = try database.read { try iterate($0["items"]) }
    let text = "\(probe.anonymous) \(probe.file) \(probe.sum)"
    try Data(text.utf8).write(to: URL(filePath: arguments[2]))
  }

  private static func iterate(_ items: Node) throws -> IterationProbe {
    _ = try items.child(.integer(0)).value
    guard let before = Memory.current() else { throw BenchmarkError("no /proc/self/status") }
    var peak = before
    var sum: Int64 = 0
    var seen = 0
    try items.children.forEach { node in
      guard case .integer(let score)? = try node["score"] else { return }
      sum += score
      seen += 1
      if seen.isMultiple(of: 20_000) { peak = peak.max(Memory.current() ?? peak) }
    }
    peak = peak.max(Memory.current() ?? peak)
    return IterationProbe(
      anonymous: peak.anonymous - before.anonymous, file: peak.file - before.file, sum: Int(sum))
  }
}
