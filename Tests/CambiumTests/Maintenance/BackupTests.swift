// Goal: a backup holds every transaction up to one moment, keeps what it once had, and gives it
// back exactly; a run that is broken off leaves it as it was; damage is found.
// Method: random histories, backed up at random moments with compactions in between, compared with
// a model after restoring; writes and compactions in the middle of a run; runs broken off at every
// step; bytes flipped all over.

import Foundation
import LMDB
import Simulation
import Synchronization
import Testing

@testable import Cambium

@Suite("A backup", .timeLimit(.minutes(3)))
struct BackupTests {
  private let place: Place
  private var backup: String { place.backup }

  init() throws { place = try Place() }

  // MARK: Restoring

  @Test(
    "of a random history gives back every moment that it holds",
    arguments: SeededGenerator.seeds(1, 2, 3, 4))
  func random(seed: UInt64) async throws {
    print("seed \(seed)")
    let database = try place.open()
    let history = RandomHistory(database, seed: seed, callsMax: 12)
    var random = SeededGenerator(seed: seed &+ 1000)
    let archives = seed % 2 == 0
    var held: [ClosedRange<SequenceNumber>] = []
    for round in 0..<10 {
      try await history.run(calls: 100)
      if random.oneIn(2) { try history.compact(archives: archives) }
      if round > 0, round < 9, random.oneIn(2) { continue }
      try await database.backUp(to: backup)
      let oldest = archives ? .zero : history.model.horizon
      if let last = held.last, last.upperBound >= oldest {
        held[held.count - 1] = last.lowerBound...history.model.head
      } else {
        held.append(oldest...history.model.head)
      }
    }
    let checked = try Database.checkBackup(backup)
    #expect(checked.damage == [])
    #expect(checked.moments == held)
    for moment in moments(held, &random) { try expectRestored(moment, held, history) }
    let newest = history.model.head.rawValue
    for moment in 0...newest where !held.contains(where: { $0.contains(SequenceNumber(moment)) }) {
      expectNotHeld(SequenceNumber(moment))
    }
    expectNotHeld(SequenceNumber(newest + 1))
    try expectSound(database)
    try await database.close()
  }

  /// The ends of each stretch, and some moments in between.
  private func moments(
    _ held: [ClosedRange<SequenceNumber>], _ random: inout SeededGenerator
  ) -> Set<SequenceNumber> {
    var moments: Set<SequenceNumber> = []
    for range in held {
      moments.formUnion([range.lowerBound, range.upperBound])
      let count = Int(range.upperBound.rawValue - range.lowerBound.rawValue) + 1
      for _ in 0..<8 {
        moments.insert(SequenceNumber(range.lowerBound.rawValue + UInt64(random.below(count))))
      }
    }
    return moments
  }

  /// Restores a moment, and compares all that can be read then with the model.
  private func expectRestored(
    _ moment: SequenceNumber, _ held: [ClosedRange<SequenceNumber>], _ history: RandomHistory
  ) throws {
    let oldest = try #require(held.first { $0.contains(moment) }).lowerBound
    try place.withRestored(.sequence(moment)) { restored in
      #expect(try restored.head == moment)
      #expect(try restored.horizon == oldest)
      for past in [oldest, SequenceNumber((oldest.rawValue + moment.rawValue) / 2), moment] {
        let snapshot = try restored.snapshot(at: .sequence(past))
        try requireSame(snapshot.root, history.model.nodes(at: past), "\(past) of \(moment)")
      }
    }
  }

