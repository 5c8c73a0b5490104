// The descriptors that connect this process with a child. The differences between Linux and macOS
// in sockets and spawning are at this file's end, and nowhere else in this folder.

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// An open file of the process, closed exactly once: the type is noncopyable.
struct Descriptor: ~Copyable {
  /// The system's number for it, or -1 when closed; poll(2) passes over -1.
  private(set) var number: Int32 = -1

  var isOpen: Bool { number >= 0 }

  deinit { if number >= 0 { _ = systemClose(number) } }

  mutating func close() {
    if number >= 0 { _ = systemClose(number) }
    number = -1
  }

  /// Moves the descriptor out of the range of the three standard ones, where it can be when this
  /// program was started without them; the child's connections would get mixed up.
  mutating func raise() {
    guard (0..<3).contains(number) else { return }
    let raised = fcntl(number, F_DUPFD_CLOEXEC, 3)
    close()
    number = raised
  }

  /// Reads once into `buffer` from `offset` on; 0 at the end, nil with `errno` set after an error.
  func receive(into buffer: inout [UInt8], at offset: Int) -> Int? {
    let number = number
    return unsafe buffer.withUnsafeMutableBytes { bytes in
      let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
      while true {
        let count = unsafe read(number, room.baseAddress, room.count)
        if count >= 0 { return count }
        if errno != EINTR { return nil }
      }
    }
  }

  /// Sends what fits without waiting; nil with `errno` set after an error.
  func sendSome(_ bytes: ArraySlice<UInt8>) -> Int? {
    let number = number
    return unsafe bytes.withUnsafeBytes { bytes in
      while true {
        let count = unsafe send(number, bytes.baseAddress, bytes.count, sendFlags)
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EWOULDBLOCK { return 0 }
        if errno != EINTR { return nil }
      }
    }
  }
}

/// Two connected descriptors: one for this process, one for the child. Both are closed on exec, so
/// that a child has only its own.
///
/// They are sockets: a pipe whose reader has ended would stop this process with SIGPIPE, and Linux
/// closes a socket on exec from the start, where a pipe could leak into a child that another thread
/// starts meanwhile.
struct Channel: ~Copyable {
  var ours: Descriptor
  var theirs: Descriptor

  /// Connects; both ends are closed, with `errno` set, when the system refuses.
  static func connected() -> Channel {
    var pair: [Int32] = [-1, -1]
    _ = connect(&pair)
    return Channel(ours: Descriptor(number: pair[0]), theirs: Descriptor(number: pair[1]))
  }

  /// A child's end from which there is nothing to read.
  static func empty() -> Channel {
    let null = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    return Channel(ours: Descriptor(), theirs: Descriptor(number: null))
  }

  private init(ours: consuming Descriptor, theirs: consuming Descriptor) {
    ours.raise()
    theirs.raise()
    self.ours = ours
    self.theirs = theirs
  }
}

private func systemClose(_ number: Int32) -> Int32 { close(number) }

#if canImport(Darwin)
  typealias SpawnActions = posix_spawn_file_actions_t?
  typealias SpawnAttributes = posix_spawnattr_t?
  let spawnFlagsOfPlatform = POSIX_SPAWN_CLOEXEC_DEFAULT
  private let sendFlags = MSG_DONTWAIT

  func newSpawnActions() -> SpawnActions { nil }
  func newSpawnAttributes() -> SpawnAttributes { nil }

  private func connect(_ pair: inout [Int32]) -> Int32 {
    guard unsafe socketpair(AF_UNIX, SOCK_STREAM, 0, &pair) == 0 else { return -1 }
    for number in pair { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
    return fcntl(pair[0], F_SETNOSIGPIPE, 1)
  }
#else
  typealias SpawnActions = posix_spawn_file_actions_t
  typealias SpawnAttributes = posix_spawnattr_t
  let spawnFlagsOfPlatform: Int32 = 0
  private let sendFlags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)

  func newSpawnActions() -> SpawnActions { unsafe posix_spawn_file_actions_t() }
  func newSpawnAttributes() -> SpawnAttributes { posix_spawnattr_t() }

  private func connect(_ pair: inout [Int32]) -> Int32 {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    return unsafe socketpair(AF_UNIX, type, 0, &pair)
  }
#endif
