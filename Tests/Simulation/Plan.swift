/// The script of one simulation: who is there, and what each of them will do.
struct Plan: Sendable {
  /// Writes one after the other.
  struct Writer: Sendable {
    /// The numbers of its writes; each is of one write only.
    let writes: [Int]
    let isSynchronous: Bool
    /// The number of times that it lets others run between two writes.
    let pause: Int
  }

  let seed: UInt64
  let writers: [Writer]
  /// Async writes that are cancelled, each after a number of steps.
  let cancelled: [(number: Int, after: Int)]
  /// The number of readers.
  let readerCount: Int
  /// The slowness of each observer, in steps.
  let observers: [Int]
  /// The number of steps after which an observer is cancelled, each time, before it resumes.
  let restarts: [Int]
  /// The number of steps after which the state is rebuilt.
  let rebuild: Int?
  /// The number of steps after which the database is closed while others use it.
  let close: Int?
  /// The number of bytes of the log after which a checkpoint is made.
  let checkpointGrowth: Int?
  /// The writes that throw.
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
