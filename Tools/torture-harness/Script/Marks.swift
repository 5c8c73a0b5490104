/// The marks that a workload makes as it goes: lines of a file that the recorder keeps in order
/// with its durable calls, and that outlives the process.
///
///     C       the database is there: opening returned
///     S       a transaction is handed to `write`
///     A n     transaction n was acknowledged: `write` returned, or `sync` where that is later
///     W n     transaction n was written, and is to be on the disk soon
///     F       a write failed, and said that nothing was stored
///     B a b … the backup holds transactions a to b, and further stretches: a run of it returned
///     L n     the backup in one file, up to transaction n, is there
///     T k n   transaction n is to be restored, into database k
///     R k     it is restored
///     K n     a consumer's position, n, is to be stored with the next commit
///     P n     the tag of transaction n is to be made, and G n: it is made
///     U n     that tag is to be removed, and V n: it is removed
struct Marks: Hashable, Sendable {
  private(set) var isCreated = false
  private(set) var submitted: UInt64 = 0
  private(set) var acknowledged: UInt64 = 0
  /// The newest transaction that the end of a process must leave, and a loss of power need not.
  private(set) var written: UInt64 = 0
  private var failed: UInt64 = 0
  /// The stretches that the backup holds for sure.
  private(set) var backedUp: [ClosedRange<UInt64>] = []
  /// The newest transaction of the backup in one file, once that is there.
  private(set) var inOneFile: UInt64?
  /// By the number of the restored database: the transaction that it is, or will be, of.
  private(set) var restorations: [UInt64: UInt64] = [:]
  /// The numbers of those that are there.
  private(set) var restored: Set<UInt64> = []

  /// The tags, by the numbers of their transactions.
  private(set) var tags = TagMarks()
  /// The kept position of a consumer: that which is stored for sure, and the newest of all.
  private(set) var position = KeptPosition()
  /// The position that is to be stored with the next commit.
  private var positionDue: UInt64?

  /// The most transactions that there may be.
  var most: UInt64 { submitted - min(failed, submitted) }

  init() {}

  /// Takes in that an erasure was made besides.
  mutating func take(erasure: UInt64) {
    submitted = max(submitted + 1, erasure + failed)
    acknowledged = erasure
    isCreated = true
  }

  /// The marks of a database that was restored.
  init(restoredTo sequence: UInt64) {
    isCreated = true
    (submitted, acknowledged) = (sequence, sequence)
  }

  /// Takes in complete lines.
  mutating func read(_ bytes: some Collection<UInt8>) {
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") { read(line) }
  }

  private mutating func read(_ line: Substring) {
    let numbers = line.split(separator: " ").dropFirst().map { UInt64($0) ?? 0 }
    switch line.first {
    case "C":
      isCreated = true
      // It was kept in the memory of a process that has ended.
      positionDue = nil
    case "S": submitted += 1
    case "F": failed += 1
    case "A":
      acknowledged = max(acknowledged, numbers[0])
      position.stored = positionDue ?? position.stored
    case "W": written = max(written, numbers[0])
    case "K":
      positionDue = numbers[0]
      position.newest = max(position.newest, numbers[0])
    case "P", "G", "U", "V": tags.read(line.prefix(1), numbers[0])
    case "B":
      backedUp = stride(from: 0, to: numbers.count, by: 2).map { numbers[$0]...numbers[$0 + 1] }
    case "L": inOneFile = numbers[0]
    case "T": restorations[numbers[0]] = numbers[1]
    case "R": restored.insert(numbers[0])
    default: break
    }
  }
}

/// The position of a consumer that is stored for sure, and the newest that may be.
struct KeptPosition: Hashable, Sendable {
  fileprivate(set) var stored: UInt64 = 0
  fileprivate(set) var newest: UInt64 = 0
}

/// The tags that there must be, and those that there may be, by the numbers of their transactions.
struct TagMarks: Hashable, Sendable {
  private(set) var sure: Set<UInt64> = []
  private(set) var possible: Set<UInt64> = []

  /// The name of a transaction's tag.
  static func name(_ number: UInt64) -> String { "moment-\(number)" }

  mutating func read(_ mark: Substring, _ number: UInt64) {
    switch mark {
    case "P": possible.insert(number)
    case "G": sure.insert(number)
    case "U": sure.remove(number)
    default: possible.remove(number)
    }
  }
}

/// Writes marks, and the notes of a follower.
struct MarkWriter: Sendable {
  private let descriptor: Int32

  init(_ path: String) throws { descriptor = try System.open(path, isAppended: true) }

  func created() { write("C") }
  func submitted() { write("S") }
  func acknowledged(_ sequence: UInt64) { write("A \(sequence)") }
  func written(_ sequence: UInt64) { write("W \(sequence)") }
  func failed() { write("F") }
  func backedUp(_ stretches: [ClosedRange<UInt64>]) {
    write("B " + stretches.map { "\($0.lowerBound) \($0.upperBound)" }.joined(separator: " "))
  }
  func inOneFile(_ newest: UInt64) { write("L \(newest)") }
  func restoring(_ number: UInt64, _ sequence: UInt64) { write("T \(number) \(sequence)") }
  func restored(_ number: UInt64) { write("R \(number)") }
  func kept(_ sequence: UInt64) { write("K \(sequence)") }
  func tagging(_ sequence: UInt64) { write("P \(sequence)") }
  func tagged(_ sequence: UInt64) { write("G \(sequence)") }
  func untagging(_ sequence: UInt64) { write("U \(sequence)") }
  func untagged(_ sequence: UInt64) { write("V \(sequence)") }

  func write(_ line: String) { System.write("\(line)\n", to: descriptor) }
}
