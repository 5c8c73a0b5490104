import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The space that files take.
enum DiskSpace {
  /// The bytes that the files below a directory take on the disk.
  static func bytes(in directory: String) throws -> UInt64 {
    try FileManager.default.subpathsOfDirectory(atPath: directory).reduce(0) { bytes, path in
      var info = stat()
      guard unsafe lstat("\(directory)/\(path)", &info) == 0 else { return bytes }
      return bytes + UInt64(info.st_blocks) * 512
    }
  }
}
