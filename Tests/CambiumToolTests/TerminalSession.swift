import Foundation
import Testing

@testable import CambiumCommands

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A program at a terminal of its own, which the test types into and reads as a user would.
///
///     let shell = try TerminalSession("cambium shell a.cambium", in: place)
///     try shell.type("pwd\n", until: "/\r\n")
final class TerminalSession {
  let controller: Int32
  private let id: pid_t
  private var unread: [UInt8] = []
  private var status: Int32?

  /// Starts a line of the system's shell at a terminal that Ctrl-C works at.
  init(_ line: String, in place: Workplace, environment own: [String: String] = [:]) throws {
    var ends: (controller: Int32, terminal: Int32) = (-1, -1)
    var size = winsize(ws_row: 30, ws_col: 97, ws_xpixel: 0, ws_ypixel: 0)
    try #require(unsafe openpty(&ends.controller, &ends.terminal, nil, nil, &size) == 0)
    _ = fcntl(ends.controller, F_SETFD, FD_CLOEXEC)
    controller = ends.controller
    let name = unsafe String(cString: ttyname(ends.terminal))
    let defaults = ["TERM": "dumb", "HOME": place.folder, "PAGER": "cat"]
    let environment = place.environment.merging(defaults) { $1 }.merging(own) { $1 }
    id = try TerminalSession.start(
      ["sh", "-c", "cd '\(place.folder)' && exec \(line)"], environment, terminal: name)
    close(ends.terminal)
  }

  deinit {
    if status == nil {
      kill(id, SIGKILL)
      _ = ended()
    }
    close(controller)
  }

  /// Opening a terminal as the first of a session makes it the session's own.
  private static func start(
    _ arguments: [String], _ environment: [String: String], terminal: String
  ) throws -> pid_t {
    var actions = unsafe newSpawnActions()
    var attributes = newSpawnAttributes()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
    for descriptor in 1...2 as ClosedRange<Int32> {
      unsafe posix_spawn_file_actions_adddup2(&actions, 0, descriptor)
    }
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(ownSession) | Int16(POSIX_SPAWN_SETSIGMASK))
    var argv = unsafe arguments.map { unsafe strdup($0) }
    var variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") }
    defer { unsafe (argv + variables).forEach { unsafe free($0) } }
    unsafe argv.append(nil)
    unsafe variables.append(nil)
    var id: pid_t = 0
    let code = unsafe posix_spawnp(&id, "sh", &actions, &attributes, argv, variables)
    try #require(code == 0)
    return id
  }

  /// Types, and reads until a text is seen.
  ///
  /// - Returns: All that was read, the text included.
  @discardableResult
  func type(
    _ text: String, until expected: String, _ location: SourceLocation = #_sourceLocation
  ) throws -> String {
    let bytes = Array(text.utf8)
    try #require(System.write(bytes, to: controller) == 0, sourceLocation: location)
    return try read(until: expected, location)
  }

  /// Reads until a text is seen; gives up after 20 seconds without news.
  @discardableResult
  func read(
    until expected: String, _ location: SourceLocation = #_sourceLocation
  ) throws -> String {
    while true {
      let text = String(decoding: unread, as: UTF8.self)
      if let range = text.range(of: expected) {
        let seen = text[..<range.upperBound]
        unread.removeFirst(seen.utf8.count)
        return String(seen)
      }
      let more = receive()
      try #require(
        !more.isEmpty, "“\(expected)” did not come, but “\(text)”", sourceLocation: location)
      unread += more
    }
  }

  /// All that comes next; gives up after 20 seconds without news.
  func more(_ location: SourceLocation = #_sourceLocation) throws -> String {
    while true {
      let isWhole = String(validating: unread, as: UTF8.self) != nil
      if !unread.isEmpty && isWhole {
        defer { unread = [] }
        return String(decoding: unread, as: UTF8.self)
      }
      let more = receive()
      try #require(!more.isEmpty, "nothing came", sourceLocation: location)
      unread += more
    }
  }

  /// Gives the terminal another size, which its programs are told by a signal.
  func resize(rows: Int, columns: Int) {
    var size = winsize(
      ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = unsafe ioctl(controller, UInt(TIOCSWINSZ), &size)
  }

  /// Sends a signal to all programs of the terminal's foreground, as its driver would.
  func send(_ signal: Int32) { kill(-tcgetpgrp(controller), signal) }

  /// True if the terminal gathers and echoes lines, as it does unless a program wants otherwise.
  var isLineMode: Bool {
    var modes = termios()
    let isKnown = unsafe tcgetattr(controller, &modes) == 0
    return isKnown && modes.c_lflag & tcflag_t(ICANON | ECHO) == tcflag_t(ICANON | ECHO)
  }

  /// Waits for the program's end.
  ///
  /// - Returns: Its exit status, or 128 and the signal that ended it.
  func ended() -> Int32 {
    while !receive().isEmpty {}
    if status == nil {
      switch Spawning.ending(of: id) {
      case .exited(let code): status = code
      case .killed(let signal): status = 128 + signal
      case .unknown: status = -1
      }
    }
    return status ?? -1
  }

  private func receive() -> [UInt8] {
    var ready = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&ready, 1, 20_000) > 0 else { return [] }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = systemRead(controller, &buffer)
    return count > 0 ? Array(buffer[..<count]) : []
  }
}

#if canImport(Darwin)
  private let ownSession = POSIX_SPAWN_SETSID
#else
  /// POSIX_SPAWN_SETSID, which Swift's Glibc leaves out.
  private let ownSession: Int32 = 0x80
#endif

private func systemRead(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Int {
  unsafe read(descriptor, &buffer, buffer.count)
}
