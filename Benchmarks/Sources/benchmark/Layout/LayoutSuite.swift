/// Compares history that is appended and linked with history by key, on raw LMDB without syncs.
///
/// Two databases per layout and round. In the first, *count* nodes take random updates. The second
/// holds nodes at three depths of history: *count* with 1 older version, *count* / 100 with 100,
/// and 20
/// with *count* / 10, updated side by side, so that the versions of a node lie far apart.
struct LayoutSuite {
  private let count: Int
  private let rounds: Int
  private let layouts: [HistoryLayout]
  private let workspace: Workspace

  init(_ options: Options, _ workspace: Workspace) throws {
    count = options.count ?? (options.isSmoke ? 1_000 : 100_000)
    rounds = options.rounds ?? (options.isSmoke ? 1 : 5)
    layouts = HistoryLayout.allCases.filter { options.selects($0.rawValue) }
    self.workspace = workspace
    if !count.isMultiple(of: 1_000) { throw BenchmarkError("--count must be a multiple of 1000") }
  }

  func run() throws {
    var rates = Measurements()
    var amounts = Measurements()
    for round in 0..<rounds {
      for index in layouts.indices {
        let layout = layouts[(index + round) % layouts.count]
        try withDirectory { try measureUpdates(layout, $0, &rates, &amounts) }
        try withDirectory { try measureMoments(layout, $0, &rates, &amounts) }
      }
    }
    try report(rates, amounts)
  }
}

// MARK: Updates of random nodes

extension LayoutSuite {
  private func withDirectory(_ body: (String) throws -> Void) throws {
    let path = try workspace.directory()
    defer { workspace.remove(path) }
    try body(path)
  }

  private func measureUpdates(
    _ layout: HistoryLayout, _ path: String, _ rates: inout Measurements,
    _ amounts: inout Measurements
  ) throws {
    let store = try HistoryStore(layout: layout, directory: path)
    let (loading, _) = try timed { try load(count, into: store) }
    rates.add(Double(count) / loading, to: "load, 1,000 per transaction", of: layout.rawValue)
    try add(sizes: "loaded", of: store, to: &amounts)
    var random = SeededGenerator(seed: 1)

    try measure(
      "update, 1,000 per transaction", 3 * count, perTransaction: 1_000, store, &random, &rates)
    try add(sizes: "after \(3 * count) updates", of: store, to: &amounts)
    try measure("update, 1 per transaction", count / 5, perTransaction: 1, store, &random, &rates)
  }

  private func measure(
    _ name: String, _ updates: Int, perTransaction: Int, _ store: HistoryStore,
    _ random: inout SeededGenerator, _ rates: inout Measurements
  ) throws {
    let (seconds, _) = try timed {
      for _ in 0..<(updates / perTransaction) {
        try store.write {
          for _ in 0..<perTransaction {
            try store.update(random.next(below: count), to: random.next())
          }
        }
      }
    }
    let digest = try sampled(store)
    rates.add(Double(updates) / seconds, digest: digest, to: name, of: store.layout.rawValue)
  }

  private func load(_ count: Int, into store: HistoryStore) throws {
    for first in stride(from: 0, to: count, by: 1_000) {
      try store.write {
        for number in first..<min(first + 1_000, count) { try store.append(number) }
      }
    }
  }

  /// Every node at present, and a sample of the past.
  private func sampled(_ store: HistoryStore) throws -> Digest {
    var digest = Digest()
    var random = SeededGenerator(seed: 2)
    try store.read {
      for number in 0..<count { try store.read(number, asOf: .max, into: &digest) }
      for _ in 0..<(count / 5) {
        let moment = UInt64(1 + random.next(below: Int(store.sequence)))
        try store.read(random.next(below: count), asOf: moment, into: &digest)
      }
    }
    return digest
  }

  private func add(
    sizes name: String, of store: HistoryStore, to amounts: inout Measurements
  ) throws {
    let (file, history) = try store.sizes()
    amounts.add(Double(file) / 1e6, to: "MB, \(name)", of: store.layout.rawValue)
    guard history > 0 else { return }
    amounts.add(Double(history) / 1e6, to: "MB of it history", of: store.layout.rawValue)
  }
}

// MARK: Reading the past

extension LayoutSuite {
  /// Nodes with the same number of older versions.
  private struct Depth {
    let versions: Int
    let nodes: [Int]

