import LMDB
import Testing

/// A file system of a few megabytes in memory, which goes when the test lets go of it.
final class SmallDisk: Sendable {
  private let directory: TemporaryDirectory
  let path: String

  /// True if this process may mount.
  static let isAvailable: Bool = (try? SmallDisk(bytes: 1 << 20)) != nil

  init(bytes: Int) throws {
    directory = try TemporaryDirectory()
    path = "\(directory.path)/disk"
    try Files.createDirectory(path)
    let code = unsafe "size=\(bytes)".withCString {
      unsafe mount("tmpfs", path, "tmpfs", 0, $0)
    }
    try #require(code == 0, "it takes the right to mount")
  }

  deinit { _ = unsafe umount2(path, Int32(MNT_DETACH)) }
}

/// Takes room on a small disk, so that only some is left.
enum Ballast {
  /// Fills up the disk until so many bytes are free.
  static func fill(_ disk: String, leaving bytes: Int) throws {
    try remove(disk)
    let free = Int(Files.freeBytes(at: disk) ?? 0)
    guard free > bytes else { return }
    let descriptor = unsafe open("\(disk)/ballast", O_WRONLY | O_CREAT | O_EXCL, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    #expect(posix_fallocate(descriptor, 0, off_t(free - bytes)) == 0)
  }

  static func remove(_ disk: String) throws {
    if Files.exists("\(disk)/ballast") { try Files.remove("\(disk)/ballast") }
  }
}
