import Cambium
import Simulation

/// The size of a trial's database, and the sizes of the steps in which the engine works on it; all
/// follow from the seed.
///
/// Long keys make trees deep, since few of them fit on a page, and small limits lead where only
/// large databases come otherwise: further segments, records in parts, a map that grows, recoveries
/// and groups of many steps.
struct Sizes: Sendable {
  /// The nodes that the first transaction makes, around which all others happen.
  private(set) var ballast = Ballast()
  /// The nodes that each large transaction sets.
  private(set) var bulkCount = 150
  /// The options that workloads open with.
  private(set) var options = Database.Options.roomy

  /// The usual sizes.
  static let usual = Sizes()

  private init() {}

  /// Draws sizes. Of three workloads, and of three seeds, one has a small database, one a wide one,
  /// and one a deep one.
  ///
  /// - Parameters:
  ///   - workload: The workload, each of which has sizes of its own.
  ///   - seed: The seed that decides.
  ///   - isTight: True to leave out the usual limits: a planted bug that shows at small ones is to
  ///     be found whatever the seed.
  init(_ workload: Workload, seed: UInt64, isTight: Bool = false) {
    let index = Workload.allCases.firstIndex(of: workload) ?? 0
    var random = SeededGenerator(seed: seed, 43 + UInt64(index))
    switch (UInt64(index) &+ seed) % 3 {
    case 0: break
    case 1: ballast = Ballast(count: 100 + random.below(100), keyCount: 8, textCount: 60)
    default:
      ballast = Ballast(
        count: 60 + random.below(50), keyCount: 150 + random.below(100), textCount: 220)
    }
    // Now and then the state has more than three levels.
    if workload == .large, seed % 5 == 2 {
      ballast = Ballast(count: 450, keyCount: 250, textCount: 220)
    }
    bulkCount = 60 + random.below(240)
    drawLimits(isTight, &random)
    drawIntervals(workload, &random)
    // The usual size once, and none. A planted bug is looked for with several seeds, of which every
    // second one has none.
    var own = SeededGenerator(seed: seed, 83 + UInt64(index))
    options.stepSizes.deferredBytes =
      isTight ? (seed % 2 == 0 ? 0 : 600) : [0, 300, 5000, 2 << 20][own.below(4)]
    drawTail(isTight ? seed : nil, &own)
    if workload == .soon { drawDurability(&own) }
    // All records of the tail but the shortest are compressed ahead, most of them, or next to none.
    options.stepSizes.tail.longBytesMin = isTight ? 256 : 1 << (6 + 4 * own.below(3))
  }

  /// Flushes come in the background as well, or only when they are asked for.
  private mutating func drawDurability(_ random: inout SeededGenerator) {
    let limit = Duration.milliseconds(random.oneIn(2) ? 1 + random.below(20) : 3_600_000)
    options.durability = .soon(within: limit)
  }

  /// Draws the log's tail: none, one that is full soon, or one that holds all that there is. A
  /// planted bug meets none by turns, and one that is there from the first small commit on.
  private mutating func drawTail(_ tightSeed: UInt64?, _ random: inout SeededGenerator) {
    let drawn = [0, 2 << 10, 8 << 10, 64 << 10][random.below(4)]
    options.stepSizes.tail.bytes = tightSeed.map { $0 / 2 % 2 == 0 ? 0 : 64 << 10 } ?? drawn
    options.stepSizes.tail.commitsBefore = tightSeed == nil ? random.below(3) : 0
    options.stepSizes.tail.bytesMax = options.stepSizes.tail.bytes << (2 * random.below(3))
  }

  /// Each limit is the usual one now and then.
  private mutating func drawLimits(_ isTight: Bool, _ random: inout SeededGenerator) {
    func power(_ range: ClosedRange<Int>) -> Int? {
      let bits = range.lowerBound + random.below(range.count)
      return random.oneIn(4) && !isTight ? nil : 1 << bits
    }
    if let bytes = power(isTight ? 16...17 : 16...22) { options.mapSize = bytes }
    if let bytes = power(isTight ? 12...13 : 12...18) { options.stepSizes.groupRoom = bytes }
    if let bytes = power(isTight ? 8...9 : 8...14) { options.stepSizes.segmentBytes = bytes }
    if let bytes = power(8...12) { options.stepSizes.records.partBytes = bytes }
    if let bytes = power(7...10) { options.stepSizes.records.compressedBytes = bytes }
    if let bytes = power(8...14) { options.stepSizes.replayBytes = bytes }
    if let bytes = power(12...18) { options.stepSizes.reserveBytes = bytes }
    if let count = power(0...3) { options.stepSizes.groupCount = count }
  }

  private mutating func drawIntervals(_ workload: Workload, _ random: inout SeededGenerator) {
    options.stepSizes.checkpointDivisor = .max
    let growth = random.oneIn(3) ? 1 << (13 + random.below(4)) : nil
    options.checkpointGrowth = workload == .checkpoint ? 1 : growth
    options.compactionLook = (.milliseconds(1 << random.below(10)), 1 << (10 + random.below(10)))
    let pause = Duration.milliseconds(1 + random.below(20))
    options.scrubPause = random.oneIn(3) ? (pause, pause) : nil
    options.busyTimeout = .seconds(20)
    options.buildsIndexesLater = workload == .migrate
  }
}

/// Nodes that make a database large, in a collection whose indexes and views have entries of them.
struct Ballast: Sendable {
  var count = 0
  /// The bytes of each key, and of the text that is indexed.
  var keyCount = 0
  var textCount = 0

  /// The collection.
  static let path: NodePath = "bulk"

  /// True if a node is one of these.
  static func holds(_ path: NodePath) -> Bool {
    guard path.keys.count == 2, path.isWithin(Ballast.path), case .text = path.keys[1] else {
      return false
    }
    return true
  }

  /// The steps that make them, in an order that is not that of their keys.
  var steps: [Step] {
    (0..<count).map { index in
      let number = (index &* 7919) % 10_007
      let path = Ballast.path.appending(.text(Ballast.text(number, keyCount)))
      let text = Value.string(Ballast.text(number &* 31 % 10_007, textCount))
      return .set(path, ["p": text, "q": .string("word\(number % 50)"), "r": .integer(1)])
    }
  }

  /// A text of so many bytes that differs from others early and late.
  private static func text(_ number: Int, _ count: Int) -> String {
    let digits = String(number + 100_000)
    return digits + String(repeating: "k", count: max(0, count - 12)) + digits
  }
}
