import FoundationEssentials

/// Fresh directories for databases, all under one that is removed at the end.
final class Workspace {
  private let root: String
  private var count = 0

  init(in directory: String) throws {
    root = "\(directory)/cambium-benchmark-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
  }

  /// A new empty directory.
  func directory() throws -> String {
    count += 1
    let path = "\(root)/\(count)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  /// Removes a directory with what is in it.
  func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

  /// Removes everything.
  func removeAll() { remove(root) }
}
