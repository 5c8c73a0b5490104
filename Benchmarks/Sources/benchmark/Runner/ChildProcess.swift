#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// This program once more, in a process of its own: what it adds to its memory cannot hide in what
/// earlier suites have freed.
enum ChildProcess {
  /// Runs it with the arguments and waits.
  static func run(_ arguments: [String]) throws {
    let program = CommandLine.arguments.first ?? ""
    var strings = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
    defer { unsafe strings.forEach { unsafe free($0) } }
    var process = pid_t()
    let code = unsafe posix_spawnp(&process, program, nil, nil, &strings, environ)
    if code != 0 { throw BenchmarkError("cannot start \(program): error \(code)") }
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) == -1 && errno == EINTR {}
    if status != 0 { throw BenchmarkError("\(program) \(arguments): status \(status)") }
  }

  /// Ends this process with a message.
  static func fail(_ message: String) -> Never {
    print("benchmark: \(message)")
    exit(1)
  }
}
