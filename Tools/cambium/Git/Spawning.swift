#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Starting a program with posix_spawn(3). Never fork(2): a forked copy of a process with threads
/// and an open database may do next to nothing safely.
enum Spawning {
  /// Starts `program` with `ends` as its descriptors 0, 1 and 2. In a group of its own, it does not
  /// hear what is typed at this process's terminal.
  static func start(
    _ program: String, _ arguments: [String], _ environment: [String: String], _ ends: [Int32],
    hasOwnGroup: Bool = true
  ) throws(ChildProcessError) -> pid_t {
    let variables = environment.map { "\($0.key)=\($0.value)" }
    if ([program] + arguments + variables).contains(where: { $0.utf8.contains(0) }) {
      let reason = "an argument or a variable holds the character U+0000; take it out"
      throw .notStarted(program: program, reason: reason)
    }
    var id: pid_t = 0
    let code = unsafe withCStrings([program] + arguments) { arguments in
      unsafe withCStrings(variables) { variables in
        unsafe withSettings(ends, hasOwnGroup) { actions, attributes in
          unsafe posix_spawnp(&id, program, actions, attributes, arguments, variables)
        }
      }
    }
    switch code {
    case 0: return id
    case ENOENT: throw .notFound(program: program)
    default: throw .notStarted(program: program, reason: System.message(code))
    }
  }

  /// Waits for a program's end.
  static func ending(of id: pid_t) -> ChildProcessError.Ending {
    var status: Int32 = 0
    while unsafe waitpid(id, &status, 0) < 0 {
      if errno != EINTR { return .unknown }
    }
    return ChildProcessError.Ending(waitStatus: status)
  }

  /// Connects the descriptors, and undoes what this process may have changed about signals.
  private static func withSettings(
    _ ends: [Int32], _ hasOwnGroup: Bool,
    _ body: (UnsafePointer<SpawnActions>, UnsafePointer<SpawnAttributes>) -> Int32
  ) -> Int32 {
    var actions = unsafe newSpawnActions()
    var attributes = newSpawnAttributes()
    var code = unsafe posix_spawn_file_actions_init(&actions)
    guard code == 0 else { return code }
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    code = unsafe posix_spawnattr_init(&attributes)
    guard code == 0 else { return code }
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    for (target, end) in ends.enumerated() where code == 0 {
      code = unsafe posix_spawn_file_actions_adddup2(&actions, end, Int32(target))
    }
    if code == 0 { code = unsafe setSignals(&attributes, hasOwnGroup) }
    return code == 0 ? unsafe body(&actions, &attributes) : code
  }

  private static func setSignals(
    _ attributes: UnsafeMutablePointer<SpawnAttributes>, _ hasOwnGroup: Bool
  ) -> Int32 {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    var code = unsafe posix_spawnattr_setsigmask(attributes, &signals)
    unsafe sigaddset(&signals, SIGPIPE)
    if code == 0 { code = unsafe posix_spawnattr_setsigdefault(attributes, &signals) }
    if code == 0 { code = unsafe posix_spawnattr_setpgroup(attributes, 0) }
    let flags =
      Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
      | (hasOwnGroup ? Int32(POSIX_SPAWN_SETPGROUP) : 0) | spawnFlagsOfPlatform
    return code == 0 ? unsafe posix_spawnattr_setflags(attributes, Int16(flags)) : code
  }

  /// Lends a null-terminated array of C strings.
  private static func withCStrings<R>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
  ) -> R {
    var pointers = unsafe strings.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe body(pointers)
  }
}
