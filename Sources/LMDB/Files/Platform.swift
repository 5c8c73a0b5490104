// The differences between Linux and macOS. Everything else in the project is the same on both.

import CLMDB
import Dispatch
import Synchronization

#if canImport(Glibc)
  @_exported import Glibc
#else
  @_exported import Darwin
#endif

/// The identity of the running system, so that a state written before it crashed is not trusted;
/// and the system calls that differ between platforms.
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

  /// A text that is the same for as long as the file system that holds `path` stays mounted.
  ///
  /// It begins with ``uniqueMount`` if no other mount since this system start has it, before or
  /// after. Otherwise the system reuses numbers that were freed, and an equal text proves nothing.
  package static func mountIdentity(of path: String) -> String {
    #if canImport(Glibc)
      guard let directory = try? Directory.open(path) else { return "unknown" }
      let unique = cambium_unique_mount_id(directory.descriptor)
      if unique > 0 { return "\(uniqueMount)\(unique)" }
      let lines = contents(of: "/proc/self/fdinfo/\(directory.descriptor)") ?? ""
      let line = lines.split(separator: "\n").first { $0.hasPrefix("mnt_id:") }
      return line.map { String($0.dropFirst(7).drop { $0 == "\t" || $0 == " " }) } ?? "unknown"
    #else
      var info = statfs()
      guard unsafe statfs(path, &info) == 0 else { return "unknown" }
      return "\(info.f_fsid.val.0)-\(info.f_fsid.val.1)"
    #endif
  }

  /// The prefix of mount identities that are never reused.
  package static let uniqueMount = "unique "

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

  /// The largest file that this process may write.
  static var fileBytesMax: UInt64 {
    var limit = rlimit()
    guard unsafe getrlimit(fileSizeLimit, &limit) == 0 else { return .max }
    return UInt64(limit.rlim_cur)
  }

  /// The limit for the size of files, as `getrlimit` names it.
  #if canImport(Glibc)
    static let fileSizeLimit = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
  #else
    static let fileSizeLimit = RLIMIT_FSIZE
  #endif

  /// A text that is the same for two processes exactly if they see each other's numbers.
  package static func namespaceIdentity() -> String {
    #if canImport(Glibc)
      // The system's own link, which must be followed.
      var info = stat()
      let isKnown = unsafe stat("/proc/self/ns/pid", &info) == 0
      return "\(bootIdentity()) \(isKnown ? "\(info.st_dev) \(info.st_ino)" : "unknown")"
    #else
      return bootIdentity()
    #endif
  }

  /// Locks one byte of an open file, shared with others, for as long as the file is open.
  ///
  /// - Returns: False while another byte is locked; true also if the file system has no locks.
  static func lockShared(_ descriptor: Int32, byte: Int64) -> Bool {
    // First the lock, then the check: of two processes that come at the same time, at least one
    // sees the other.
    _ = lock(descriptor, setLock, F_RDLCK, from: byte, count: 1)
    let before = lock(descriptor, getLock, F_WRLCK, from: 0, count: byte)
    let after = lock(descriptor, getLock, F_WRLCK, from: byte + 1, count: 0)
    return before != F_RDLCK && after != F_RDLCK
  }

  /// True if a part of an open file is locked through another descriptor. Takes no lock.
  static func isLocked(_ descriptor: Int32) -> Bool {
    lock(descriptor, getLock, F_WRLCK, from: 0, count: 0) == F_RDLCK
  }

  /// True unless it is certain that no part of an open file is locked through another descriptor.
  static func mayBeLocked(_ descriptor: Int32) -> Bool {
    #if canImport(Glibc)
      return lock(descriptor, getLock, F_WRLCK, from: 0, count: 0) != F_UNLCK
    #else
      return true
    #endif
  }

  /// Shares the lock of all of an open file.
  ///
  /// - Returns: False while another has locked it alone.
  static func lockShared(_ descriptor: Int32) -> Bool {
    lock(descriptor, setLock, F_RDLCK, from: 0, count: 0) != -1
  }

  /// Locks all of an open file.
  ///
  /// - Returns: False while others have locked a part of it.
  static func lockAlone(_ descriptor: Int32) -> Bool {
    lock(descriptor, setLock, F_WRLCK, from: 0, count: 0) != -1
  }

  /// Linux's commands for locks of the open file (F_OFD_GETLK, F_OFD_SETLK), which Glibc's module
  /// leaves out.
  private static let (getLock, setLock): (Int32, Int32) = (36, 37)

  /// Locks a part of an open file, or asks for its lock; without effect where there are no locks of
  /// the open file.
  ///
  /// - Returns: The lock type that the system has filled in, or -1 if the call failed.
  private static func lock(
    _ descriptor: Int32, _ command: Int32, _ type: Int32, from start: Int64, count: Int64
  ) -> Int32 {
    #if canImport(Glibc)
      var lock = flock()
      lock.l_type = Int16(type)
      lock.l_whence = Int16(SEEK_SET)
      lock.l_start = off_t(start)
      lock.l_len = off_t(count)
      return unsafe fcntl(descriptor, command, &lock) == 0 ? Int32(lock.l_type) : -1
    #else
      return Int32(F_UNLCK)
    #endif
  }

  /// A number that differs for each living thread.
  package static func threadIdentity() -> UInt {
    #if canImport(Glibc)
      return UInt(pthread_self())
    #else
      return UInt(bitPattern: pthread_self())
    #endif
  }

  /// A number that differs between a process and the children that `fork` makes of it. A process
  /// that is made by a bare system call has the number of its parent.
  ///
  /// It is a load, where the number of the process is a system call, which every commit would make
  /// several times.
  static var forks: Int {
    noticesForks ? forkCount.load(ordering: .relaxed) : Int(getpid())
  }

  private static let forkCount = Atomic<Int>(0)

  /// Has forks counted in the child; false if the system cannot do that.
  private static let noticesForks =
    pthread_atfork(nil, nil) { forkCount.add(1, ordering: .relaxed) } == 0

  /// The time of the last change of an open file or directory, in nanoseconds since 1970; 0 if
  /// unknown. Past April 2262 the number wraps, so only differences are meaningful.
  static func changeTime(of descriptor: Int32) -> Int64 {
    var info = stat()
    guard unsafe fstat(descriptor, &info) == 0 else { return 0 }
    #if canImport(Glibc)
      let time = info.st_ctim
    #else
      let time = info.st_ctimespec
    #endif
    return nanoseconds(Int64(time.tv_sec), Int64(time.tv_nsec))
  }

  /// The time of day, in the units of ``changeTime(of:)``.
  static func wallNanoseconds() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return nanoseconds(Int64(time.tv_sec), Int64(time.tv_nsec))
  }

  /// A time in nanoseconds, modulo 2 to the 64th.
  static func nanoseconds(_ seconds: Int64, _ rest: Int64) -> Int64 {
    seconds &* 1_000_000_000 &+ rest
  }

  /// Allocates disk blocks for the first bytes of an open file; its size and content stay the same.
  ///
  /// - Returns: 0, or the system's error: `EOPNOTSUPP` if the system or the file system cannot.
  static func allocate(_ descriptor: Int32, bytes: Int) -> Int32 {
    #if canImport(Glibc)
      while cambium_allocate(descriptor, Int64(bytes)) != 0 {
        let code = errno
        if code != EINTR { return code }
      }
      return 0
    #else
      return EOPNOTSUPP
    #endif
  }

  /// Makes an empty file share all blocks of another, both open. A block is copied once written.
  ///
  /// - Returns: 0, or the system's error: `EOPNOTSUPP` and others where the file system cannot.
  static func clone(_ source: Int32, into target: Int32) -> Int32 {
    #if canImport(Glibc)
      while cambium_clone(target, source) != 0 {
        let code = errno
        if code != EINTR { return code }
      }
      return 0
    #else
      return EOPNOTSUPP
    #endif
  }

  /// Makes what was written to a file durable.
  static func flush(_ descriptor: Int32) -> Int32 {
    #if canImport(Glibc)
      return fsync(descriptor)
    #else
      return fcntl(descriptor, F_FULLFSYNC)
    #endif
  }

  /// Makes the content of a file durable whose size has not changed.
  static func flushContent(_ descriptor: Int32) -> Int32 {
    #if canImport(Glibc)
      return fdatasync(descriptor)
    #else
      return flush(descriptor)
    #endif
  }

  /// Watches a file for writes: inotify on Linux, kqueue on macOS.
  ///
  /// - Returns: nil if the system cannot watch files.
  static func watch(
    _ path: String, on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void
  ) -> (any DispatchSourceProtocol)? {
    #if canImport(Glibc)
      let watched = UInt32(IN_MODIFY) | 0x0200_0000  // IN_DONT_FOLLOW, which Glibc's module lacks
      let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      guard descriptor >= 0 else { return nil }
      guard unsafe inotify_add_watch(descriptor, path, watched) >= 0 else {
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
      let descriptor = unsafe open(path, O_EVTONLY | O_NOFOLLOW | O_CLOEXEC)
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
