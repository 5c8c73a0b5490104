// Where Linux and macOS differ. Everything else in the project is the same on both.

import CLMDB
import Dispatch

#if canImport(Glibc)
  @_exported import Glibc
#else
  @_exported import Darwin
#endif

/// What identifies the running system, so that a state written before a crash of it is not trusted.
package enum Platform {
  /// A text that differs after every start of the operating system.
  package static func bootIdentity() -> String {
    #if canImport(Glibc)
      return contents(of: "/proc/sys/kernel/random/boot_id") ?? "unknown"
    #else
      var buffer = [UInt8](repeating: 0, count: 64)
      var count = buffer.count
      guard unsafe sysctlbyname("kern.bootsessionuuid", &buffer, &count, nil, 0) == 0 else {
        return "unknown"
      }
      return String(decoding: buffer.prefix(while: { $0 != 0 }), as: UTF8.self)
    #endif
  }

  /// A text that differs after the file system that holds `path` was mounted anew.
  package static func mountIdentity(of path: String) -> String {
    #if canImport(Glibc)
      let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard descriptor >= 0 else { return "unknown" }
      defer { close(descriptor) }
      let lines = contents(of: "/proc/self/fdinfo/\(descriptor)") ?? ""
      let line = lines.split(separator: "\n").first { $0.hasPrefix("mnt_id:") }
      return line.map { String($0.dropFirst(7).drop { $0 == "\t" || $0 == " " }) } ?? "unknown"
    #else
      var info = statfs()
      guard unsafe statfs(path, &info) == 0 else { return "unknown" }
      return "\(info.f_fsid.val.0)-\(info.f_fsid.val.1)"
    #endif
  }

  /// The name of the file system of a path, if it is one that shares files between machines or
  /// through another process (H20).
  static func networkFileSystem(of path: String) -> String? {
    var info = statfs()
    guard unsafe statfs(path, &info) == 0 else { return nil }
    #if canImport(Glibc)
      let names: [UInt32: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB2",
        0x6573_5546: "FUSE", 0x0102_1997: "9p", 0x0BD0_0BD0: "Lustre", 0x00C3_6400: "Ceph",
      ]
      return names[UInt32(truncatingIfNeeded: info.f_type)]
    #else
      return info.f_flags & UInt32(MNT_LOCAL) == 0 ? "a network file system" : nil
    #endif
  }

  /// The limit for the size of files, as `getrlimit` names it.
  #if canImport(Glibc)
    static let fileSizeLimit = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
  #else
    static let fileSizeLimit = RLIMIT_FSIZE
  #endif

  /// Whether the process is alive whose number is in a name such as `verify-123.tmp`.
  package static func isRunning(processIn name: String) -> Bool {
    guard let number = Int32(name.filter(\.isNumber)) else { return false }
    return kill(number, 0) == 0 || errno == EPERM
  }

  /// A number that differs for each thread that is alive.
  package static func threadIdentity() -> UInt {
    #if canImport(Glibc)
      return UInt(pthread_self())
    #else
      return UInt(bitPattern: pthread_self())
    #endif
  }

  /// When an open file or directory was last changed, in nanoseconds since 1970; 0 if unknown.
  static func changeTime(of descriptor: Int32) -> Int64 {
    var info = stat()
    guard unsafe fstat(descriptor, &info) == 0 else { return 0 }
    #if canImport(Glibc)
      let time = info.st_ctim
    #else
      let time = info.st_ctimespec
    #endif
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Makes what was written to a file durable.
  static func flush(_ descriptor: Int32) -> Int32 {
    #if canImport(Glibc)
      return fsync(descriptor)
    #else
      return fcntl(descriptor, F_FULLFSYNC)
    #endif
  }

  /// Watches a file for writes: inotify on Linux, kqueue on macOS.
  ///
  /// - Returns: nil where the system cannot.
  static func watch(
    _ path: String, on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void
  ) -> (any DispatchSourceProtocol)? {
    #if canImport(Glibc)
      let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      guard descriptor >= 0 else { return nil }
      guard unsafe inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) >= 0 else {
        close(descriptor)
        return nil
      }
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
      source.setEventHandler {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while unsafe read(descriptor, &buffer, buffer.count) > 0 {}
        changed()
      }
    #else
      let descriptor = unsafe open(path, O_EVTONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor, eventMask: .write, queue: queue)
      source.setEventHandler(handler: changed)
    #endif
    source.setCancelHandler { close(descriptor) }
    source.resume()
    return source
  }

  #if canImport(Glibc)
    /// A small text file, without its last line feed.
    private static func contents(of path: String) -> String? {
      let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      defer { close(descriptor) }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = unsafe read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return nil }
      let text = String(decoding: buffer[..<count], as: UTF8.self)
      return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
  #endif
}
