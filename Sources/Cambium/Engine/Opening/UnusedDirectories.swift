import LMDB

/// The states, checkpoints and baselines in a database's directory that the log does not name.
struct UnusedDirectories {
  fileprivate let path: String
  fileprivate let log: Log

  /// Their names.
  func names(_ log: LogReader) throws -> [String] {
    let used = [
      try log.stateMark().map { State.directory($0.generation) },
      try log.checkpoint().map { Checkpoint.directory($0.sequence) },
      Baseline.directory(try log.baseline()),
      Baseline.directory(try log.archiveStart()),
    ]
    return Files.names(in: path, startingWith: "").filter { name in
      UnusedDirectories.isNamedByLog(name) && !used.contains(name) && !Database.isTemporary(name)
    }
  }

  /// True for a name that the log gives to a state, a checkpoint or a baseline, and for that of an
  /// unfinished one.
  static func isNamedByLog(_ name: String) -> Bool {
    ["state-", "checkpoint-", "baseline-"].contains { name.hasPrefix($0) }
  }

  /// Removes them. The writer's turn must be held, as by every process that names one. A name that
  /// a killed writer has stored counts, although readers may not see it.
  func sweep() {
    for path in setAside() { try? Files.removeDirectory(path) }
  }

  /// Renames them, so that a late reader finds one whole or not at all. The writer's turn must be
  /// held, as for ``sweep()``.
  ///
  /// - Returns: Directories to be removed, which no caller need wait for. States are removed
  ///   already, since a new one may need the name.
  func setAside() -> [String] {
    guard let names = try? log.readNewest(names) else { return [] }
    let aside = names.compactMap { try? setAside($0) }
    for state in aside where state.isState { try? Files.removeDirectory(state.path) }
    return aside.filter { !$0.isState }.map(\.path)
  }

  private func setAside(_ name: String) throws -> (path: String, isState: Bool) {
    let aside = "\(path)/\(name.hasSuffix(".tmp") ? name : "\(name).tmp")"
    if "\(path)/\(name)" != aside {
      if Files.exists(aside) { try Files.removeDirectory(aside) }
      try Files.rename("\(path)/\(name)", to: aside)
    }
    return (aside, name.hasPrefix("state-"))
  }
}

extension OpenDirectory {
  var unused: UnusedDirectories { UnusedDirectories(path: path, log: log) }
}
