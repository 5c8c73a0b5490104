/// The figures of a suite: for every row and contender one sample per round, and the digests of
/// what was computed.
struct Measurements {
  /// One operation, measured on every contender that has it.
  struct Row {
    let name: String
    /// Samples by contender, in the order of the rounds.
    fileprivate(set) var samples: [String: [Double]] = [:]
    /// Microseconds of processor time an operation, as the samples.
    fileprivate(set) var cpu: [String: [Double]] = [:]
    /// Every digest that came out, over all contenders and rounds.
    fileprivate(set) var digests: Set<UInt64> = []

    /// True if all contenders computed the same in all rounds.
    var agrees: Bool { digests.count <= 1 }

    /// The digest that all share, if there is one.
    var verdict: String {
      guard let digest = digests.first else { return "–" }
      return agrees ? String(digest, radix: 16) : "**differs**"
    }

    func median(of contender: String) -> Double? {
      samples[contender].flatMap(benchmark.median)
    }

    /// The median of the ratios of samples taken in the same round.
    func ratio(of contender: String, to peer: String) -> Double? {
      guard let own = samples[contender], let others = samples[peer] else { return nil }
      return benchmark.median(zip(own, others).map { $0 / $1 })
    }
  }

  /// In the order in which they were first measured.
  private(set) var rows: [Row] = []

  mutating func add(
    _ value: Double, cpu: Double? = nil, digest: Digest? = nil, to name: String,
    of contender: String
  ) {
    let index = rows.firstIndex { $0.name == name } ?? rows.count
    if index == rows.count { rows.append(Row(name: name)) }
    rows[index].samples[contender, default: []].append(value)
    if let cpu { rows[index].cpu[contender, default: []].append(cpu) }
    if let digest { rows[index].digests.insert(digest.value) }
  }

  /// Adds the rate of some operations that took a time.
  mutating func add(
    _ time: Elapsed, operations: Int, digest: Digest? = nil, to name: String, of contender: String
  ) {
    let count = Double(operations)
    add(
      count / time.seconds, cpu: time.cpu * 1e6 / count, digest: digest, to: name, of: contender)
  }

  /// Adds the digest that every contender should have computed.
  mutating func expect(_ digest: Digest, of name: String) {
    guard let index = rows.firstIndex(where: { $0.name == name }) else { return }
    rows[index].digests.insert(digest.value)
  }

  /// Gives a contender its latest sample of one row in another.
  mutating func copyLast(of contender: String, from source: String, to name: String) {
    guard let sample = rows.first(where: { $0.name == source })?.samples[contender]?.last
    else { return }
    add(sample, to: name, of: contender)
  }

  /// The verdict on a ratio: "pass" if it reaches its bar, and a dash without a ratio or a bar.
  static func verdict(_ ratio: Double?, _ bar: Double?) -> String {
    guard let ratio, let bar else { return "–" }
    return ratio >= bar ? "pass" : "**miss**"
  }

  /// Prints the rates of some contenders, and the ratio of one to a peer beside its bar.
  ///
  /// - Parameters:
  ///   - names: The contenders.
  ///   - own: The contender that is to reach the bars.
  ///   - peer: The one to which it is compared.
  ///   - title: The head of the column of ratios.
  ///   - suite: The suite, for the file of results.
  ///   - options: Says if there is one.
  ///   - bar: The least ratio by the name of the operation; nil for none.
  /// - Throws: ``BenchmarkError`` where not all computed the same.
  func report(
    _ names: [String], _ own: String, to peer: String, title: String = "ratio", suite: String,
    _ options: Options, bar: (_ name: String) -> Double?
  ) throws {
    for row in rows {
      try options.results?.add(
        .row(
          ResultRow(
            suite: suite, durability: options.isSoon ? "soon" : "full", row: row.name, own: own,
            peer: peer, bar: bar(row.name), samples: row.samples, cpu: row.cpu,
            digest: row.agrees ? row.digests.first.map { String($0, radix: 16) } : nil)))
    }
    var table = Table(["operation"] + names + [title, "bar", "", "digest"])
    for row in rows {
      let (ratio, bar) = (row.ratio(of: own, to: peer), bar(row.name))
      table.add(
        [row.name] + names.map { rate(row.median(of: $0)) }
          + [
            times(ratio), bar.map { "≥ " + times($0) } ?? "–", Measurements.verdict(ratio, bar),
            row.verdict,
          ])
    }
    print(table.text + "\n")
    if let row = rows.first(where: { !$0.agrees }) {
      throw BenchmarkError("not all computed the same in: \(row.name)")
    }
  }
}

/// The middle value; nil when there is none.
func median(_ values: [Double]) -> Double? {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return nil }
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// The time that something took: by the clock, and of the processors, in seconds.
struct Elapsed {
  let seconds: Double
  let cpu: Double
}

/// Runs the body and returns the time that it took, of all threads, with its result.
func elapsed<Result>(_ body: () throws -> Result) rethrows -> (time: Elapsed, result: Result) {
  let cpu = ProcessClock.now
  let (seconds, result) = try timed(body)
  return (Elapsed(seconds: seconds, cpu: Double(ProcessClock.now - cpu) * 1e-9), result)
}

/// Runs the body and returns how many seconds it took, with its result.
func timed<Result>(_ body: () throws -> Result) rethrows -> (seconds: Double, result: Result) {
  let start = ContinuousClock.now
  let result = try body()
  return (seconds(since: start), result)
}

func seconds(since start: ContinuousClock.Instant) -> Double {
  let (seconds, attoseconds) = (ContinuousClock.now - start).components
  return Double(seconds) + Double(attoseconds) * 1e-18
}
