import FoundationEssentials
import Glibc

/// Another process of this program, which may be killed at any time.
struct ChildProcess {
  /// The way in which a process ended.
  enum End: Equatable, CustomStringConvertible {
    case exited(Int32)
    case killed(Int32)

    var description: String {
      switch self {
      case .exited(let code): "exit \(code)"
      case .killed(SIGALRM): "hung (killed by its alarm)"
      case .killed(let signal): "signal \(signal)"
      }
    }
  }

  private let id: pid_t

  /// Starts this program again, or another one; its output goes to a file.
  init(
    _ arguments: [String], _ variables: [String: String], output: String,
    program: String = CommandLine.arguments[0]
  ) throws {
    let arguments = [program] + arguments
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    let flags = O_WRONLY | O_CREAT | O_APPEND
    unsafe posix_spawn_file_actions_addopen(&actions, 1, output, flags, 0o644)
    unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
    // A child gets none of the recorder's variables but its own.
    var inherited = ProcessInfo.processInfo.environment.filter {
      !$0.key.hasPrefix("TORTURE_") && $0.key != "LD_PRELOAD"
    }
    inherited.merge(variables) { _, own in own }
    var id: pid_t = 0
    let code = unsafe ChildProcess.withCStrings(arguments) { arguments in
      unsafe ChildProcess.withCStrings(inherited.map { "\($0.key)=\($0.value)" }) { variables in
        unsafe posix_spawn(&id, program, &actions, nil, arguments, variables)
      }
    }
    guard code == 0 else { throw Failure("cannot start \(program): error \(code)") }
    self.id = id
  }

  /// Waits for its end.
  func wait() -> End {
    var status: Int32 = 0
    while unsafe waitpid(id, &status, 0) < 0 && errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal)
  }

  /// Ends it now.
  func kill() { _ = Glibc.kill(id, SIGKILL) }

  private static func withCStrings<R>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
  ) -> R {
    var pointers = unsafe strings.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe body(pointers)
  }
}
