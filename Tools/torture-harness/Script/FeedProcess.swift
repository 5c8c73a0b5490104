import Cambium
import FoundationEssentials
import Simulation

/// An observer or a consumer in a process of its own, which notes the transactions that it is
/// given.
struct FeedProcess {
  /// The kind of the follower.
  enum Kind: String, CaseIterable {
    /// Continues after the last transaction that it has noted.
    case observer
    /// Continues after its stored position, and writes now and then, which stores it.
    case consumer

    var command: String { self == .observer ? "observe" : "consume" }
  }

  let work: WorkloadRun
  /// The file of the marks; notes go beside it.
  let marks: String
  /// After how many transactions it is killed.
  let count: Int?
  /// The last transaction of all.
  let end: UInt64?

  private static let name = "follower"

  /// The writing run of the feed trial: enough for all of its processes.
  static func work(_ setting: Setting, at path: String, marks: String) throws -> WorkloadRun {
    WorkloadRun(
      workload: .single, script: Script(seed: setting.seed, .small, count: 80), path: path,
      marks: try MarkWriter(marks), options: setting.sizes.options)
  }

  /// Follows until the end, which must come before it is too late.
  func run(_ kind: Kind) async throws {
    System.limit(seconds: 20)
    switch kind {
    case .observer: try await observe()
    case .consumer: try await consume()
    }
  }

  private func observe() async throws {
    let notes = FeedNotes.file(.observer, marks)
    let position = try FeedNotes(notes).told
    let writer = try MarkWriter(notes)
    let database = try work.open()
    try await follow(database, after: position, writer) { _, _ in }
    try await database.close()
  }

  private func consume() async throws {
    let writer = try MarkWriter(FeedNotes.file(.consumer, marks))
    let database = try work.open()
    let consumer = database.consumer(FeedProcess.name)
    try await follow(database, after: try consumer.position().rawValue, writer) { number, told in
      try consumer.advance(to: SequenceNumber(number))
      guard end == nil, told.isMultiple(of: 5) else { return }
      try work.write(database)
      writer.write("K \(number)")
    }
    try await database.close()
    if let end { writer.write("K \(end)") }
  }

  private func follow(
    _ database: Database, after position: UInt64, _ writer: MarkWriter,
    _ handle: (_ number: UInt64, _ told: Int) throws -> Void
  ) async throws {
    writer.write("B \(position)")
    var told = 0
    _ = try await database.follow(after: SequenceNumber(position)) { commit in
      let number = commit.sequence.rawValue
      writer.write("T \(number)")
      told += 1
      if told == count { System.die() }
      try handle(number, told)
      return number != end
    }
  }
}

/// The notes of a follower in all its lives: lines of a file that outlives it.
///
///     B n     it begins after transaction n
///     T n     it was given transaction n
///     K n     that it had taken care of n is stored
struct FeedNotes {
  private(set) var told: UInt64 = 0
  private var began: UInt64 = 0
  private var kept: UInt64 = 0
  private var previous: UInt64 = 0

  /// Where a follower makes its notes: beside the marks, where it is not killed for writing them.
  static func file(_ kind: FeedProcess.Kind, _ marks: String) -> String { "\(marks)-\(kind)" }

  /// Reads a file of notes, and checks that they have no gap, no step back, and nothing twice but
  /// what was not stored.
  init(_ file: String) throws {
    for line in String(decoding: System.read(file), as: UTF8.self).split(separator: "\n") {
      guard let number = UInt64(line.dropFirst(2)) else { continue }
      switch line.first {
      case "B": try begin(number)
      case "T":
        try demand(number == previous + 1, "P5: \(file) was told of \(number) after \(previous)")
        previous = number
        told = max(told, number)
      default: kept = number
      }
    }
  }

  private mutating func begin(_ number: UInt64) throws {
    try demand(number <= told, "P5: a gap: told up to \(told), a follower begins after \(number)")
    try demand(
      number >= max(began, kept),
      "P5: a step back: \(kept) was stored, \(began) begun at, a follower begins after \(number)")
    (began, previous) = (number, number)
  }
}
