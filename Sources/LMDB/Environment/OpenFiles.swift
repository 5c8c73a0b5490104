import Synchronization

/// Notices that a file of an open environment was replaced or removed, before the next write (H10).
///
/// Looking a file up by its path costs 3 µs, which every commit would pay several times. A
/// directory's modification time changes whenever one of its entries does, and reading it takes a
/// tenth of that. So the paths are looked up only after the directory has changed.
final class OpenFiles: Sendable {
  private let directory: Directory
  private let files: [(path: String, identity: Files.Identity)]
  /// The directory's time when the files were last seen in place; 0 while that is unknown.
  private let seen = Atomic<Int64>(0)

  /// Remembers which files have these names in a directory.
  init(_ names: [String], in directory: Directory) {
    self.directory = directory
    files = names.compactMap { name in
      let entry = DirectoryEntry(directory, name)
      return entry.identity.map { (entry.path, $0) }
    }
  }

  /// The path of a file that is no longer in place, or nil.
  func replaced() -> String? {
    let time = Platform.changeTime(of: directory.descriptor)
    if time != 0, time == seen.load(ordering: .relaxed) { return nil }
    for file in files where OpenFiles.identity(of: file.path) != file.identity { return file.path }
    // A recent time may hide a second change.
    if OpenFiles.isSettled(time, now: Platform.wallNanoseconds()) {
      seen.store(time, ordering: .relaxed)
    }
    return nil
  }

  /// The identity of the file at a path, by one system call that opens nothing: a link on the way
  /// does no harm, and a link in the file's place counts as another file.
  private static func identity(of path: String) -> Files.Identity? {
    var info = stat()
    return unsafe lstat(path, &info) == 0 ? Files.Identity(info) : nil
  }

  /// True for a change so long ago that a second one would have another time. Both may have
  /// wrapped.
  ///
  /// A file system takes its times from a tick of the system, of 10 ms at most, and keeps them with
  /// its own precision: FAT to two seconds, HFS+ to one, most others to less than a tick. A time
  /// with a fraction of a second is from one that keeps such.
  static func isSettled(_ change: Int64, now: Int64) -> Bool {
    now &- change > (change % 1_000_000_000 == 0 ? 2_000_000_000 : 50_000_000)
  }
}
