/// Measures Cambium, with its log and history, against databases that keep the present alone.
///
/// Each round opens all contenders in fresh directories and takes them through the stages side by
/// side, in turns, so that what they are compared with was measured seconds apart.
struct EngineSuite {
  static var contenders: [any Contender.Type] {
    [
      RawLMDBContender.self, KeyValueContender<LevelDBStore>.self,
      KeyValueContender<RocksDBStore>.self, SQLiteContender.self, CambiumContender.self,
    ]
  }
  private static let peer = SQLiteContender.name

  private let sizes: Sizes
  private let rounds: Int
  private let options: Options
  private let workspace: Workspace

  /// The sizes of the workloads.
  struct Sizes {
    let items: Int
    let singles: Int
    let awaited: Int
    let updates: Int

    init(_ options: Options) {
      items = options.count ?? (options.isSmoke ? 1_000 : 200_000)
      singles = options.singles
      awaited = options.isSmoke ? 1_000 : 20_000
      updates = max(1, items / 4)
    }
  }

  init(_ options: Options, _ workspace: Workspace) {
    self.options = options
    self.workspace = workspace
    sizes = Sizes(options)
    rounds = options.rounds ?? (options.isSmoke ? 1 : 5)
  }

  func run() async throws {
    let names = Self.contenders.map { $0.name }.filter(options.selects)
    if names.isEmpty { throw BenchmarkError("--only fits no contender") }
    let plan = Plan(sizes)
    var measurements = Measurements()
    for round in 0..<rounds { try await run(round, names, plan, &measurements) }
    try report(measurements, names)
    guard options.selects(CambiumContender.name), options.measures("figures") else { return }
    try CambiumFigures(options, workspace).run()
  }
}

// MARK: One round

extension EngineSuite {
  /// The input for all contenders, prepared before the clock runs.
  private struct Plan {
    let items: [Item]
    let keys: [Int]
    let changes: [ItemChange]
    /// Every second key.
    let halved: [Int]
    let sizes: Sizes

    init(_ sizes: Sizes) {
      self.sizes = sizes
      items = (0..<(sizes.items + sizes.singles + 2 * sizes.awaited)).map(Item.init(key:))
      halved = Array(stride(from: 0, to: sizes.items, by: 2))
      var random = SeededGenerator(seed: 6)
      keys = (0..<sizes.items).map { _ in random.next(below: sizes.items) }
      changes = (0..<sizes.updates).map { _ in
        ItemChange(
          key: random.next(below: sizes.items), count: Int64(random.next(below: 1_000_000)))
      }
    }
  }

  /// A step of a round: how many operations it has, and what they compute.
  private struct Stage {
    let name: String
    let operations: Int
    /// True if the other stages work on the items that this one stores.
    var isNeeded = false
    /// The timed work; only reads return a digest.
    let body: (any Contender) throws -> Digest?
    /// Reads back what the body wrote, after the clock has stopped.
    var check: ((any Contender) throws -> Digest)?
  }

  private func stages(_ plan: Plan) -> [Stage] {
    let loaded = plan.items[..<sizes.items]
    let single = plan.items[sizes.items..<(sizes.items + sizes.singles)]
    return [
      Stage(name: "bulk load, 1,000 per transaction", operations: loaded.count, isNeeded: true) {
        try $0.store(loaded, from: 0, perTransaction: 1_000)
        return nil
      } check: {
        try $0.readItem(Array(loaded.indices))
      },
      Stage(name: "durable singles", operations: single.count) {
        try $0.store(single, from: single.startIndex, perTransaction: 1)
        return nil
      } check: {
        try $0.readItem(Array(single.indices))
      },
      Stage(name: "read one property, random", operations: plan.keys.count) {
        try $0.readName(plan.keys)
      },
      Stage(name: "read all properties, random", operations: plan.keys.count) {
        try $0.readItem(plan.keys)
      },
      Stage(name: "scan one property", operations: sizes.items + sizes.singles) {
        var digest = Digest()
        digest.add(try $0.sumScores())
        return digest
      },
      Stage(name: "update one property, 1,000 per transaction", operations: plan.changes.count) {
        try $0.update(plan.changes, perTransaction: 1_000)
        return nil
      } check: {
        try $0.readItem(Array(loaded.indices))
      },
      Stage(name: "delete half, 1,000 per transaction", operations: plan.halved.count) {
        try $0.remove(plan.halved, perTransaction: 1_000)
        return nil
      } check: {
        var digest = Digest()
        digest.add(try $0.sumScores())
        return digest
      },
    ]
  }

