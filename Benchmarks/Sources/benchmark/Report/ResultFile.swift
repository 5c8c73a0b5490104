import FoundationEssentials

/// One row of a suite, as it is kept: every sample of every contender, so that a report can be made
/// of several runs.
struct ResultRow: Codable {
  let suite: String
  /// "full" or "soon".
  let durability: String
  let row: String
  let own: String
  let peer: String
  /// The least ratio of the medians per round; nil where none was set.
  let bar: Double?
  /// Rates by contender, one a round.
  let samples: [String: [Double]]
  /// Microseconds of processor time an operation, by contender, one a round; of all threads.
  let cpu: [String: [Double]]
  /// The digest that all contenders computed; nil where they differ, or nothing is read back.
  let digest: String?

  /// The ratios of the rounds, own to peer.
  var ratios: [Double] {
    guard let own = samples[own], let others = samples[peer] else { return [] }
    return zip(own, others).map { $0 / $1 }
  }
}

/// The machine, and the time at which it was looked at.
struct Machine: Codable {
  let date: String
  let processor: String
  let cores: Int
  let system: String
  let directory: String
  /// The median of flushes of one page in the directory, in microseconds.
  let flush: Double
  /// The part of the processors' time that others used while this process slept.
  let busy: Double

  /// Above this part, figures are those of others as well.
  static let busyMax = 0.1
}

/// A line of a file of results.
enum ResultLine: Codable {
  case machine(Machine)
  case row(ResultRow)
}

/// A file of results: JSON, a line for each.
struct ResultFile {
  let path: String

  func add(_ line: ResultLine) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    var data = (try? Data(contentsOf: URL(filePath: path))) ?? Data()
    data += try encoder.encode(line) + [UInt8(ascii: "\n")]
    try data.write(to: URL(filePath: path), options: .atomic)
  }

  func lines() throws -> [ResultLine] {
    guard let data = try? Data(contentsOf: URL(filePath: path)) else {
      throw BenchmarkError("\(path) cannot be read")
    }
    return try data.split(separator: UInt8(ascii: "\n")).map {
      do { return try JSONDecoder().decode(ResultLine.self, from: Data($0)) } catch {
        throw BenchmarkError("\(path) is not a file of results: \(error)")
      }
    }
  }
}
