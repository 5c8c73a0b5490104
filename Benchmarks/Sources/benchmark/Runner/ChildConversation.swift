#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// This program once more, in a process of its own that is sent bytes and answers with lines. It
/// ends with the conversation.
final class ChildConversation {
  private let id: pid_t
  private let input: Int32
  private let output: Int32
  private var received: [UInt8] = []

  init(_ arguments: [String]) throws {
    let (childInput, input) = try ChildConversation.pipe()
    let (output, childOutput) = try ChildConversation.pipe()
    defer { for end in [childInput, childOutput] { close(end) } }
    (self.input, self.output) = (input, output)
    id = try ChildConversation.start(arguments, childInput, childOutput)
  }

  deinit {
    kill(id, SIGKILL)
    while waitpid(id, nil, 0) == -1 && errno == EINTR {}
    for end in [input, output] { close(end) }
  }

  /// Sends a byte.
  func ring(_ byte: UInt8 = 0) throws {
    var byte = byte
    if unsafe write(input, &byte, 1) != 1 { throw BenchmarkError("the other process is gone") }
  }

  /// Waits for the next line.
  func line(within seconds: Int) throws -> String {
    while true {
      if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
        defer { received.removeFirst(end + 1) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      try receive(within: seconds)
    }
  }

  private func receive(within seconds: Int) throws {
    var waiting = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    let ready = unsafe poll(&waiting, 1, Int32(seconds * 1_000))
    if ready == -1 && errno == EINTR { return }
    if ready == 0 { throw BenchmarkError("the other process said nothing for \(seconds) s") }
    var bytes = [UInt8](repeating: 0, count: 1_024)
    let count = unsafe read(output, &bytes, bytes.count)
    if count <= 0 { throw BenchmarkError("the other process has ended") }
    received += bytes[..<count]
  }

  /// The ends of a pipe to read from and to write to, which no other process inherits.
  private static func pipe() throws -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    #if canImport(Darwin)
      let code = unsafe Darwin.pipe(&ends)
    #else
      let code = unsafe Glibc.pipe(&ends)
    #endif
    if code != 0 { throw BenchmarkError("there is no pipe: error \(errno)") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  private static func start(
    _ arguments: [String], _ input: Int32, _ output: Int32
  ) throws -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = unsafe posix_spawn_file_actions_t()
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
    let program = CommandLine.arguments.first ?? ""
    var strings = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
    defer { unsafe strings.forEach { unsafe free($0) } }
    var id = pid_t()
    let code = unsafe posix_spawnp(&id, program, &actions, nil, &strings, environ)
    if code != 0 { throw BenchmarkError("cannot start \(program): error \(code)") }
    return id
  }
}
