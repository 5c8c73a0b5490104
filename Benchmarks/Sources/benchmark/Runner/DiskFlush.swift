#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The time that the disk takes to keep a page, which bounds whoever waits for each commit.
enum DiskFlush {
  private static let pages = 256
  private static let pageBytes = 4096
  private static let count = 200

  /// The median of flushes of one page, written into space that was written before.
  static func seconds(in directory: String) throws -> Double {
    let path = directory + "/flush"
    let file = unsafe open(path, O_RDWR | O_CREAT, 0o600)
    if file < 0 { throw BenchmarkError("\(path) cannot be made") }
    defer {
      close(file)
      unsafe unlink(path)
    }
    let page = [UInt8](repeating: 7, count: pageBytes)
    for index in 0..<pages { try write(page, index, to: file) }
    try flush(file)
    var times: [Double] = []
    for index in 0..<count {
      let (seconds, _) = try timed {
        try write(page, index * 7 % pages, to: file)
        try flush(file)
      }
      times.append(seconds)
    }
    return median(times) ?? 0
  }

  private static func write(_ page: [UInt8], _ index: Int, to file: Int32) throws {
    let written = unsafe pwrite(file, page, page.count, off_t(index * pageBytes))
    if written != page.count { throw BenchmarkError("the disk takes no page") }
  }

  private static func flush(_ file: Int32) throws {
    #if canImport(Glibc)
      let code = fdatasync(file)
    #else
      let code = fcntl(file, F_FULLFSYNC)
    #endif
    if code != 0 { throw BenchmarkError("the disk cannot be flushed") }
  }
}
