// Directories for work that is published at its end or thrown away, and the state that is folded in
// one of them.

import LMDB

extension Database {
  /// Lends a new directory, whose path begins with a prefix; it is removed afterwards with all that
  /// is left in it. It is claimed, so that a sweep knows whether it was abandoned.
  static func withTemporaryDirectory<R>(
    _ prefix: String, _ separator: String = "-", _ permissions: Files.Permissions = .asParent,
    _ body: (_ path: String) throws -> R
  ) throws -> R {
    let claim = try ClaimedDirectory(creating: temporaryPath(prefix, separator), permissions)
    defer { try? Files.removeDirectory(claim.path) }
    return try body(claim.path)
  }

  /// Lends a new directory inside a database's; where that is open for reading only, one in
  /// `TMPDIR` that only its owner can read.
  static func withScratch<R>(
    of directory: OpenDirectory, _ name: String, _ body: (_ path: String) throws -> R
  ) throws -> R {
    let isReadOnly = directory.isReadOnly
    return try withTemporaryDirectory(
      "\(isReadOnly ? Files.temporaryDirectory : directory.path)/\(name)", "-",
      isReadOnly ? .ownerOnly : .asParent, body)
  }

  static func checkIsNew(_ path: String) throws {
    if Files.exists(path) {
      throw DatabaseError.misuse(reason: "\(path) exists already; choose a new path")
    }
  }
}

extension OpenDirectory {
  /// A state of the newest baseline, to fold on from, in an empty directory.
  func scratchState(in place: String) throws -> State {
    try Baseline.current(self)?.makeState(in: place)
    return try State(at: place, generation: 0, options.environment(readOnly: false))
  }
}
