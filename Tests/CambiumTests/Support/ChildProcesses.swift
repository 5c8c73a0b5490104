import Cambium
import Foundation
import Testing

@testable import LMDB

/// Files by which processes tell each other where they are.
enum Signal {
  static func send(_ path: String) throws { try Data().write(to: URL(filePath: path)) }

  /// Waits for a file, at most a minute, and blocks the thread meanwhile: for other processes.
  static func wait(for path: String) throws {
    for _ in 0..<60_000 where !Files.exists(path) { usleep(1000) }
    try #require(Files.exists(path), "nobody has made \(path)")
  }

  /// Waits for a file, at most a minute.
  static func arrival(of path: String) async throws {
    let isThere = try await eventually(seconds: 60) { Files.exists(path) }
    try #require(isThere, "nobody has made \(path)")
  }
}

extension Database {
  /// The synchronous `write`, for bodies that may wait.
  @discardableResult
  func commit<R>(_ body: (borrowing Database.Transaction) throws -> R) throws -> R {
    try write(body)
  }
}

/// Ends this process a moment later, as the system would.
func killAfter(milliseconds: Int) {
  Thread.detachNewThread {
    usleep(UInt32(milliseconds * 1000))
    kill(getpid(), SIGKILL)
  }
}

/// `fork`, which Swift does not offer, since hardly anything works in such a child.
enum Forking {
  private typealias Function = @convention(c) () -> pid_t

  static func fork() -> pid_t? {
    guard let symbol = unsafe dlsym(nil, "fork") else { return nil }
    return unsafe unsafeBitCast(symbol, to: Function.self)()
  }

  /// Waits for a child and returns how it ended; 0 for success.
  static func status(of child: pid_t) -> Int32 {
    var status: Int32 = -1
    while unsafe waitpid(child, &status, 0) < 0 && errno == EINTR {}
    return status
  }
}

/// The largest file that this process may write, which stands in for a full disk.
enum FileSizeLimit {
  static func set(_ bytes: UInt64?) throws {
    _ = signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit()
    try #require(unsafe getrlimit(Platform.fileSizeLimit, &limit) == 0)
    limit.rlim_cur = bytes.map { rlim_t($0) } ?? limit.rlim_max
    try #require(unsafe setrlimit(Platform.fileSizeLimit, &limit) == 0)
  }
}

/// Makes every write to an environment's file fail, until it is mended: the system answers so, and
/// LMDB is none the wiser.
final class BrokenFile {
  enum Fault: String {
    case full = "/dev/full"
    /// Nothing is mapped at the low addresses that pages have as offsets, so that a write is
    /// answered with EIO.
    case inputOutput = "/proc/self/mem"
  }

  private let descriptor: Int32
  private let sound: Int32

  convenience init(_ environment: Environment, _ fault: Fault) throws {
    try self.init(try environment.dataDescriptor(), fault)
  }

  init(_ descriptor: Int32, _ fault: Fault) throws {
    self.descriptor = descriptor
    sound = dup(descriptor)
    let broken = unsafe open(fault.rawValue, O_RDWR)
    try #require(sound >= 0 && broken >= 0)
    try #require(dup2(broken, descriptor) == descriptor)
    close(broken)
  }

  func mend() throws { try #require(dup2(sound, descriptor) == descriptor) }

  deinit { close(sound) }
}