  private func expectNotHeld(_ moment: SequenceNumber) {
    let error = #expect(throws: DatabaseError.self) {
      try Database.restore(backup, to: place.beside("new.cambium"), upTo: .sequence(moment))
    }
    guard case .noSuchMoment? = error else {
      Issue.record("\(moment): \(String(describing: error))")
      return
    }
  }

  @Test("takes tags, policy, blobs and identity along, in one file as in a directory")
  func everything() throws {
    let content = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })
    let (format, blobs) = try place.use { database in
      let first = try database.store(content)
      try database.write { tx in try tx.set("file", to: .blob(first)) }
      try database.tag("first")
      try database.backUp(to: backup)
      let second = try database.store(Data("another".utf8))
      try database.write { tx in try tx.set("file", to: .blob(second)) }
      try database.tag("second")
      try database.setRetention(Retention(transactions: 1000))
      try database.backUp(to: backup)
      try database.backUp(toFile: place.beside("one.backup"))
      try expectSound(database)
      return (database.directory.format, [first, second])
    }
    for source in [backup, place.beside("one.backup")] {
      let checked = try Database.checkBackup(source)
      #expect(checked.isSound && checked.origin == format.origin && checked.newest == 2)
      #expect(checked.tags.map(\.name) == ["first", "second"])
      try place.withRestored(from: source) { restored in
        #expect(restored.directory.format.origin == format.origin)
        #expect(restored.directory.format.created == format.created)
        #expect(try restored.tags.map(\.sequence) == [1, 2])
        #expect(try restored.retention().transactions == 1000)
        let read = try blobs.map { blob in
          var read = Data()
          try restored.read { try $0.read(blob) { read += $0 } }
          return read
        }
        #expect(read == [content, Data("another".utf8)])
      }
      try place.withRestored(.tag("first"), from: source) { restored in
        let (head, tags) = (try restored.head, try restored.tags)
        #expect(head == 1 && tags.map(\.name) == ["first"])
      }
    }
    #expect(Database.isBackup(backup) && Database.isBackup(place.beside("one.backup")))
    #expect(!Database.isBackup(place.path) && !Database.isBackup(place.beside("nothing")))
  }

  @Test("restores what a time saw, and says where it holds no such time")
  func times() throws {
    var times: [Date] = []
    try place.use { database in
      for number in 0..<6 as Range<Int64> {
        Thread.sleep(forTimeInterval: 0.005)
        try database.write { tx in try tx.set("n", to: .integer(number)) }
        times.append(try database.commit(database.head).time)
        if number == 2 { try database.backUp(to: backup) }
      }
      try database.compact(upTo: 5)
      try database.backUp(to: backup)
      try expectSound(database)
    }
    #expect(try Database.checkBackup(backup).moments == [0...3, 5...6])
    for (moment, expected) in [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6)] as [(Int, UInt64)] {
      let head = try place.restoredHead(.time(times[moment]))
      #expect(head == SequenceNumber(expected))
    }
    let later = try place.restoredHead(.time(times[5].addingTimeInterval(60)))
    #expect(later == 6)
    for gone in [times[0].addingTimeInterval(-1), times[3]] {
      #expect(throws: DatabaseError.self) { try place.restoredHead(.time(gone)) }
    }
  }

  // MARK: Running beside others

  @Test("is of one moment while others write and compact in the middle of it", arguments: [0, 1])
  func hot(archiving: Int) throws {
    let noise = (0..<4096).map { _ in UInt8.random(in: 0...255) }
    try place.use { database in
      @Sendable func write(_ count: Int) throws {
        for _ in 0..<count {
          try database.write { tx in
            let number = Int64(tx.sequence.rawValue)
            try tx.set(NodePath(keys: ["n", .integer(number % 50)]), to: .integer(number))
            try tx.set("noise", to: .data(Data(noise)))
          }
        }
      }
      try write(600)
      _ = try database.store(Data(noise))
      let runs = CallCount()
      for _ in 0..<6 {
        try database.backUp(to: backup) { _ in
          let run = runs.next()
          if run % 2 == 0 { try? write(3) }
          if run % 3 == 1, let head = try? database.head {
            _ = try? database.compact(
              upTo: SequenceNumber(head.rawValue - 2), archives: archiving == 1)
          }
          return true
        }
        try write(5)
      }
      try expectSound(database)
    }
    let checked = try Database.checkBackup(backup)
    #expect(checked.damage == [])
    // Transactions dropped without an archive in the middle of a run are missing from the backup.
    #expect(checked.moments.count > 1 || archiving == 1)
    #expect(checked.moments.count == 1 || archiving == 0)
    for range in checked.moments {
      for moment in [range.lowerBound, range.upperBound] {
        try place.withRestored(.sequence(moment)) { restored in
          let number = Int64(moment.rawValue)
          if number == 0 { return }
          let path = NodePath(keys: ["n", .integer(number % 50)])
          let value = try restored.read { try $0[path].value }
          #expect(value == .integer(number))
        }
      }
    }
  }

  @Test("that is broken off at any step is as it was before, and the next run completes it")
  func brokenOff() throws {
    try place.use { database in
      try database.count(40)
      try database.backUp(to: backup)
      let before = try place.listing(of: "test.backup")
      try database.count(40)
      _ = try database.store(Data(repeating: 7, count: 600_000))
      try database.compact(upTo: 60)
      var calls = 0
      var isBrokenOff = true
      while isBrokenOff {
        let (count, callsMax) = (CallCount(), calls)
        do {
          try database.backUp(to: backup) { _ in count.next() < callsMax }
          isBrokenOff = false
        } catch is CancellationError {
          #expect(try place.listing(of: "test.backup") == before)
          let file = place.beside("one.backup")
          let again = CallCount()
          #expect(throws: CancellationError.self) {
            try database.backUp(toFile: file) { _ in again.next() < callsMax }
          }
        }
        calls += 1
      }
      #expect(calls > 3)
      #expect(try Database.checkBackup(backup).moments == [0...40, 60...80])
      #expect(try Database.checkBackup(backup).isSound)
      #expect(try place.neighbors == ["test.backup", "test.cambium"])
      try expectSound(database)
    }
    #expect(try place.restoredHead() == 80)
  }

  @Test("is not changed by what a crash left in it, which the next run removes")
  func leftovers() throws {
    let other = place.beside("other.backup")
    try place.use { database in
      try database.count(10)
      try database.backUp(to: backup)
      try FileManager.default.copyItem(atPath: backup, toPath: other)
      try database.count(10)
      try database.backUp(to: other)
      // The part has its name, and the manifest does not say so yet.
      try FileManager.default.copyItem(atPath: "\(other)/part-2", toPath: "\(backup)/part-2")
      for name in ["part-2.tmp", "part-3.tmp", "manifest.tmp"] {
        try Data("half".utf8).write(to: URL(filePath: "\(backup)/\(name)"))
      }
      #expect(try Database.checkBackup(backup).newest == 10)
      #expect(try place.restoredHead() == 10)
      try database.count(1)
      let addition = try database.backUp(to: backup)
      #expect(addition.newest == 21 && addition.transactions == 11 && addition.parts == 2)
      #expect(try Files.names(in: backup) == ["manifest", "part-1", "part-2"])
      try expectSound(database)
    }
    #expect(try place.restoredHead() == 21)
  }

  @Test("gets nothing written where nothing is new")
  func unchanged() throws {
    try place.use { database in
      try database.backUp(to: backup)
      #expect(try Database.checkBackup(backup).moments == [0...0])
      try database.count(10)
      #expect(try database.backUp(to: backup).transactions == 10)
      let before = try place.listing(of: "test.backup")
      let again = try database.backUp(to: backup)
      #expect(again.isUnchanged && again.parts == 2)
      #expect(try place.listing(of: "test.backup") == before)
      try database.tag("now")
      #expect(try database.backUp(to: backup).isUnchanged == false)
      #expect(try Database.checkBackup(backup).tags.map(\.name) == ["now"])
      try expectSound(database)
    }
    #expect(try place.restoredHead(.sequence(0)) == 0)
  }
}

/// Counts calls.
private final class CallCount: Sendable {
  private let count = Atomic<Int>(0)

  /// Counts a call, and returns the number of calls before it.
  func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
}
