import Cambium
import LMDB
import Simulation

/// Where the backups of a database are, and what is restored from them: beside it, so that the
/// recorder sees them as well.
struct BackupPlaces: Sendable {
  let folder: String

  init(_ database: String) { folder = Files.parent(of: database) }

  var directory: String { "\(folder)/test.backup" }
  var file: String { "\(folder)/one.backup" }
  func restored(_ number: UInt64) -> String { "\(folder)/restored-\(number).cambium" }
  /// The database that the checker restores.
  var copy: String { "\(folder)/copy.cambium" }
}

/// Checks the backups that a crash has left beside a database: what is there is whole, what was
/// acknowledged is there, each moment restores to what the script says, and the next run continues
/// it.
struct BackupChecker {
  private let checker: Checker
  private let places: BackupPlaces
  private let marks: Marks

  init(_ checker: Checker, _ path: String, _ marks: Marks) {
    self.checker = checker
    places = BackupPlaces(path)
    self.marks = marks
  }

  /// The stretches of transactions that a backup holds, which must be sound.
  static func stretches(of path: String) throws -> [ClosedRange<UInt64>] {
    let backup = try Database.checkBackup(path)
    try demand(backup.isSound, "the backup is damaged: \(backup.damage)")
    return backup.moments.map { $0.lowerBound.rawValue...$0.upperBound.rawValue }
  }

  /// Checks what is there before anybody opens the database.
  func checkLeft() throws {
    try checkDirectory()
    try checkFile()
    try checkRestored()
  }

  /// Backs up once more, and restores a moment.
  func goOn(_ database: Database) throws {
    let addition = try database.backUp(to: places.directory)
    let head = try database.head.rawValue
    try demand(addition.newest.rawValue == head, "the backup goes to \(addition.newest) of \(head)")
    let stretches = try BackupChecker.stretches(of: places.directory)
    try demandAcknowledged(stretches)
    try demand(stretches.last?.upperBound == head, "after a run to \(head) it holds \(stretches)")
    try demandSwept(parts: addition.parts)
    var random = SeededGenerator(seed: head, 31)
    let stretch = random.pick(stretches)
    let count = Int(stretch.upperBound - stretch.lowerBound) + 1
    try restore(random.oneIn(2) ? head : stretch.lowerBound + UInt64(random.below(count)))
  }

  /// A run removes what those before have left that were broken off.
  private func demandSwept(parts: Int) throws {
    let names = try Files.names(in: places.directory)
    let expected = ["manifest"] + (1...parts).map { "part-\($0)" }
    try demand(names == expected.sorted(), "in the backup there is \(names)")
    let beside = Files.names(in: places.folder, startingWith: "test.backup.")
    try demand(beside.isEmpty, "beside the backup there is \(beside)")
  }

  // MARK: Backups

  private func checkDirectory() throws {
    guard System.exists(places.directory) else {
      return try demand(marks.backedUp.isEmpty, "the backup of \(marks.backedUp) is not there")
    }
    try demandAcknowledged(try BackupChecker.stretches(of: places.directory))
  }

  private func demandAcknowledged(_ stretches: [ClosedRange<UInt64>]) throws {
    for range in marks.backedUp {
      try demand(
        stretches.contains { $0.contains(range.lowerBound) && $0.contains(range.upperBound) },
        "\(marks.backedUp) was backed up, and the backup holds \(stretches)")
    }
  }

  private func checkFile() throws {
    guard System.exists(places.file) else {
      return try demand(marks.inOneFile == nil, "the backup in one file is not there")
    }
    let newest = try BackupChecker.stretches(of: places.file).last?.upperBound
    try demand(
      newest == marks.inOneFile ?? newest,
      "one file holds up to \(newest ?? 0), not \(marks.inOneFile ?? 0)")
  }

  // MARK: Restoring

  /// Databases whose restoring was acknowledged are there; the last one, as a whole or not at all.
  /// The others were the last at earlier moments.
  private func checkRestored() throws {
    for number in marks.restored.sorted() {
      try demand(System.exists(places.restored(number)), "database \(number) is not there")
    }
    guard let (number, sequence) = marks.restorations.max(by: { $0.key < $1.key }) else { return }
    let path = places.restored(number)
    if System.exists(path) { try checkWhole(path, sequence, verifies: true) }
  }

  private func restore(_ sequence: UInt64) throws {
    defer { System.remove(places.copy) }
    System.remove(places.copy)
    try Database.restore(
      places.directory, to: places.copy, upTo: .sequence(SequenceNumber(sequence)))
    // Its state was folded from its log just now, so verifying would do that again.
    try checkWhole(places.copy, sequence, verifies: false)
  }

  private func checkWhole(_ path: String, _ sequence: UInt64, verifies: Bool) throws {
    var checker = checker
    checker.verifies = verifies
    checker.backsUp = false
    checker.mayRebuild = true
    checker.hasPositions = false
    do { try checker.check(path, Marks(restoredTo: sequence)) } catch {
      throw Violation("restored to \(sequence): \(error)")
    }
  }
}
