// The goal: what went wrong in etcd does not go wrong here.
//
// etcd keeps a list of the thirteen issues of consistency that its robustness tests look for. Each
// that this engine could have is a test here, named by its number. Revisions are sequence numbers
// here, watches are observers, and rebuilding the state corresponds to etcd's defragmentation.
//
// The tests about compaction are in EtcdCompactionTests.swift. #14571 needs authorization, which
// does not exist here.

import FoundationEssentials
import LMDB
import Synchronization
import Testing

@testable import Cambium

@Suite("etcd's issue", .timeLimit(.minutes(2)))
struct EtcdTests {
  private let place: Place

  init() throws { place = try Place() }

  private static func step(_ tx: borrowing Database.Transaction) throws -> SequenceNumber {
    try tx.increment("count", by: 1)
    try tx.set(NodePath(keys: ["n", .integer(Int64(tx.sequence.rawValue))]), to: 1)
    return tx.sequence
  }

  /// The newest transaction that anyone was acknowledged, kept where a kill does not reach it.
  private final class Acknowledged: Sendable {
    private let newest = Mutex<SequenceNumber>(0)
    private let file: WakeFile

    init(path: String) throws { file = try WakeFile(path: path) }

    func add(_ sequence: SequenceNumber) {
      newest.withLock { newest in
        newest = max(newest, sequence)
        file.write(newest.rawValue)
      }
    }
  }

  private func acknowledged() throws -> SequenceNumber {
    SequenceNumber(try WakeFile(path: place.beside("acknowledged")).read() ?? 0)
  }

  // MARK: Crashes

