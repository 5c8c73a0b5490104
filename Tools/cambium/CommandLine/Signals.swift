import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The signal handling of the process.
///
/// A handler only stores into an atomic or ends the process, which is all that is safe in one.
/// Signals that are not wanted get a handler that does nothing instead of `SIG_IGN`, because a
/// process started from here (git, a pager) would inherit the latter.
enum Signals {
  /// From here on a write to a closed pipe, or beyond the limit for files, is an error of the call
  /// instead of the end of the process; and SIGUSR1 asks for a line of progress.
  static func install() {
    handle(SIGPIPE) { _ in }
    handle(SIGXFSZ) { _ in }
    touchGlobals()
    handle(SIGUSR1) { _ in wantsProgress.store(true, ordering: .relaxed) }
  }

  /// From here on the first Ctrl-C (or SIGTERM) only sets ``isInterrupted``; the second ends the
  /// process at once.
  static func deferInterrupts() {
    for signal in [SIGINT, SIGTERM] {
      handle(signal) { signal in
        if interruption.exchange(signal, ordering: .relaxed) != 0 { Signals.end(signal) }
      }
    }
  }

  /// From here on Ctrl-C ends the process at once again.
  ///
  /// - Throws: ``Failure``, where the user has pressed it in between.
  static func stopDeferring() throws(Failure) {
    for number in [SIGINT, SIGTERM] { _ = signal(number, SIG_DFL) }
    if isInterrupted { throw Failure.stopped() }
  }

  /// Leaves Ctrl-C to a program that shares the terminal: to a pager, and when that quits, writing
  /// to it fails; to what the shell has started.
  static func leaveInterrupts() { handle(SIGINT) { _ in } }

  /// True once the user has asked to stop: long work polls this where it can stop safely.
  /// In a call that answers a request, also once nobody waits for the answer.
  static var isInterrupted: Bool {
    interruption.load(ordering: .relaxed) != 0 || Served.current?.isAbandoned() ?? false
  }

  /// True if it was SIGTERM that asked.
  static var isTerminated: Bool { interruption.load(ordering: .relaxed) == SIGTERM }

  /// True if SIGUSR1 has arrived since the last call.
  static func takeProgressRequest() -> Bool {
    wantsProgress.load(ordering: .relaxed) && wantsProgress.exchange(false, ordering: .relaxed)
  }

  /// From here on the signals of a terminal only say what has happened to it, until
  /// ``takeTerminalEvents()`` asks; one that ends the process gives the terminal back first.
  static func noticeTerminal() {
    touchGlobals()
    handle(SIGWINCH) { _ in Signals.note(.resized) }
    handle(SIGTSTP) { _ in Signals.note(.suspended) }
    handle(SIGCONT) { _ in Signals.note(.continued) }
    for signal in [SIGQUIT, SIGHUP] { handle(signal) { Signals.end($0) } }
  }

  /// The events at the terminal since the last call.
  static func takeTerminalEvents() -> TerminalEvents {
    TerminalEvents(rawValue: terminalEvents.exchange(0, ordering: .relaxed))
  }

  private static func note(_ event: TerminalEvents) {
    terminalEvents.bitwiseOr(event.rawValue, ordering: .relaxed)
  }

  private static func end(_ signal: Int32) -> Never {
    TerminalMode.giveBack()
    _exit(128 + signal)
  }

  /// A global is made under a lock when it is first used, which must not be in a handler.
  private static func touchGlobals() {
    _ = wantsProgress.load(ordering: .relaxed)
    _ = interruption.load(ordering: .relaxed)
    _ = terminalEvents.load(ordering: .relaxed)
    TerminalMode.giveBack()
  }

  private static func handle(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
    _ = signal(number, handler)
  }
}

/// The signal that asked to stop; zero before.
private let interruption = Atomic<Int32>(0)
private let wantsProgress = Atomic<Bool>(false)
private let terminalEvents = Atomic<UInt8>(0)

/// Events at the terminal, other than keys.
struct TerminalEvents: OptionSet, Sendable {
  let rawValue: UInt8

  /// It has another size.
  static let resized = TerminalEvents(rawValue: 1)
  /// The user wants to stop the process for a while: Ctrl-Z.
  static let suspended = TerminalEvents(rawValue: 2)
  /// The process was stopped and goes on.
  static let continued = TerminalEvents(rawValue: 4)
}
