import LMDB
import Testing

/// Goal: the walker accepts whatever LMDB writes, and counts what LMDB counts.
/// Method: random transactions by LMDB itself, from a seed; a walk after each.
@Suite("The page walker on sound files")
struct PageWalkerTests {
  @Test("finds nothing, and counts what LMDB counts", arguments: Seeds.first(40))
  func findsNothing(seed: Int) throws {
    var random = SeededGenerator(seed: seed)
    let environment = try ScratchEnvironment()
    try environment.open()
    for step in 0..<20 {
      try environment.changeAtRandom(&random)
      try FileCheck.check(environment.file)
      let report = try PageWalker.walk(environment.file)
      #expect(report.findings.isEmpty, "seed \(seed), step \(step)")
      #expect(report.used + report.free == report.pages, "seed \(seed), step \(step)")
      try environment.read { transaction in
        for table in report.tables {
          let counts = try transaction.counts(
            of: transaction.table(table.name, 0), name: table.name)
          #expect(table == counts, "seed \(seed), step \(step)")
        }
        let main = try transaction.counts(of: transaction.table(nil, 0), name: report.main.name)
        #expect(report.main == main && main.entries == report.tables.count, "seed \(seed)")
      }
    }
  }

  @Test("reads the pinned snapshot while a writer goes on", arguments: Seeds.first(20))
  func readsPinnedSnapshots(seed: Int) throws {
    var random = SeededGenerator(seed: seed)
    let environment = try ScratchEnvironment()
    try environment.open()
    for _ in 0..<10 {
      for _ in 0..<3 { try environment.changeAtRandom(&random) }
      let pinned = try environment.beginReading()
      let descriptor = unsafe open(environment.file, O_RDONLY)
      defer { close(descriptor) }
      let walker = try PageWalker(descriptor: descriptor, transactionID: pinned)
      let before = try walker.walk()
      for _ in 0..<5 { try environment.changeAtRandom(&random) }
      let after = try walker.walk()
      #expect(before.isSound && after.isSound, "seed \(seed): \(before.findings) \(after.findings)")
      #expect(before.tables == after.tables && before.transactionID == pinned, "seed \(seed)")
    }
  }

  @Test("reads the transaction before the newest", arguments: Seeds.first(10))
  func readsThePreviousTransaction(seed: Int) throws {
    var random = SeededGenerator(seed: seed)
    let environment = try ScratchEnvironment()
    try environment.open()
    for _ in 0..<15 { try environment.changeAtRandom(&random) }
    let newest = try PageWalker.walk(environment.file)
    let previous = newest.transactionID - 1
    let report = try PageWalker.walk(environment.file, transactionID: previous)
    #expect(report.transactionID == previous && report.isSound, "seed \(seed): \(report.findings)")
    #expect(throws: FileDamage.transactionGone(previous - 1)) {
      try PageWalker.walk(environment.file, transactionID: previous - 1)
    }
  }

  @Test("accepts a compacted copy", arguments: Seeds.first(10))
  func acceptsCompactedCopies(seed: Int) throws {
    var random = SeededGenerator(seed: seed)
    let (environment, copy) = (try ScratchEnvironment(), try ScratchEnvironment())
    try environment.open()
    for _ in 0..<15 { try environment.changeAtRandom(&random) }
    try environment.copyCompacted(to: copy)
    try FileCheck.check(copy.file)
    let report = try PageWalker.walk(copy.file)
    #expect(report.isSound && report.free == 0, "seed \(seed): \(report.findings)")
    #expect(
      try report.tables.map(\.entries) == PageWalker.walk(environment.file).tables.map(\.entries))
  }

  @Test("accepts an environment without transactions")
  func acceptsFreshEnvironments() throws {
    let environment = try ScratchEnvironment()
    try environment.open()
    let report = try PageWalker.walk(environment.file)
    #expect(report.isSound && report.tables.isEmpty && report.pages == 2 && report.used == 2)
  }

  @Test("follows long free lists and trees of several levels")
  func followsLargeTrees() throws {
    let environment = try ScratchEnvironment()
    try environment.open()
    let keys = (0..<4_000).map { number in
      [UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 7, count: 400)
    }
    try environment.write { transaction in
      for key in keys { try transaction.put(key, [1], in: transaction.table("deep")) }
    }
    #expect(try PageWalker.walk(environment.file).tables[0].depth >= 4)
    try environment.write { transaction in
      for key in keys.dropFirst(10) { try transaction.remove(key, from: transaction.table("deep")) }
    }
    let report = try PageWalker.walk(environment.file)
    #expect(report.isSound && report.freeList.overflowPages >= 1, "\(report.findings)")
    #expect(report.free > 500 && report.tables.map(\.entries) == [10])
  }

  @Test("follows a free list of several levels")
  func followsLargeFreeLists() throws {
    let environment = try ScratchEnvironment()
    try environment.open()
    try environment.write { _ = try $0.table("t") }
    try environment.beginReading()
    for number in 0..<400 {
      try environment.write { try $0.put([UInt8(number % 7)], [1], in: $0.table("t")) }
    }
    let held = try PageWalker.walk(environment.file)
    #expect(held.isSound && held.freeList.branchPages >= 1 && held.freeList.entries >= 390)
    environment.endReading()
    let large = [UInt8](repeating: 2, count: 100_000)
    for number in 0..<20 as Range<UInt8> {
      try environment.write { try $0.put([number], large, in: $0.table("t")) }
      let report = try PageWalker.walk(environment.file)
      #expect(report.isSound, "\(report.findings)")
    }
    let after = try PageWalker.walk(environment.file)
    #expect(after.freeList.entries < held.freeList.entries && after.free < held.free, "\(after)")
  }

  @Test("tells its progress, and stops when told to")
  func tellsProgress() throws {
    var random = SeededGenerator(seed: 1)
    let environment = try ScratchEnvironment()
    try environment.open()
    for _ in 0..<20 { try environment.changeAtRandom(&random, operations: 300) }
    var told: [UInt64] = []
    let report = try PageWalker.walk(environment.file) { done, total in
      told.append(done)
      return total == done || told.count > 0
    }
    #expect(told == told.sorted() && told.last == report.pages && told.count >= 3)
    #expect(throws: CancellationError.self) {
      try PageWalker.walk(environment.file) { done, _ in done < 256 }
    }
  }

  @Test("names a table whose kind is not supported")
  func namesUnsupportedTables() throws {
    let environment = try ScratchEnvironment()
    try environment.open()
    try environment.write { transaction in
      _ = try transaction.table("plain")
      let table = try transaction.table("sorted duplicates", ScratchTransaction.duplicates)
      for value in 0..<200 as Range<UInt8> { try transaction.put([1], [value], in: table) }
    }
    let report = try PageWalker.walk(environment.file)
    #expect(report.findings.count == 1 && report.tables.map(\.name) == ["plain"])
    #expect(report.findings.first?.reason.contains("sorted duplicates") == true)
    #expect(report.findings.first?.reason.contains("support") == true)
  }
}
