import CZstd
import Dispatch
import FoundationEssentials
import Glibc

/// The services of the operating system that the harness uses.
enum System {
  /// Opens a file, which is made where it is not there.
  static func open(_ path: String, isAppended: Bool) throws -> Int32 {
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | (isAppended ? O_APPEND : 0)
    let descriptor = unsafe Glibc.open(path, flags, 0o644)
    guard descriptor >= 0 else { throw Failure("cannot open \(path): \(message)") }
    return descriptor
  }

  /// Writes a text; failing is no harm, since the checker then demands less.
  static func write(_ text: String, to descriptor: Int32) {
    let bytes = Array(text.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }

  /// Prints a line at once, so that a long run can be followed.
  static func tell(_ line: String) { write(line + "\n", to: 1) }

  static var message: String { unsafe String(cString: strerror(errno)) }

  /// The whole content of a file; empty where there is none.
  static func read(_ path: String) -> [UInt8] {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var info = stat()
    guard unsafe fstat(descriptor, &info) == 0, info.st_size > 0 else { return [] }
    let size = Int(info.st_size)
    return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = unsafe max(0, pread(descriptor, buffer.baseAddress, size, 0))
    }
  }

  /// The first place of some bytes among others; nil where they are not there.
  static func place(of pattern: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
    unsafe bytes.withUnsafeBytes { all in
      unsafe pattern.withUnsafeBytes { pattern in
        guard let start = all.baseAddress, let wanted = pattern.baseAddress
        else { return nil }
        var offset = 0
        while offset + pattern.count <= all.count {
          let rest = all.count - pattern.count - offset + 1
          guard let found = unsafe memchr(start + offset, Int32(pattern[0]), rest)
          else { return nil }
          offset = unsafe UnsafeRawPointer(found) - start
          if unsafe memcmp(found, wanted, pattern.count) == 0 { return bytes.startIndex + offset }
          offset += 1
        }
        return nil
      }
    }
  }

  /// The content of the frame of zstd that begins there; empty where none does.
  static func decompressed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    unsafe bytes.withUnsafeBytes { bytes in
      let size = unsafe ZSTD_findFrameCompressedSize(bytes.baseAddress, bytes.count)
      if ZSTD_isError(size) != 0 { return [] }
      let room = unsafe ZSTD_getFrameContentSize(bytes.baseAddress, size)
      guard room < 1 << 26 else { return [] }
      return unsafe [UInt8](unsafeUninitializedCapacity: Int(room)) { content, count in
        let filled = unsafe ZSTD_decompress(
          content.baseAddress, content.count, bytes.baseAddress, size)
        count = ZSTD_isError(filled) == 0 ? filled : 0
      }
    }
  }

  /// Makes a file of certain bytes and patches, of exactly `size` bytes.
  static func makeFile(
    _ path: String, _ bytes: ArraySlice<UInt8>, _ patches: [(Int, ArraySlice<UInt8>)], size: Int
  ) throws {
    let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw Failure("cannot make \(path): \(message)") }
    defer { close(descriptor) }
    for (offset, bytes) in [(0, bytes)] + patches {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset))
      }
      guard count == bytes.count else { throw Failure("cannot fill \(path): \(message)") }
    }
    guard ftruncate(descriptor, off_t(size)) == 0 else { throw Failure("cannot size \(path)") }
  }

  static func makeDirectory(_ path: String) throws {
    guard unsafe mkdir(path, 0o755) == 0 || errno == EEXIST else {
      throw Failure("cannot make \(path): \(message)")
    }
  }

  /// A path without its last part.
  static func directory(of path: String) -> String {
    path.split(separator: "/").dropLast().joined(separator: "/")
  }

  static func exists(_ path: String) -> Bool {
    var info = stat()
    return unsafe lstat(path, &info) == 0
  }

  /// Removes a directory with all below it, where it is there.
  static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

  /// Mounts a file system of some bytes, in memory.
  static func mountMemory(_ path: String, bytes: Int) throws {
    let options = "size=\(bytes)"
    let code = unsafe options.withCString { unsafe mount("tmpfs", path, "tmpfs", 0, $0) }
    guard code == 0 else { throw Failure("it needs the right to mount (\(message))") }
  }

  /// Takes a file system away, also while files in it are open.
  static func unmount(_ path: String) { _ = unsafe umount2(path, Int32(MNT_DETACH)) }

  /// Ends this process with SIGALRM after some seconds; zero calls that off.
  static func limit(seconds: Int) { alarm(UInt32(seconds)) }

  /// The processors that may be used.
  static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// Ends this process as the system would.
  static func die() { kill(getpid(), SIGKILL) }

  static func sleep(milliseconds: Int) { usleep(UInt32(milliseconds) * 1000) }

  /// Calls back, instead of ending this process, when someone asks it to end. Processes that are
  /// started afterwards are not ended either.
  ///
  /// - Returns: The sources, to be kept as long as the call is wanted.
  static func whenAskedToEnd(_ body: @escaping @Sendable () -> Void) -> [any DispatchSourceSignal] {
    [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler(handler: body)
      source.resume()
      return source
    }
  }

  static var processNumber: Int32 { getpid() }

  /// Notes numbers in a file, which shows how far this process has come, also after it was killed.
  static func note(_ numbers: [UInt64], in descriptor: Int32) {
    _ = unsafe numbers.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
  }

  /// A number that was noted, counted from zero.
  static func noted(_ index: Int, in path: String) -> UInt64 {
    let bytes = read(path).dropFirst(index * 8).prefix(8)
    return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// The reason why the harness cannot do its work; not a violation.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
