#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// An open file that can be read at any place, and so more than once.
///
/// An input that can be read only once, such as a pipe, is copied to a temporary file without a
/// name, which vanishes when this is closed, whatever happens to the process.
package struct InputFile: ~Copyable {
  private let descriptor: OpenDescriptor
  /// The offset at which the input starts: not 0 for a standard input of which a part was read
  /// before.
  private let base: off_t
  /// The input's length in bytes, as far as the system knows it.
  package let size: UInt64

  /// Opens a file by its path.
  package init(path: String) throws(InputError) {
    let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { throw .system("cannot be opened", path) }
    try self.init(OpenDescriptor(number: number), name: path)
  }

  /// Shares a descriptor that stays open when this is closed.
  package init(sharing number: Int32, name: String) throws(InputError) {
    let number = fcntl(number, F_DUPFD_CLOEXEC, 3)
    guard number >= 0 else { throw .system("cannot be read", name) }
    try self.init(OpenDescriptor(number: number), name: name)
  }

  private init(_ descriptor: consuming OpenDescriptor, name: String) throws(InputError) {
    let file = try InputFile.seekable(descriptor, name)
    let end = try file.status(name).st_size
    base = max(0, lseek(file.number, 0, SEEK_CUR))
    size = UInt64(max(0, end - base))
    self.descriptor = file
  }

  private static func seekable(
    _ descriptor: consuming OpenDescriptor, _ name: String
  ) throws(InputError) -> OpenDescriptor {
    switch try descriptor.status(name).st_mode & S_IFMT {
    case S_IFREG: return descriptor
    case S_IFDIR: throw InputError(input: name, place: nil, reason: "is a folder; expected a file")
    default: return try Spool.copy(descriptor, name)
    }
  }

  /// Reads bytes of the input from `offset` on into the end of a buffer; 0 at the input's end.
  package func read(
    into buffer: inout [UInt8], from start: Int, at offset: UInt64, _ name: String
  ) throws(InputError) -> Int {
    let (number, place) = (descriptor.number, base + off_t(offset))
    let count = retried {
      unsafe buffer.withUnsafeMutableBytes { bytes in
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[start...])
        return unsafe pread(number, room.baseAddress, room.count, place)
      }
    }
    if count < 0 { throw .system("cannot be read", name) }
    return count
  }
}

/// A descriptor, closed exactly once: the type is noncopyable. It is not private, since a release
/// build for tests refers to it where an input is destroyed, in other modules.
struct OpenDescriptor: ~Copyable {
  let number: Int32

  init(number: Int32) { self.number = number }

  deinit { _ = close(number) }

  func status(_ name: String) throws(InputError) -> stat {
    var status = stat()
    guard unsafe fstat(number, &status) == 0 else { throw .system("cannot be read", name) }
    return status
  }
}

/// Copies an input that can be read only once.
private enum Spool {
  static func copy(
    _ input: borrowing OpenDescriptor, _ name: String
  ) throws(InputError) -> OpenDescriptor {
    let folder = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    let file = try temporaryFile(in: folder)
    let number = input.number
    var buffer = [UInt8](repeating: 0, count: ByteSource.bufferBytes)
    while true {
      let count = retried { unsafe systemRead(number, &buffer, buffer.count) }
      if count < 0 { throw .system("cannot be read", name) }
      if count == 0 { break }
      try write(buffer[..<count], to: file, folder)
    }
    _ = lseek(file.number, 0, SEEK_SET)
    return file
  }

  private static func temporaryFile(in folder: String) throws(InputError) -> OpenDescriptor {
    var template = Array("\(folder)/cambium-XXXXXX".utf8CString)
    let number = unsafe mkstemp(&template)
    guard number >= 0 else { throw failure("no temporary file can be made there", folder) }
    _ = unsafe unlink(template)
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    return OpenDescriptor(number: number)
  }

  private static func write(
    _ bytes: ArraySlice<UInt8>, to file: borrowing OpenDescriptor, _ folder: String
  ) throws(InputError) {
    let number = file.number
    var rest = bytes
    while !rest.isEmpty {
      let count = retried {
        unsafe rest.withUnsafeBytes { unsafe systemWrite(number, $0.baseAddress, $0.count) }
      }
      if count <= 0 { throw failure("the input cannot be copied there", folder) }
      rest = rest.dropFirst(count)
    }
  }

  private static func failure(_ what: String, _ folder: String) -> InputError {
    var error = InputError.system(what, folder)
    error.hint = "set TMPDIR to a folder with room for the whole input"
    return error
  }
}

/// Repeats a system call that a signal interrupted.
private func retried(_ call: () -> Int) -> Int {
  while true {
    let result = call()
    if result >= 0 || errno != EINTR { return result }
  }
}

private func systemRead(_ number: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(number, bytes, count)
}

private func systemWrite(_ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  unsafe write(number, bytes, count)
}

extension InputError {
  /// An error that `errno` explains.
  fileprivate static func system(_ what: String, _ input: String) -> InputError {
    let code = errno
    let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    return InputError(input: input, place: nil, reason: "\(what): \(reason)")
  }
}
