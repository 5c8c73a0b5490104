import Cambium

/// The measurements without a peer: rebuilding the state, opening a large database, iterating it in
/// constant memory.
struct CambiumFigures {
  private let options: Options
  private let workspace: Workspace

  init(_ options: Options, _ workspace: Workspace) {
    self.options = options
    self.workspace = workspace
  }

  func run() throws {
    var table = Table(["figure", "result", "bar", ""])
    try rebuild(&table)
    try openAndIterate(&table)
    print(table.text)
  }
}

// MARK: Rebuild

extension CambiumFigures {
  private func rebuild(_ table: inout Table) throws {
    let flights =
      try options.flights.map(Flights.init(csv:))
      ?? Flights(count: options.isSmoke ? 1_000 : Flights.rows)
    let path = try workspace.directory()
    defer { workspace.remove(path) }
    let database = try Database(at: path + "/flights.cambium")
    defer { try? database.close() }
    try load(flights.records, into: database)
    let before = try digest(of: database)
    var rates: [Double] = []
    for _ in 0..<(options.isSmoke ? 1 : 3) {
      let (seconds, _) = try timed { try database.rebuild() }
      rates.append(Double(flights.records.count) / seconds)
    }
    if try digest(of: database) != before {
      throw BenchmarkError("the rebuilt state differs from the one before")
    }
    let name = "rebuild, operations/s (\(flights.records.count) flights, \(flights.source))"
    add(name, rate(median(rates)), "≥ 300k", median(rates).map { $0 >= 300_000 }, to: &table)
  }

  private func load(_ records: [ValueMap], into database: Database) throws {
    let flights: NodePath = "flights"
    for first in stride(from: 0, to: records.count, by: 1_000) {
      try database.write { tx in
        for number in first..<min(first + 1_000, records.count) {
          try tx.set(flights.appending(.integer(Int64(number))), to: .map(records[number]))
        }
      }
    }
  }

  /// Every flight, in order.
  private func digest(of database: Database) throws -> Digest {
    var digest = Digest()
    try database.read { snapshot in
      try snapshot["flights"].children.forEach { node in
        guard case .map(let record)? = try node.value else { return }
        for member in record.members {
          digest.add(member.name)
          digest.add("\(member.value)")
        }
      }
    }
    return digest
  }
}

// MARK: A large database

extension CambiumFigures {
  private func openAndIterate(_ table: inout Table) throws {
    let nodes = options.isSmoke ? 1_000 : 1_000_000
    let directory = try workspace.directory()
    defer { workspace.remove(directory) }
    let path = directory + "/large.cambium"
    try fill(path, nodes: nodes)
    let times = try (0..<20).map { try openAndRead(path, key: $0 * (nodes / 20)) }
    let name = "open \(nodes) nodes and read one, µs"
    let best = times.min() ?? .infinity
    add(name + ", best of 20", digits(best), "≤ 1,000", best <= 1_000, to: &table)
    add(
      name + ", median of 20", median(times).map(digits) ?? "–", "≤ 1,000",
      median(times).map { $0 <= 1_000 }, to: &table)
    try iterate(path, directory, nodes: nodes, &table)
  }

  private func fill(_ path: String, nodes: Int) throws {
    let database = try Database(at: path)
    let items: NodePath = "items"
    for first in stride(from: 0, to: nodes, by: 10_000) {
      try database.write { tx in
        for key in first..<min(first + 10_000, nodes) {
          try tx.set(items.appending(.integer(Int64(key))), to: Item(key: key).value)
        }
      }
    }
    try database.close()
  }

  /// Microseconds from the closed database to a value.
  private func openAndRead(_ path: String, key: Int) throws -> Double {
    let start = ContinuousClock.now
    let database = try Database(at: path)
    let name = try database.read { try $0["items"].child(.integer(Int64(key)))["name"] }
    let seconds = seconds(since: start)
    try database.close()
    guard case .string(let name)? = name, name == Item(key: key).name else {
      throw BenchmarkError("the large database has a wrong item \(key)")
    }
    return seconds * 1e6
  }

  private func iterate(
    _ path: String, _ directory: String, nodes: Int, _ table: inout Table
  ) throws {
    let name = "iterate \(nodes) children"
    guard let probe = try IterationProbe.measure(path, in: directory) else {
      return add(name + ", memory added", "unknown here", "< 16 MB", nil, to: &table)
    }
    let expected = (0..<nodes).reduce(Int64(0)) { $0 + Item(key: $1).score }
    if probe.sum != expected {
      throw BenchmarkError("iterating gave \(probe.sum), not \(expected)")
    }
    let own = Double(probe.anonymous) / 1e6
    add(name + ", own memory added, MB", digits(own), "< 16", own < 16, to: &table)
    let mapped = digits(Double(probe.file) / 1e6)
    add("… pages of the file it mapped (the kernel's), MB", mapped, "–", nil, to: &table)
  }

  private func add(
    _ name: String, _ result: String, _ bar: String, _ passes: Bool?, to table: inout Table
  ) {
    table.add([name, result, bar, passes.map { $0 ? "pass" : "**miss**" } ?? "–"])
  }
}
