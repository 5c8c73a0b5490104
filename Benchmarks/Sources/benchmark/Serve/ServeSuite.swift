/// Measures the server, which runs in a process of its own: requests per second, streams that are
/// idle, and a writer beside them.
struct ServeSuite {
  /// A writer beside idle streams may be slower by this factor.
  private static let writerBar = 0.95
  private static let connectionCount = 64

  private let rounds: Int
  private let streamCount: Int
  private let seconds: Int
  private let isSmoke: Bool
  private let workspace: Workspace

  init(_ options: Options, _ workspace: Workspace) {
    isSmoke = options.isSmoke
    rounds = options.rounds ?? (isSmoke ? 1 : 5)
    streamCount = options.count ?? (isSmoke ? 200 : 10_000)
    seconds = isSmoke ? 1 : 2
    self.workspace = workspace
  }

  func run() throws {
    let directory = try workspace.directory()
    defer { workspace.remove(directory) }
    Descriptors.allow(streamCount + 256)
    let server = try ChildConversation([ServedDatabase.argument, directory])
    guard let port = Int(try server.line(within: 60)) else {
      throw BenchmarkError("the server names no port")
    }
    try measureRequests(port)
    try measureStreams(port, server)
  }

  private func measureRequests(_ port: Int) throws {
    let targets = [
      ("a file of the inspector", "/"),
      ("a property, Firebase", "/items/17/name.json"),
      ("a node, /v1", "/v1/get?path=items/17"),
      (
        "50 of 10,000 by a condition, /v1",
        "/v1/query?query=items%20where%20size%20%3D%203%20limit%2050"
      ),
      ("50 of 10,000 by key, Firebase", "/items.json?orderBy=%22%24key%22&limitToFirst=50"),
    ]
    var table = Table(["GET, \(Self.connectionCount) connections", "per second", "digest"])
    for (name, target) in targets {
      var (rates, digests): ([Double], Set<UInt64>) = ([], [])
      let load = try HTTPLoad(port: port, count: Self.connectionCount)
      for _ in 0..<rounds {
        let (rate, digest) = try load.requests(target, for: seconds)
        rates.append(rate)
        digests.insert(digest.value)
      }
      let verdict = digests.count == 1 ? digests.map { String($0, radix: 16) }[0] : "**differs**"
      table.add([name, rate(median(rates)), verdict])
    }
    print(table.text + "\n")
  }

  private func measureStreams(_ port: Int, _ server: ChildConversation) throws {
    var alone = try (0..<rounds).map { _ in try writes(server) }
    let before = try memory(server)
    let start = ContinuousClock.now
    var load: HTTPLoad? = try HTTPLoad(port: port, count: streamCount)
    try load?.follow("/followed.json")
    let opened = benchmark.seconds(since: start)
    let after = try memory(server)
    var (fanOut, beside): ([Double], [Writes]) = ([], [])
    for _ in 0..<rounds {
      try server.ring(UInt8(ascii: "c"))
      guard let committed = Int64(try server.line(within: 20)) else {
        throw BenchmarkError("the server names no time")
      }
      try load?.awaitEvents(of: 1)
      fanOut.append(Double(MonotonicClock.now - committed) * 1e-9)
      beside.append(try writes(server))
    }
    load = nil
    alone += try (0..<rounds).map { _ in try writes(server) }
    func ratio(_ figure: KeyPath<Writes, Double>) -> Double {
      (median(beside.map { $0[keyPath: figure] }) ?? 0)
        / (median(alone.map { $0[keyPath: figure] }) ?? 1)
    }
    var table = Table(["\(streamCount) idle streams", "", "bar"])
    table.add(["memory for each", "\((after - before) / streamCount) bytes", "–"])
    table.add(["all open after", "\(digits(opened)) s", "–"])
    table.add(["an event to all", "\(digits((median(fanOut) ?? 0) * 1000)) ms", "–"])
    table.add(["processor time of a commit beside them", times(ratio(\.nanoseconds)), "–"])
    table.add([
      "a writer beside them", times(ratio(\.rate)),
      "≥ \(times(Self.writerBar)) \(Measurements.verdict(ratio(\.rate), Self.writerBar))",
    ])
    print(table.text + "\n")
  }

  /// The commits of a writer in the server's process.
  private struct Writes {
    /// Commits per second.
    var rate: Double
    /// The processor time that each took the whole process.
    var nanoseconds: Double
  }

  private func writes(_ server: ChildConversation) throws -> Writes {
    try server.ring(UInt8(ascii: "w"))
    let figures = try server.line(within: 20).split(separator: " ").compactMap { Double($0) }
    guard figures.count == 2, figures[0] > 0 else {
      throw BenchmarkError("the server does not say how much it wrote")
    }
    return Writes(rate: figures[0], nanoseconds: figures[1] / figures[0])
  }

  /// The server's anonymous memory in bytes.
  private func memory(_ server: ChildConversation) throws -> Int {
    try server.ring(UInt8(ascii: "r"))
    guard let bytes = Int(try server.line(within: 20)) else {
      throw BenchmarkError("the server does not say its memory")
    }
    return bytes
  }
}
