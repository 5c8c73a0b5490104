/// The reason why a program could not be run to its end, sorted by what the user can do about it.
enum ChildProcessError: Error, Equatable {
  /// No such program in PATH. Recovery: install it.
  case notFound(program: String)

  /// The system did not start it. Recovery: see `reason`.
  case notStarted(program: String, reason: String)

  /// It ended with an error of its own. Recovery: what it wrote to its standard error says.
  case failed(name: String, ending: Ending, errors: String)

  /// The system failed while passing bytes. Recovery: try again.
  case ioFailure(name: String, reason: String)

  /// The way in which a program ended.
  enum Ending: Equatable {
    case exited(Int32)
    case killed(signal: Int32)
    /// Somebody else collected the status, or the process was started with SIGCHLD ignored.
    case unknown
  }
}

extension ChildProcessError: CustomStringConvertible {
  /// The problem, with what the program said about it.
  var description: String {
    switch self {
    case .notFound(let program): "the program \(program) was not found"
    case .notStarted(let program, let reason): "\(program) could not be started: \(reason)"
    case .failed(let name, let ending, ""): "\(name) \(ending)"
    case .failed(let name, let ending, let errors): "\(name) \(ending): \(errors)"
    case .ioFailure(let name, let reason): "the connection to \(name) failed: \(reason)"
    }
  }

  /// The remedy, or nil where the description says it.
  var hint: String? {
    switch self {
    case .notFound(let program): "install \(program), or put its folder into PATH"
    case .failed(_, .unknown, _): "start this program without ignoring SIGCHLD"
    default: nil
    }
  }
}

extension ChildProcessError.Ending: CustomStringConvertible {
  /// The ending as the predicate of a sentence.
  var description: String {
    switch self {
    case .exited(let status): "failed with exit status \(status)"
    case .killed(let signal): "was ended by signal \(signal)"
    case .unknown: "ended with a status that the system did not tell"
    }
  }

  /// Reads what waitpid(2) stored; its macros are not visible in Swift.
  init(waitStatus: Int32) {
    let signal = waitStatus & 0x7f
    self = signal == 0 ? .exited((waitStatus >> 8) & 0xff) : .killed(signal: signal)
  }
}
