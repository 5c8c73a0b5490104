import Foundation
import Testing

@testable import CambiumCommands

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Captures what an ``Output`` writes, by way of a file, a pipe or a pseudo-terminal.
enum Captured {
  static func text(_ body: (Output) throws -> Void) throws -> String {
    String(decoding: try bytes(body), as: UTF8.self)
  }

  static func bytes(_ body: (Output) throws -> Void) throws -> [UInt8] {
    try withFile { descriptor, contents in
      let output = Output(descriptor)
      try body(output)
      try output.finish()
      return try contents()
    }
  }

  static func withFile<R>(_ body: (Int32, () throws -> [UInt8]) throws -> R) throws -> R {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data().write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let handle = try FileHandle(forWritingTo: file)
    defer { try? handle.close() }
    return try body(handle.fileDescriptor) { Array(try Data(contentsOf: file)) }
  }

  static func pipe() throws -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [0, 0]
    let result = makePipe(&ends)
    try #require(result == 0)
    return (ends[0], ends[1])
  }

  /// Lends a terminal of 97 columns.
  static func withTerminal(_ body: (Int32) throws -> Void) throws {
    var controller: Int32 = -1
    var terminal: Int32 = -1
    var size = winsize(ws_row: 30, ws_col: 97, ws_xpixel: 0, ws_ypixel: 0)
    let result = unsafe openpty(&controller, &terminal, nil, nil, &size)
    try #require(result == 0)
    defer {
      close(terminal)
      close(controller)
    }
    try body(terminal)
  }
}

private func makePipe(_ ends: inout [Int32]) -> Int32 { unsafe pipe(&ends) }

/// Sends signals to this process, as a terminal would: to all of it, not to one thread, because
/// the threads that run tasks block signals.
enum Sender {
  static let interrupt = SIGINT
  static let terminate = SIGTERM
  static let user = SIGUSR1

  /// Sends a signal, and waits at most ten seconds until it shows.
  static func send(_ signal: Int32, until isSeen: () -> Bool) {
    kill(getpid(), signal)
    for _ in 0..<1000 where !isSeen() { usleep(10_000) }
  }
}
