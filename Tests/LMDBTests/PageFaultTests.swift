import LMDB
import Testing

/// Goal: no damage crashes or hangs the walker, and what it passes LMDB survives.
/// Method: sound files with one random fault (or many), from a seed. Where the walker finds
/// nothing,
/// LMDB itself reads every byte and then writes, in this process: if it died, so would the test.
@Suite("The page walker on damaged files")
struct PageFaultTests {
  /// A sound file, and an older state of it for stale pages.
  struct Specimen {
    let image: [UInt8]
    let older: [UInt8]
    var pages: Int { image.count / 4096 }

    init(seed: Int) throws {
      var random = SeededGenerator(seed: seed)
      let environment = try ScratchEnvironment()
      try environment.open()
      for _ in 0..<12 { try environment.changeAtRandom(&random, operations: 80) }
      older = try ScratchFile.contents(of: environment.file)
      for _ in 0..<4 { try environment.changeAtRandom(&random, operations: 40) }
      environment.close()
      image = try ScratchFile.contents(of: environment.file)
    }

    /// Where a page with a header of its own starts.
    func structured(_ random: inout SeededGenerator) -> Int {
      while true {
        let page = 2 + random.below(pages - 2)
        let number = Int(image[page * 4096]) | Int(image[page * 4096 + 1]) << 8
        if number == page { return page * 4096 }
      }
    }
  }

  enum Fault: CaseIterable, Sendable {
    case anyBit, headerBit, nodeBit, metaBit, zeroSector, swapPages, stalePage, filledPage, cut

    func apply(to image: inout [UInt8], _ specimen: Specimen, _ random: inout SeededGenerator) {
      let page = (2 + random.below(specimen.pages - 2)) * 4096
      let bit = UInt8(1) << UInt8(random.below(8))
      switch self {
      case .anyBit: image[random.below(image.count)] ^= bit
      case .headerBit: image[specimen.structured(&random) + random.below(16)] ^= bit
      case .nodeBit:
        let page = specimen.structured(&random)
        image[PageFaultTests.nodeByte(of: page, in: image, &random)] ^= bit
      case .metaBit: image[random.below(2) * 4096 + random.below(152)] ^= bit
      case .zeroSector: image.fill(random.below(image.count / 512) * 512, 512) { _ in 0 }
      case .swapPages:
        let other = (2 + random.below(specimen.pages - 2)) * 4096
        image.fill(page, 4096) { specimen.image[other + $0] }
        image.fill(other, 4096) { specimen.image[page + $0] }
      case .stalePage:
        guard page + 4096 <= specimen.older.count else { return }
        image.fill(page, 4096) { specimen.older[page + $0] }
      case .filledPage:
        let byte: UInt8 = random.chance(oneIn: 2) ? 0 : 0xFF
        image.fill(page, 4096) { _ in byte }
      case .cut: image.removeLast(random.below(image.count - 4096))
      }
    }
  }

  /// A byte of the offsets, or of a node's header, in the page that starts at `page`.
  static func nodeByte(of page: Int, in image: [UInt8], _ random: inout SeededGenerator) -> Int {
    let lower = min(Int(image[page + 12]) | Int(image[page + 13]) << 8, 4094)
    guard lower > 17 else { return page + random.below(4096) }
    let pointer = 16 + 2 * random.below((lower - 16) / 2)
    if random.chance(oneIn: 2) { return page + pointer + random.below(2) }
    let node = Int(image[page + pointer]) | Int(image[page + pointer + 1]) << 8
    return page + min(node + random.below(8), 4095)
  }

  /// The outcome of reading a file with one fault.
  enum Verdict { case refused, reported, passed }

  static func judge(_ image: [UInt8]) throws -> Verdict {
    let environment = try ScratchEnvironment(image: image)
    do {
      try FileCheck.check(environment.file)
    } catch {
      return .refused
    }
    let report = try PageWalker.walk(environment.file)
    if !report.isSound {
      #expect(report.findings.count == min(report.findingCount, PageWalker.findingsMax))
      return .reported
    }
    try useWithLMDB(environment, report)
    return .passed
  }

  /// Reads everything and changes much. LMDB asserts, so a wrong verdict ends the process here.
  static func useWithLMDB(_ environment: ScratchEnvironment, _ report: PageWalker.Report) throws {
    try environment.open()
    defer { environment.close() }
    for table in report.tables {
      let keys = try environment.read { try $0.scan($0.table(table.name, 0)) }
      #expect(keys.count == Int(table.entries))
      try environment.write { transaction in
        let index = try transaction.table(table.name, 0)
        for (number, key) in keys.enumerated() where !number.isMultiple(of: 3) {
          try transaction.remove(key, from: index)
        }
        for key in keys.prefix(100) { try transaction.put(key + [1], key, in: index) }
      }
    }
    let after = try PageWalker.walk(environment.file)
    #expect(after.isSound, "\(after.findings)")
  }

  @Test("reports a fault, or LMDB is safe with it", arguments: Seeds.first(12))
  func reportsSingleFaults(seed: Int) throws {
    var random = SeededGenerator(seed: 1_000 + seed)
    let specimen = try Specimen(seed: seed)
    #expect(try Self.judge(specimen.image) == .passed, "seed \(seed)")
    var verdicts: [Verdict: Int] = [:]
    for _ in 0..<5 {
      for fault in Fault.allCases {
        var image = specimen.image
        fault.apply(to: &image, specimen, &random)
        verdicts[try Self.judge(image), default: 0] += 1
      }
    }
    print("page faults, seed \(seed): \(verdicts.map { "\($0.value) \($0.key)" }.sorted())")
    #expect(verdicts.count == 3, "seed \(seed) has reached only \(verdicts)")
  }

  @Test("survives many faults at once", arguments: Seeds.first(8))
  func survivesManyFaults(seed: Int) throws {
    var random = SeededGenerator(seed: 2_000 + seed)
    let specimen = try Specimen(seed: seed)
    for _ in 0..<15 {
      var image = specimen.image
      for _ in 0..<(2 + random.below(60)) {
        let faults: [Fault] = [.headerBit, .nodeBit, .metaBit]
        faults[random.below(3)].apply(to: &image, specimen, &random)
      }
      let environment = try ScratchEnvironment(image: image)
      do {
        let report = try PageWalker.walk(environment.file)
        #expect(report.used + report.free <= report.pages, "seed \(seed)")
        #expect(report.isSound == report.findings.isEmpty, "seed \(seed)")
      } catch is FileDamage {}
    }
  }
}

extension [UInt8] {
  fileprivate mutating func fill(_ start: Int, _ count: Int, _ byte: (Int) -> UInt8) {
    for index in 0..<count where start + index < self.count { self[start + index] = byte(index) }
  }
}
