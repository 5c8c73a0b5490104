/// The script of one simulation: who is there, and what each of them will do.
struct Plan: Sendable {
  /// Writes one after the other.
  struct Writer: Sendable {
    /// The numbers of its writes; each is of one write only.
    let writes: [Int]
    let isSynchronous: Bool
    /// How often it lets others go first, between two writes.
    let pause: Int
  }

  let seed: UInt64
  let writers: [Writer]
  /// Async writes that are cancelled after so many steps.
  let cancelled: [(number: Int, after: Int)]
  /// How many readers there are.
  let readerCount: Int
  /// How slow each observer is.
  let observers: [Int]
  /// After how many steps an observer is cancelled, each time, before it goes on.
  let restarts: [Int]
  /// After how many steps the state is rebuilt.
  let rebuild: Int?
  /// After how many steps the database is closed, under everyone's hands.
  let close: Int?
  /// After how many bytes of the log a checkpoint is made.
  let checkpointGrowth: Int?
  /// Which writes throw.
  private let failing: Set<Int>

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed ^ 0x5EED)
    self.seed = seed
    writers = (0..<(2 + random.below(4))).map { index in
      Writer(
        writes: (0..<(1 + random.below(3))).map { 10 * index + $0 },
        isSynchronous: random.oneIn(3), pause: random.below(4))
    }
    cancelled = (0..<random.below(3)).map { (number: 100 + $0, after: random.below(12)) }
    readerCount = 1 + random.below(2)
    observers = (0..<(1 + random.below(2))).map { _ in random.below(6) }
    restarts = (0..<random.below(4)).map { _ in random.below(10) }
    rebuild = random.oneIn(6) ? random.below(20) : nil
    close = random.oneIn(6) ? random.below(60) : nil
    checkpointGrowth = random.oneIn(8) ? 4096 : nil
    failing = Set(writers.flatMap(\.writes).filter { _ in random.oneIn(8) })
  }

  func fails(_ number: Int) -> Bool { failing.contains(number) }
}
