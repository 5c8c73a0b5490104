#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The time that the calling thread has had a processor. Unlike the time of day it says the same
/// on a machine that others use, too.
enum ThreadClock {
  /// Runs the body and returns how many seconds of processor time it took, with its result.
  static func timed<Result>(
    _ body: () throws -> Result
  ) rethrows -> (seconds: Double, result: Result) {
    let start = nanoseconds(of: CLOCK_THREAD_CPUTIME_ID)
    let result = try body()
    return (Double(nanoseconds(of: CLOCK_THREAD_CPUTIME_ID) - start) * 1e-9, result)
  }
}

/// A time that all processes of the machine share.
enum MonotonicClock {
  static var now: Int64 { nanoseconds(of: CLOCK_MONOTONIC) }
}

/// The processor time of all threads of the process.
enum ProcessClock {
  static var now: Int64 { nanoseconds(of: CLOCK_PROCESS_CPUTIME_ID) }
}

private func nanoseconds(of clock: clockid_t) -> Int64 {
  var time = timespec()
  unsafe clock_gettime(clock, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
