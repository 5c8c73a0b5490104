#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A running program, with its standard input, output and errors connected to this one.
///
///     send ──► unsent ──► input ┐
///     read ◄─────────── output ─┤ program
///     errors' newest 64 KiB ◄───┘
///
/// One thread serves all three: whoever waits for output also sends what is queued for the input,
/// and collects the errors. So neither side waits for the other for ever, however many requests
/// are queued.
///
/// No shell is involved. The program gets its own process group: an interrupt from the terminal
/// reaches only this process, which can then stop where it is safe.
///
/// Invariants:
/// 1. The program is waited for once: by ``finish()``, or else by `deinit`, which ends it first.
/// 2. `sentCount` ≤ `unsent.count`. ``send(_:)`` and ``sendSome()`` alone change them.
final class ChildProcess {
  /// The name of the program in messages, such as `git log`.
  let name: String
  private let id: pid_t
  private var input: Descriptor
  private var output: Descriptor
  private var errors: Descriptor
  private var unsent: [UInt8] = []
  private var sentCount = 0
  private var inputEnds = false
  private(set) var errorBytes: [UInt8] = []
  private var isFinished = false

  /// The number of bytes of the standard error that are kept.
  private static let errorBytesMax = 64 << 10

  /// Starts a program, which is searched in PATH unless its name holds a slash. Where it
  /// `takesInput`, ``send(_:)`` gives it some; otherwise it reads nothing.
  ///
  /// - Throws: ``ChildProcessError`` when there is no such program, or the system refuses.
  init(
    _ program: String, _ arguments: [String], name: String? = nil, environment: [String: String],
    takesInput: Bool = false
  ) throws(ChildProcessError) {
    let input = takesInput ? Channel.connected() : Channel.empty()
    let output = Channel.connected()
    let errors = Channel.connected()
    let ends = [input.theirs.number, output.theirs.number, errors.theirs.number]
    if ends.contains(-1) {
      throw .notStarted(program: program, reason: System.message(errno))
    }
    id = try Spawning.start(program, arguments, environment, ends)
    self.name = name ?? program
    self.input = input.ours
    self.output = output.ours
    self.errors = errors.ours
  }

  deinit {
    guard !isFinished else { return }
    input.close()
    output.close()
    _ = kill(id, SIGTERM)
    _ = Spawning.ending(of: id)
  }

  /// Queues bytes for the standard input; they are sent while output is waited for.
  func send(_ bytes: some Sequence<UInt8>) {
    guard input.isOpen else { return }
    unsent.append(contentsOf: bytes)
  }

  /// Closes the standard input once everything queued is sent.
  func endInput() {
    inputEnds = true
    if unsent.isEmpty { input.close() }
  }

  /// Waits for output and puts what there is into `buffer`, from `offset` to its end.
  ///
  /// - Returns: The number of bytes; 0 at the end of the output.
  func read(into buffer: inout [UInt8], at offset: Int) throws(ChildProcessError) -> Int {
    guard output.isOpen else { return 0 }
    while try !wait(forOutput: true) {}
    guard let count = output.receive(into: &buffer, at: offset) else { throw ioFailure() }
    return count
  }

  /// Waits for the program's end, which must be near: its output is closed.
  ///
  /// - Throws: ``ChildProcessError/failed(name:ending:errors:)`` unless it ended with status 0.
  func finish() throws(ChildProcessError) {
    if isFinished { return }
    input.close()
    output.close()
    while errors.isOpen { _ = try wait(forOutput: false) }
    isFinished = true
    let ending = Spawning.ending(of: id)
    if ending != .exited(0) {
      throw .failed(name: name, ending: ending, errors: errorText)
    }
  }

  /// Everything that the program still has to say, up to its successful end.
  func readAll() throws(ChildProcessError) -> [UInt8] {
    endInput()
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = try read(into: &buffer, at: 0)
      if count == 0 { break }
      bytes += buffer[..<count]
    }
    try finish()
    return bytes
  }
}

extension ChildProcess {
  /// Serves whichever stream is ready; true when there is output to read, or its end.
  private func wait(forOutput: Bool) throws(ChildProcessError) -> Bool {
    let sends = sentCount < unsent.count
    var streams = [
      pollfd(fd: forOutput ? output.number : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: errors.number, events: Int16(POLLIN), revents: 0),
      pollfd(fd: sends ? input.number : -1, events: Int16(POLLOUT), revents: 0),
    ]
    while unsafe poll(&streams, nfds_t(streams.count), -1) < 0 {
      if errno != EINTR && errno != EAGAIN { throw ioFailure() }
    }
    if streams[1].revents != 0 { try collectErrors() }
    if streams[2].revents != 0 { sendSome() }
    return streams[0].revents != 0
  }

  /// A program that reads no more has ended, or will: its output and status say why.
  private func sendSome() {
    if let count = input.sendSome(unsent[sentCount...]) {
      sentCount += count
      guard sentCount == unsent.count else { return }
    } else {
      inputEnds = true
    }
    unsent.removeAll(keepingCapacity: true)
    sentCount = 0
    if inputEnds { input.close() }
  }

  private func collectErrors() throws(ChildProcessError) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    guard let count = errors.receive(into: &buffer, at: 0) else { throw ioFailure() }
    if count == 0 { errors.close() }
    errorBytes += buffer[..<count]
    let surplus = errorBytes.count - ChildProcess.errorBytesMax
    if surplus > 0 { errorBytes.removeFirst(surplus) }
  }

  /// The last lines of what the program complained of, on one line.
  private var errorText: String {
    let lines = String(decoding: errorBytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    return String(lines.suffix(10).joined(separator: "; ").suffix(2000))
  }

  private func ioFailure() -> ChildProcessError {
    .ioFailure(name: name, reason: System.message(errno))
  }
}