  @Test("#13766, a crash under high load: log and state agree, numbers go on", arguments: 1...4)
  func crashUnderLoad(round: Int) async throws {
    var last = SequenceNumber.zero
    for afterLog in [true, false] {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [
          path = place.path as String, file = place.beside("acknowledged") as String,
          afterLog = afterLog as Bool, count = 3 * round as Int
        ] in
        let database = try Database.openToDie(at: path, afterLog: afterLog, count: count)
        let acknowledged = try Acknowledged(path: file)
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<16 {
            group.addTask {
              while let sequence = try? await database.write({ try EtcdTests.step($0) }) {
                acknowledged.add(sequence)
              }
            }
          }
        }
      }
      let head = try place.use { database in
        let head = try database.head
        #expect(try database.read { try $0["count"].value } == .integer(Int64(head.rawValue)))
        try expectSound(database)
        return head
      }
      #expect(try head > last && head >= acknowledged())
      last = head
    }
  }

  @Test("#14370, a write lost on a crash: none is, and observers are told of each once")
  func lostWrite() async throws {
    try place.fill(1)
    let database = try place.open()
    async let seen = sequences(9, of: database.changes(after: 0))
    for round in 1...4 {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [
          path = place.path as String, file = place.beside("acknowledged") as String,
          afterLog = !round.isMultiple(of: 2) as Bool
        ] in
        let database = try Database.openToDie(at: path, afterLog: afterLog, count: 1)
        try Acknowledged(path: file).add(try database.commit { try EtcdTests.step($0) })
      }
      #expect(try acknowledged() == 0)
      // The write that died was durable, so it keeps its number.
      let next = try database.commit { try EtcdTests.step($0) }
      #expect(next == SequenceNumber(UInt64(1 + 2 * round)))
    }
    #expect(try await seen == numbers(1, 9))
    try expectSound(database)
    try await database.close()
  }

  @Test("#14685, a crash while the state is made anew: numbers and observers go on where they were")
  func crashInRebuild() async throws {
    try place.fill(5)
    let database = try place.open()
    async let seen = sequences(8, of: database.changes(after: 0))
    for round in 6...8 as ClosedRange<UInt64> {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = place.path as String] in
        try await Database(at: path).rebuild { _ in
          kill(getpid(), SIGKILL)
          return true
        }
      }
      #expect(try database.head == SequenceNumber(round - 1))
      #expect(try database.commit { try EtcdTests.step($0) } == SequenceNumber(round))
    }
    #expect(try await seen == numbers(1, 8))
    try expectSound(database)
    try await database.close()
    try place.expectSound()
  }

  // MARK: Order

  @Test("#15220, progress that is ahead of the stream: what is told can be read")
  func progress() async throws {
    try await withDatabase { database in
      let count = 16 * 20
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<3 {
          group.addTask {
            for try await commit in database.changes(after: 0) {
              let announced = database.directory.feed.applied
              #expect(try commit.sequence <= announced && announced <= database.head)
              #expect(try commit.changes.fetch().count == 2)
              if commit.sequence.rawValue == UInt64(count) { break }
            }
          }
        }
        for _ in 0..<16 {
          group.addTask {
            for _ in 0..<20 { try await database.write { _ = try EtcdTests.step($0) } }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("#15271, back in time when an observer comes back: it goes on after the last it has seen")
  func comingBack() async throws {
    let database = try place.open()
    async let other = #expect(processExitsWith: .success) { [path = place.path as String] in
      let database = try Database(at: path)
      for number in 1...60 {
        try database.commit { _ = try EtcdTests.step($0) }
        if number.isMultiple(of: 20) { try await database.rebuild() }
      }
      try await database.close()
    }
    var seen: [SequenceNumber] = []
    while seen.count < 60 {
      let count = min(60 - seen.count, 1 + seen.count % 7)
      seen += try await sequences(count, of: database.changes(after: seen.last ?? 0))
    }
    _ = await other
    #expect(seen == numbers(1, 60))
    #expect(try database.information().generation == 4)
    try expectSound(database)
    try await database.close()
  }

  @Test("#17247, an event told twice: a node changed often, in a group that starts over, is not")
  func duplicates() async throws {
    struct Refusal: Error {}
    try await withDatabase { database in
      let count = Counter()
      _ = try await database.writeTogether(24) { tx in
        for number in 0..<3 as Range<Int64> { try tx.set("n/1", to: .integer(number)) }
        _ = try EtcdTests.step(tx)
        do {
          try tx.attempt {
            try tx.set("n/1", to: "undone")
            throw Refusal()
          }
        } catch is Refusal {}
        try tx.set("n/1", to: .integer(Int64(tx.sequence.rawValue)))
        if count.next().isMultiple(of: 3) { throw Refusal() }
      }
      var commits = database.changes(after: 0).makeAsyncIterator()
      for sequence in numbers(1, 16) {
        let commit = try #require(try await commits.next())
        #expect(commit.sequence == sequence)
        let changes = try commit.changes.fetch().filter { $0.path == "n/1" }
        #expect(changes.map(\.new) == [.integer(Int64(sequence.rawValue))])
      }
      #expect(try database.head == 16)
    }
  }

  @Test("#17529, events lost to a slow observer: it is told of all, under rebuilds too")
  func slowObserver() async throws {
    try await withDatabase { database in
      async let seen = slowly(400, database.changes(after: 0))
      for number in 1...400 {
        try await database.write { _ = try EtcdTests.step($0) }
        if number.isMultiple(of: 150) { try await database.rebuild() }
      }
      #expect(try await seen == numbers(1, 400))
    }
  }

  private func slowly(_ count: Int, _ commits: Commits) async throws -> [SequenceNumber] {
    var found: [SequenceNumber] = []
    for try await commit in commits {
      let isPause = commit.sequence.rawValue.isMultiple(of: 40)
      if isPause { try await Task.sleep(for: .milliseconds(20)) }
      #expect(try commit.changes.fetch().count == 2)
      found.append(commit.sequence)
      if found.count == count { break }
    }
    return found
  }

  @Test("#20221, old events for a revision that is ahead: nothing comes before it is reached")
  func future() async throws {
    let database = try place.open()
    async let seen = sequences(2, of: database.changes(after: 8))
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      let database = try Database(at: path)
      for _ in 0..<5 { try database.commit { _ = try EtcdTests.step($0) } }
      try await database.rebuild()
      try await database.close()
    }
    for _ in 6...10 { try await database.write { _ = try EtcdTests.step($0) } }
    #expect(try await seen == [9, 10])
    try expectSound(database)
    try await database.close()
  }
}