  private func run(
    _ round: Int, _ names: [String], _ plan: Plan, _ measurements: inout Measurements
  ) async throws {
    var directories: [String] = []
    defer { for directory in directories { workspace.remove(directory) } }
    var contenders: [any Contender] = []
    for type in Self.contenders where names.contains(type.name) {
      directories.append(try workspace.directory())
      let directory = directories[contenders.count]
      contenders.append(try type.init(directory: directory, isSoon: options.isSoon))
    }
    let model = ArrayContender(directory: "", isSoon: false)
    for stage in stages(plan) where stage.isNeeded || options.measures(stage.name) {
      let expected = try digest(of: stage, on: model)
      for index in contenders.indices {
        let contender = contenders[(index + round) % contenders.count]
        try measure(stage, on: contender, expected, &measurements)
      }
    }
    for contender in contenders {
      guard let contender = contender as? any AwaitingContender else { continue }
      for writers in [64, 1_000] where options.measures("durable, \(writers) awaiting writers") {
        try await measure(writers, contender, plan, &measurements)
      }
    }
    contenders.removeAll()
  }

  private func digest(of stage: Stage, on contender: any Contender) throws -> Digest {
    let read = try stage.body(contender)
    return try read ?? stage.check?(contender) ?? Digest()
  }

  private func measure(
    _ stage: Stage, on contender: any Contender, _ expected: Digest,
    _ measurements: inout Measurements
  ) throws {
    let (time, read) = try elapsed { try stage.body(contender) }
    let digest = try read ?? stage.check?(contender) ?? Digest()
    let name = type(of: contender).name
    measurements.add(time, operations: stage.operations, digest: digest, to: stage.name, of: name)
    measurements.expect(expected, of: stage.name)
  }

  /// Many writers waiting at once, compared with SQLite's singles of the same round.
  private func measure(
    _ writers: Int, _ contender: any AwaitingContender, _ plan: Plan,
    _ measurements: inout Measurements
  ) async throws {
    let first = sizes.items + sizes.singles + (writers == 64 ? 0 : sizes.awaited)
    let items = plan.items[first..<(first + sizes.awaited)]
    let (start, cpu) = (ContinuousClock.now, ProcessClock.now)
    try await contender.store(items, from: first, writers: writers)
    let time = Elapsed(seconds: seconds(since: start), cpu: Double(ProcessClock.now - cpu) * 1e-9)
    let digest = try contender.readItem(Array(items.indices))
    let stage = "durable, \(writers) awaiting writers; SQLite: singles"
    let name = type(of: contender).name
    measurements.add(time, operations: items.count, digest: digest, to: stage, of: name)
    measurements.expect(items.reduce(into: Digest()) { $0.add($1) }, of: stage)
    measurements.copyLast(of: Self.peer, from: "durable singles", to: stage)
  }
}

// MARK: Report

extension EngineSuite {
  /// The least ratio to SQLite, by the start of the stage's name.
  private static let bars: [(stage: String, ratio: Double)] = [
    ("bulk load", 1.0), ("durable singles", 0.4), ("durable, 64 ", 8), ("durable, 1000 ", 12),
    ("read one", 1.0), ("read all", 0.8), ("scan", 0.5), ("update", 0.9),
    ("delete", 1.0),
  ]

  private func report(_ measurements: Measurements, _ names: [String]) throws {
    print("Engine: \(sizes.items) items of seven properties, \(rounds) rounds; operations per")
    print("second, and the median of the rounds' ratios to SQLite.\n")
    let own = CambiumContender.name
    try measurements.report(
      names, own, to: Self.peer, title: "\(own) / \(Self.peer)", suite: "engine", options
    ) { name in
      Self.bars.first { name.hasPrefix($0.stage) }?.ratio
    }
  }
}
