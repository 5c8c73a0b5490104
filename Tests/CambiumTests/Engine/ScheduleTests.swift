// Many at once on one small database, in an order that a seed decides.
//
// A schedule runs everyone on one thread, and lets others run in the middle of writes: inside their
// bodies, between the two commits, before observers are told. `Simulation` lists the promises that
// must hold. Here are a few hundred; Tools/torture runs thousands. A schedule that broke a promise
// is run again by naming its seed:
//
//     CAMBIUM_SEED=1234 swift test --filter ScheduleTests

import FoundationEssentials
import LMDB
import Simulation
import Synchronization
import Testing

@Suite("Schedules", .timeLimit(.minutes(10)))
struct ScheduleTests {
  private let place: MemoryPlace

  init() throws { place = try MemoryPlace() }

  @Test("of writers, readers, observers and consumers keep every promise, whatever the order")
  func many() throws {
    let seeds = SeededGenerator.seeds(Array(1...200))
    let traces = Mutex<[UInt64: Trace]>([:])
    onThreads(2) { thread in
      for (index, seed) in seeds.enumerated() where index % 2 == thread {
        let outcome = try place.simulation(seed).run(verifies: index % 50 == 0)
        if outcome.violations != [] { Issue.record("seed \(seed): \(outcome.violations)") }
        traces.withLock { $0[seed] = outcome.trace }
      }
    }
    // Each seed has an order of its own.
    let all = traces.withLock { $0 }
    #expect(all.count == seeds.count)
    #expect(Set(all.values.map(\.digest)).count == seeds.count)
  }

  @Test("are the same again from the same seed")
  func repeated() throws {
    for seed in 1...40 as ClosedRange<UInt64> {
      let traces = try (0..<2).map { _ in try place.simulation(seed).run().trace }
      #expect(traces[0] == traces[1], "seed \(seed)")
    }
  }

  @Test("are the same in another process")
  func otherProcess() async throws {
    await #expect(processExitsWith: .success) { [path = place.path as String] in
      for seed in 1...20 as ClosedRange<UInt64> {
        let trace = try Simulation(seed: seed, in: "\(path)/\(seed)").run().trace
        try WakeFile(path: "\(path)/trace-\(seed)").write(trace.digest)
      }
    }
    for seed in 1...20 as ClosedRange<UInt64> {
      let theirs = try WakeFile(path: "\(place.path)/trace-\(seed)").read()
      #expect(try place.simulation(seed).run().trace.digest == theirs, "seed \(seed)")
    }
  }
}

/// A directory that goes with the test, in memory where the system has a place for that: schedules
/// say nothing about disks.
private final class MemoryPlace: Sendable {
  let path: String
  private let disk = Mutex<TemporaryDirectory?>(nil)
  private let count = Atomic(0)

  init() throws {
    if Files.isWritable("/dev/shm") {
      path = "/dev/shm/cambium-test-\(UUID().uuidString)"
      try Files.createDirectory(path)
    } else {
      let directory = try TemporaryDirectory()
      path = directory.path
      disk.withLock { $0 = directory }
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func simulation(_ seed: UInt64) -> Simulation {
    let number = count.wrappingAdd(1, ordering: .relaxed).newValue
    return Simulation(seed: seed, in: "\(path)/\(number)")
  }
}
