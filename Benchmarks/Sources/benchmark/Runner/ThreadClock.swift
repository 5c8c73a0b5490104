#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The time that the calling thread has had a processor. Unlike the time of day it says the same
/// on a machine that others use, too.
enum ThreadClock {
  static var seconds: Double { seconds(of: CLOCK_THREAD_CPUTIME_ID) }

  /// Runs the body and returns how many seconds of processor time it took, with its result.
  static func timed<Result>(
    _ body: () throws -> Result
  ) rethrows -> (seconds: Double, result: Result) {
    let start = seconds
    let result = try body()
    return (seconds - start, result)
  }

  private static func seconds(of clock: clockid_t) -> Double {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}
