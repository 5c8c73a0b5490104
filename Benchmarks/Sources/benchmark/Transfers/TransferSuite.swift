/// Measures transfers between accounts: a debit and a credit in one transaction, confirmed when it
/// is durable; of one caller who waits for each, and of many who await theirs.
///
/// The workload is that of SpacetimeDB's own benchmark: 100,000 accounts, chosen uniformly or by
/// Zipf's law with an exponent of 1.5, so that many transfers are about the same few. An array
/// says which balances are left.
struct TransferSuite {
  private static let peer = SQLiteBank.name
  /// The transfers a second of 64 callers that are aimed at, where a flush takes this long.
  private static let aim = (callers: 64, rate: 60_000.0, flush: 100e-6)

  private let accounts: Int
  private let singles: Int
  private let awaited: Int
  private let rounds: Int
  private let options: Options
  private let workspace: Workspace

  init(_ options: Options, _ workspace: Workspace) {
    self.options = options
    self.workspace = workspace
    accounts = options.count ?? (options.isSmoke ? 1_000 : 100_000)
    singles = options.isSmoke ? 20 : 2_000
    awaited = options.isSmoke ? 1_000 : 40_000
    rounds = options.rounds ?? (options.isSmoke ? 1 : 5)
  }

  func run() async throws {
    if accounts < 2 { throw BenchmarkError("a transfer needs two accounts") }
    var measurements = Measurements()
    var flushes: [Double] = []
    for round in 0..<rounds {
      flushes.append(try DiskFlush.seconds(in: workspace.directory()))
      try await run(round, &measurements)
    }
    try report(measurements, flush: median(flushes) ?? 0)
  }

  private func run(_ round: Int, _ measurements: inout Measurements) async throws {
    let directories = [try workspace.directory(), try workspace.directory()]
    defer { for directory in directories { workspace.remove(directory) } }
    var banks: [any Bank] = []
    if options.selects(SQLiteBank.name) {
      banks.append(try SQLiteBank(directory: directories[0], accounts: accounts))
    }
    if options.selects(CambiumBank.name) {
      banks.append(try CambiumBank(directory: directories[1], accounts: accounts))
    }
    let oracle = ArrayBank(directory: "", accounts: accounts)
    for spread in Spread.allCases {
      let transfers = spread.transfers(singles, among: accounts, seed: 1)[...]
      oracle.make(transfers)
      for index in banks.indices {
        let bank = banks[(index + round) % banks.count]
        let (seconds, _) = try timed { try bank.make(transfers) }
        try note(
          Double(singles) / seconds, "\(spread), one caller", of: bank, oracle, &measurements)
      }
    }
    guard let bank = banks.last as? any AwaitingBank else { return }
    for spread in Spread.allCases {
      for callers in [64, 1_000] {
        let transfers = spread.transfers(awaited, among: accounts, seed: UInt64(callers))
        oracle.make(transfers[...])
        let start = ContinuousClock.now
        try await bank.make(transfers[...], callers: callers)
        let stage = "\(spread), \(callers) awaiting; SQLite: one caller"
        try note(
          Double(awaited) / seconds(since: start), stage, of: bank, oracle, &measurements)
        measurements.copyLast(of: Self.peer, from: "\(spread), one caller", to: stage)
      }
    }
  }

  private func note(
    _ rate: Double, _ stage: String, of bank: any Bank, _ oracle: ArrayBank,
    _ measurements: inout Measurements
  ) throws {
    func digest(_ balances: [Int]) -> Digest {
      balances.reduce(into: Digest()) { $0.add(Int64($1)) }
    }
    measurements.add(
      rate, digest: digest(try bank.balances()), to: stage, of: type(of: bank).name)
    measurements.expect(digest(oracle.balances()), of: stage)
  }

  // MARK: Report

  private func report(_ measurements: Measurements, flush: Double) throws {
    print("Transfers: \(accounts) accounts, \(rounds) rounds; confirmed transfers per second, and")
    print("the median ratio to SQLite. A flush takes \(digits(flush * 1e6)) µs here.\n")
    try measurements.report(
      [SQLiteBank.name, CambiumBank.name].filter(options.selects), CambiumBank.name, to: Self.peer,
      suite: "transfers", options
    ) { _ in nil }
    let aim = Self.aim
    guard
      let rate = measurements.rows.first(where: {
        $0.name.hasPrefix("\(Spread.uniform), \(aim.callers)")
      })?.median(of: CambiumBank.name)
    else { return }
    let verdict =
      rate >= aim.rate ? "reached" : flush > aim.flush ? "not reached by this disk" : "**missed**"
    print("\(digits(aim.rate)) a second of \(aim.callers) callers, where a flush takes")
    print("\(digits(aim.flush * 1e6)) µs: \(verdict).\n")
  }
}
