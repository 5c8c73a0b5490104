import Cambium
import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The services of the operating system that the command line uses.
enum System {
  static let standardInput = STDIN_FILENO
  static let standardOutput = STDOUT_FILENO
  static let standardError = STDERR_FILENO
  static let brokenPipe = EPIPE

  /// The text for an error number.
  static func message(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }

  /// The length of a regular file, and when it was last changed; nil where there is none.
  static func file(_ path: String) -> (size: UInt64, modified: Date)? {
    var info = stat()
    guard unsafe stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
    #if canImport(Glibc)
      let time = info.st_mtim
    #else
      let time = info.st_mtimespec
    #endif
    let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    return (UInt64(info.st_size), Date(microseconds: microseconds))
  }

  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The columns of the terminal, or nil where there is none or it does not say.
  static func columns(_ descriptor: Int32) -> Int? { size(descriptor)?.columns }

  /// The size of the terminal, or nil where there is none or it does not say.
  static func size(_ descriptor: Int32) -> Screen.Size? {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return nil
    }
    return Screen.Size(rows: Int(size.ws_row), columns: Int(size.ws_col))
  }

  /// The bytes that a terminal has to offer now; none where it has none.
  static func available(_ descriptor: Int32) -> [UInt8] {
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&state, 1, 0) > 0, Int32(state.revents) & POLLIN != 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }

  /// True if nobody can read any more what is written: a pipe's reader has gone, or a terminal has.
  static func isReaderGone(_ descriptor: Int32) -> Bool {
    var state = pollfd(fd: descriptor, events: 0, revents: 0)
    return unsafe poll(&state, 1, 0) > 0 && Int32(state.revents) & (POLLERR | POLLHUP) != 0
  }

  /// Writes all bytes, waiting where the descriptor does not block.
  ///
  /// - Returns: Zero, or the error number.
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    unsafe bytes.withUnsafeBytes { buffer in
      var rest = unsafe buffer[...]
      while unsafe !rest.isEmpty {
        let count = unsafe systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
        if count >= 0 {
          unsafe rest = rest.dropFirst(count)
        } else if errno == EAGAIN {
          var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          unsafe _ = poll(&ready, 1, -1)
        } else if errno != EINTR {
          return errno
        }
      }
      return 0
    }
  }

  /// Writes a message to standard error; there is nowhere to report that this fails. A call that
  /// answers a request has none.
  static func complain(_ text: String) {
    if !text.isEmpty && Served.current == nil { _ = write(Array(text.utf8), to: standardError) }
  }

  /// Writes a line about what a command does to standard error.
  static func note(_ text: String) { complain("cambium: \(text)\n") }

  /// The next byte of standard input, waited for; nil at its end.
  static func readByte() -> UInt8? {
    var byte: UInt8 = 0
    while true {
      let count = unsafe read(standardInput, &byte, 1)
      if count == 1 { return byte }
      if count == 0 || errno != EINTR { return nil }
    }
  }

  /// Adds bytes to the end of a file that only its owner may read; there is nowhere to report that
  /// this fails.
  static func append(_ bytes: [UInt8], to path: String) {
    let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor < 0 { return }
    _ = write(bytes, to: descriptor)
    close(descriptor)
  }

  /// This program, for running it again.
  static var executable: String {
    #if os(Linux)
      "/proc/self/exe"
    #else
      CommandLine.arguments.first ?? "cambium"
    #endif
  }

  /// Opens what is closed of the three standard descriptors on `/dev/null`. Otherwise the
  /// database's file could become descriptor 1, and the output would be written into it.
  static func claimStandardDescriptors() {
    for descriptor in standardInput...standardError where fcntl(descriptor, F_GETFD) == -1 {
      _ = unsafe open("/dev/null", O_RDWR)
    }
  }

  /// The offset of the system's local time from UTC, in seconds, by `TZ` or the system's setting.
  static func localOffset(at secondsSince1970: Int) -> Int {
    var seconds = time_t(secondsSince1970)
    var parts = unsafe tm()
    guard unsafe localtime_r(&seconds, &parts) != nil else { return 0 }
    return unsafe Int(parts.tm_gmtoff)
  }

  /// The arguments after the program's name.
  ///
  /// - Throws: Where one is not UTF-8, which would otherwise be repaired and name another file.
  static func arguments() throws(Failure) -> [String] {
    var arguments: [String] = []
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let bytes = unsafe CommandLine.unsafeArgv[index] else { break }
      guard let text = unsafe String(validatingCString: bytes) else {
        throw Failure.usage("argument \(index) is not UTF-8")
      }
      arguments.append(text)
    }
    return arguments
  }

  /// Ends the process.
  static func exit(_ code: ExitCode) -> Never { systemExit(code.rawValue) }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  unsafe write(descriptor, bytes.baseAddress, bytes.count)
}

private func systemExit(_ code: Int32) -> Never { exit(code) }

/// The Gregorian calendar, as the C library computes it.
extension CivilTime {
  /// The time that clocks of UTC show so many seconds after 1970 began.
  init(seconds: Int) {
    var seconds = time_t(seconds)
    var parts = unsafe tm()
    unsafe _ = gmtime_r(&seconds, &parts)
    unsafe self.init(
      year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
      hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec))
  }

  /// Seconds since 1970, were this UTC; a day that the month does not have counts into the next.
  var seconds: Int {
    let days = DateText.days(year: Int64(year), month: Int64(month), day: Int64(day))
    return Int(days) * 86_400 + hour * 3600 + minute * 60 + second
  }
}
