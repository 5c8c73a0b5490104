// Goal: a sanitizer that reports something is heard, also in a process that a test has started and
// that ends as the test expects.
// Method: `Tools/test --sanitize` has this suite plant a fault, and fails if there is no report.

import Dispatch
import LMDB
import Synchronization
import Testing

@Suite(
  "A planted fault",
  .enabled(if: PlantedFault.isWanted, "only `Tools/test --sanitize` wants it, in a run apart"))
struct PlantedFaultTests {
  @Test("is reported by the child process that has it, and is then killed")
  func inChild() async {
    // Thread sanitizer continues to the end, address sanitizer ends the process at once.
    await #expect(processExitsWith: .failure) {
      PlantedFault.run()
      kill(getpid(), SIGKILL)
    }
  }
}

private enum PlantedFault {
  static var isWanted: Bool { unsafe getenv("CAMBIUM_PLANT_FAULT") != nil }

  /// Two threads write one number without an order between them; then it is written where it is
  /// no more.
  static func run() {
    nonisolated(unsafe) let number = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    unsafe number.initialize(to: 0)
    let isWritten = Atomic(false)
    DispatchQueue.global().async {
      unsafe number.pointee = 1
      isWritten.store(true, ordering: .relaxed)
    }
    while !isWritten.load(ordering: .relaxed) {}
    unsafe number.pointee = 2
    unsafe number.deallocate()
    unsafe number.pointee = 3
  }
}
