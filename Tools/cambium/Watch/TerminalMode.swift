import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Holds a terminal in the state in which a program draws on it, and gives it back as it was: the
/// screen and what it showed, the cursor, and the mode of its line.
///
/// While it is held, another screen is shown without a cursor, and keys come as they are pressed
/// and are not echoed. Ctrl-C and Ctrl-Z still are signals. Every way out gives the terminal back:
///
/// | Way out | By |
/// |---|---|
/// | the end, an error | ``leave()``, which the owner defers |
/// | the first SIGINT or SIGTERM | ``Signals/isInterrupted``, which the owner polls |
/// | the second, SIGQUIT, SIGHUP | ``giveBack()`` in the handler |
/// | SIGTSTP | ``suspend()``; SIGCONT takes the terminal again |
///
/// It is used by one thread. `held` is written before `isHeld` is set, and only read by whoever
/// clears that.
@safe struct TerminalMode {
  private let descriptor: Int32
  private let before: termios

  /// Takes the terminal.
  ///
  /// - Throws: ``Failure`` where the descriptor is no terminal.
  init(_ descriptor: Int32) throws(Failure) {
    var modes = termios()
    guard unsafe tcgetattr(descriptor, &modes) == 0 else {
      throw Failure.system("the terminal cannot be used", errno: errno)
    }
    (self.descriptor, before) = (descriptor, modes)
    enter()
  }

  /// Takes the terminal again, as after SIGCONT; its modes may have been changed meanwhile.
  func enter() {
    unsafe held = (descriptor, before)
    isHeld.store(true, ordering: .releasing)
    var modes = before
    modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
    while unsafe tcsetattr(descriptor, TCSADRAIN, &modes) != 0 && errno == EINTR {}
    _ = System.write(Array("\u{1B}[?1049h\u{1B}[?25l".utf8), to: descriptor)
  }

  /// Gives the terminal back.
  func leave() { TerminalMode.giveBack() }

  /// Gives the terminal back and stops the process, as Ctrl-Z asks; takes the terminal again when
  /// it is continued.
  ///
  /// The signal is sent to this thread: one sent to the process could stop it a little later.
  /// Where no shell could continue the process, the system does not stop it.
  func suspend() {
    leave()
    var (stop, others) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&stop)
    unsafe sigaddset(&stop, SIGTSTP)
    _ = signal(SIGTSTP, SIG_DFL)
    unsafe pthread_sigmask(SIG_UNBLOCK, &stop, &others)
    raise(SIGTSTP)
    unsafe pthread_sigmask(SIG_SETMASK, &others, nil)
    Signals.noticeTerminal()
    enter()
  }

  /// Gives back the terminal that is held, if one is. It calls only what a signal's handler may.
  static func giveBack() {
    guard isHeld.exchange(false, ordering: .acquiring), var held = unsafe held else { return }
    let text: StaticString = "\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"
    _ = unsafe write(held.descriptor, text.utf8Start, text.utf8CodeUnitCount)
    unsafe tcsetattr(held.descriptor, TCSADRAIN, &held.modes)
  }
}

/// The terminal to be given back, and its modes before.
///
/// It begins as nil, not as empty modes. Of a global that begins as a C structure with padding, the
/// compiler of Swift 6.3 leaves the padding out in debug builds: setting it writes 3 bytes too far.
nonisolated(unsafe) private var held: (descriptor: Int32, modes: termios)?
private let isHeld = Atomic<Bool>(false)