    var name: String {
      "\(nodes.count) nodes with \(versions) older version\(versions == 1 ? "" : "s")"
    }
  }

  /// Node numbers of the three depths, each spread over all numbers.
  private var depths: [Depth] {
    var random = SeededGenerator(seed: 3)
    let few = 20
    let some = count / 100
    let numbers = Array(0..<(count + some + few)).shuffled(using: &random)
    return [
      Depth(versions: 1, nodes: Array(numbers[..<count])),
      Depth(versions: 100, nodes: Array(numbers[count..<(count + some)])),
      Depth(versions: count / 10, nodes: Array(numbers[(count + some)...])),
    ]
  }

  private func measureMoments(
    _ layout: HistoryLayout, _ path: String, _ rates: inout Measurements,
    _ amounts: inout Measurements
  ) throws {
    let store = try HistoryStore(layout: layout, directory: path)
    let depths = depths
    try load(depths.reduce(0) { $0 + $1.nodes.count }, into: store)
    let (seconds, updates) = try timed { try deepen(depths, store) }
    let reads = Double(store.historyReads) / Double(updates)
    rates.add(
      Double(updates) / seconds, digest: try sampled(store),
      to: "update at all depths, 40 per transaction", of: layout.rawValue)
    amounts.add(reads, to: "history entries read per such update", of: layout.rawValue)
    try add(sizes: "after these \(updates) updates", of: store, to: &amounts)
    for depth in depths { try measure(depth, store, &rates, &amounts) }
  }

  /// Gives every node its older versions: in each transaction every node of the deepest group,
  /// and ten of each of the others.
  private func deepen(_ depths: [Depth], _ store: HistoryStore) throws -> Int {
    var random = SeededGenerator(seed: 4)
    let (once, often, always) = (depths[0].nodes, depths[1].nodes, depths[2])
    for step in 0..<always.versions {
      try store.write {
        for index in (step * 10)..<(step * 10 + 10) {
          try store.update(once[index], to: random.next())
          try store.update(often[index % often.count], to: random.next())
        }
        for number in always.nodes { try store.update(number, to: random.next()) }
      }
    }
    return always.versions * (20 + always.nodes.count)
  }

  private func measure(
    _ depth: Depth, _ store: HistoryStore, _ rates: inout Measurements,
    _ amounts: inout Measurements
  ) throws {
    let name = "read as of, \(depth.name)"
    let reads = 2 * count
    let first = UInt64((count + 999) / 1_000)
    var random = SeededGenerator(seed: 5)
    let queries = (0..<reads).map { _ in
      (
        depth.nodes[random.next(below: depth.nodes.count)],
        first + UInt64(random.next(below: Int(store.sequence - first)))
      )
    }
    _ = try read(queries.prefix(reads / 4), store)
    let before = store.historyReads
    let (seconds, digest) = try timed { try read(queries[...], store) }
    rates.add(Double(reads) / seconds, digest: digest, to: name, of: store.layout.rawValue)
    amounts.add(
      Double(store.historyReads - before) / Double(reads), to: "history entries per " + name,
      of: store.layout.rawValue)
  }

  private func read(_ queries: ArraySlice<(Int, UInt64)>, _ store: HistoryStore) throws -> Digest {
    var digest = Digest()
    try store.read {
      for (number, moment) in queries { try store.read(number, asOf: moment, into: &digest) }
    }
    return digest
  }
}

// MARK: Report

extension LayoutSuite {
  private func report(_ rates: Measurements, _ amounts: Measurements) throws {
    let names = layouts.map(\.rawValue)
    let peer = HistoryLayout.byKey.rawValue
    print("Layouts of history: \(count) nodes, \(rounds) rounds;")
    print("operations per second (ratio to \(peer)).\n")
    var table = Table(["operation"] + names + ["digest"])
    for row in rates.rows {
      let cells = names.map { name in
        let ratio = name == peer ? nil : row.ratio(of: name, to: peer)
        return rate(row.median(of: name)) + (ratio.map { " (\(times($0)))" } ?? "")
      }
      table.add([row.name] + cells + [row.verdict])
    }
    print(table.text + "\n")
    table = Table(["amount"] + names)
    for row in amounts.rows {
      table.add([row.name] + names.map { row.median(of: $0).map(digits) ?? "–" })
    }
    print(table.text)
    if let row = rates.rows.first(where: { !$0.agrees }) {
      throw BenchmarkError("the layouts read different records after \(row.name)")
    }
  }
}
