/// What a workload says about itself: lines of a file that the recorder keeps in order with its
/// durable calls, and that outlives the process.
///
///     C       the database is there: opening returned
///     S       a transaction is handed to `write`
///     A n     transaction n was acknowledged: `write` returned
///     F       a write failed, and said that nothing was stored
struct Marks: Sendable {
  private(set) var isCreated = false
  private(set) var submitted: UInt64 = 0
  private(set) var acknowledged: UInt64 = 0
  private var failed: UInt64 = 0

  /// The most transactions that there may be.
  var most: UInt64 { submitted - min(failed, submitted) }

  /// Takes in complete lines.
  mutating func read(_ bytes: some Collection<UInt8>) {
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") { read(line) }
  }

  private mutating func read(_ line: Substring) {
    switch line.first {
    case "C": isCreated = true
    case "S": submitted += 1
    case "F": failed += 1
    case "A": acknowledged = max(acknowledged, UInt64(line.dropFirst(2)) ?? 0)
    default: break
    }
  }
}

/// Writes marks.
struct MarkWriter: Sendable {
  private let descriptor: Int32

  init(_ path: String) throws { descriptor = try System.openForAppending(path) }

  func created() { write("C") }
  func submitted() { write("S") }
  func acknowledged(_ sequence: UInt64) { write("A \(sequence)") }
  func failed() { write("F") }

  private func write(_ line: String) { System.write("\(line)\n", to: descriptor) }
}
