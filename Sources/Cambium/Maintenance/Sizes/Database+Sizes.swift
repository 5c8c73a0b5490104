// Measuring the files of a database: the state and the log by their content, the others by their
// pages.

import FoundationEssentials
import LMDB

extension Database {
  /// Reports where the database's bytes are: all bytes of all files, grouped by the given criteria.
  ///
  ///     let sizes = try database.sizes(by: [.collection, .property])
  ///
  /// Nodes are walked from the root down, the log's records and segments are read, and the rest of
  /// their pages is reported as room, so that each file is accounted for to its last byte. Log and
  /// state are each read at one moment, whose pages are kept meanwhile: the files grow under
  /// writers.
  ///
  /// - Parameters:
  ///   - criteria: The criteria by which bytes are grouped; with several, by all of them together.
  ///   - depth: The number of keys of a path that name a collection.
  ///   - groupsMax: The number of groups named by a collection or a property that are reported;
  ///     smaller ones beyond that are put together. Where there are more than 16,384, one that
  ///     grows late can be reported as smaller than it is.
  ///   - now: The moment from which ages are counted.
  ///   - progress: Called now and then, on this thread; false cancels.
  /// - Returns: The groups.
  /// - Throws: ``DatabaseError/corrupt(reason:)``, ``DatabaseError/closed(reason:)``,
  ///   ``DatabaseError/busy(reason:)``, `CancellationError`.
  /// - Complexity: for tables and environments a few pages of each file; else it reads the log, the
  ///   state and its history, about 1 µs for each node, version and operation. Memory: the groups,
  ///   the depth of the tree, one record and one segment.
  public func sizes(
    by criteria: [Sizes.Criterion], depth: Int = 1, groupsMax: Int = 1000, now: Date = Date(),
    progress: ProgressHandler? = nil
  ) throws -> Sizes {
    try translating {
      var measuring = Measuring(
        directory: directory, depth: max(depth, 1), progress: ProgressReporter(progress),
        tally: SizeTally(by: criteria, groupsMax: max(groupsMax, 1)))
      return Sizes(criteria: criteria, groups: try measuring.run(now: now))
    }
  }
}

/// Measures the files of a database, one after the other.
private struct Measuring {
  let directory: OpenDirectory
  let depth: Int
  let progress: ProgressReporter
  private(set) var tally: SizeTally

  mutating func run(now: Date) throws -> [Sizes.Group] {
    let state = try directory.currentState()
    let name = Files.name(of: state.environment.path)
    let catalog = try state.environment.pinned(reading: true) { access, walker in
      let reader = StateReader(access: access, tables: state.tables)
      let ages = try directory.log.read { try AgeScale($0, now: now) }
      try measure(reader, ages, name, try PageUsage(walker))
      var catalog = Catalog()
      try reader.complete(&catalog, to: reader.head())
      return catalog
    }
    try directory.log.measure { log, usage in
      try measure(log, try AgeScale(log, now: now), usage)
    }
    try measureOthers(except: ["log", name])
    return tally.groups(catalog)
  }

  private mutating func measure(
    _ reader: StateReader, _ ages: AgeScale, _ name: String, _ usage: PageUsage
  ) throws {
    let places = tally.places(name, StateSizes.parts)
    if tally.needsContent {
      var sizes = StateSizes(
        reader: reader, ages: ages, places: places, depth: depth, progress: progress, tally: tally)
      try sizes.run()
      tally = sizes.tally
    }
    addPages(usage, places.all, in: name)
  }

  private mutating func measure(
    _ log: LogReader, _ ages: AgeScale, _ usage: PageUsage
  ) throws {
    let places = tally.places("log", LogSizes.parts)
    if tally.needsContent {
      var sizes = LogSizes(
        log: log, ages: ages, places: places, depth: depth, progress: progress, tally: tally)
      try sizes.run()
      tally = sizes.tally
    }
    addPages(usage, places.all, in: "log")
    tally.addSpace(of: Files.size(of: Tail.path(in: directory.log.path)), at: places["tail"])
  }

  /// Adds what a file has besides the content of its tables.
  private mutating func addPages(
    _ usage: PageUsage, _ places: [String: Int], in name: String
  ) {
    for table in usage.tables {
      let place = places[table.name] ?? tally.place(name, "\(name)/\(table.name)", .other)
      tally.addSpace(of: table.bytes, at: place)
    }
    addRest(usage, in: name)
  }

  private mutating func addRest(_ usage: PageUsage, in name: String) {
    tally.add(usage.structureBytes, .structure, in: name)
    let size = Files.size(of: "\(directory.path)/\(name)/data.mdb")
    tally.add(size - min(size, usage.usedBytes), .free, in: name)
  }

  // MARK: Files that are at rest

  private mutating func measureOthers(except open: Set<String>) throws {
    for name in try Files.names(in: directory.path) {
      let path = "\(directory.path)/\(name)"
      guard Files.isDirectory(path) else {
        tally.add(Files.size(of: path), .files, in: nil)
        continue
      }
      let isKnown = open.contains(name)
      let isCopy = try !isKnown && measureCopy(name)
      let measured = isKnown ? ["data.mdb", "tail"] : isCopy ? ["data.mdb"] : []
      for file in (try? Files.names(in: path)) ?? [] where !measured.contains(file) {
        let use: Sizes.Use = name.hasPrefix(UploadPart.prefix) ? .uploads : .files
        tally.add(Files.size(of: "\(path)/\(file)"), use, in: nil)
      }
    }
  }

  /// Adds a copy of the state, by its tables.
  ///
  /// - Returns: True if the directory holds such a copy.
  private mutating func measureCopy(_ name: String) throws -> Bool {
    let isCopy = ["state-", "baseline-", "checkpoint-"].contains { name.hasPrefix($0) }
    let file = "\(directory.path)/\(name)/data.mdb"
    guard isCopy, !name.hasSuffix(".tmp"), Files.exists(file) else { return false }
    guard let usage = try Measuring.usage(of: file) else { return true }
    for table in usage.tables {
      let place = tally.place(name, "\(name)/\(table.name)", .other)
      tally.add(Int(clamping: table.bytes), SizeLabel(.copies), at: place)
    }
    addRest(usage, in: name)
    return true
  }

  /// The page usage of a file at rest; nil where another file has just taken its place.
  private static func usage(of file: String) throws -> PageUsage? {
    do {
      return try PageUsage(of: file)
    } catch {
      if Files.exists(file) { throw error }
      return nil
    }
  }
}
