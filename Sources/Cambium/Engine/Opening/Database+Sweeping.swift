// Removal of the remains of crashes.

import LMDB

extension Database {
  /// A path beside another for something unfinished, with a number that no other process uses.
  static func temporaryPath(_ path: String, _ separator: String) -> String {
    "\(path)\(separator)\(UInt64.random(in: 0...UInt64.max)).tmp"
  }

  /// Removes the remains of a crash, in the directory and beside it. A directory in which a process
  /// is working is locked and stays. Nothing here is in use, so anything that cannot be removed now
  /// is removed another time.
  func sweepLeftovers() {
    if directory.isReadOnly { return }
    Database.sweepCreations(of: path)
    for name in Files.names(in: path, startingWith: "") where Database.isTemporary(name) {
      try? ClaimedDirectory.removeIfAbandoned("\(path)/\(name)")
    }
    guard let used = try? directory.log.read(directory.namesInUse),
      !directory.unused(except: used).isEmpty
    else { return }
    try? writer.exclusively(timeout: .zero) { directory.sweepUnused() }
  }

  /// True for the name of a temporary directory, which is locked while a process is working in it.
  fileprivate static func isTemporary(_ name: String) -> Bool {
    name.hasSuffix(".tmp")
      && ["verify-", "checkpoint-", "part-", "baseline-", "vacuum-", "erase-"]
        .contains { name.hasPrefix($0) }
  }

  /// Removes databases that were not completed: they contain at most a log and a baseline.
  private static func sweepCreations(of path: String) {
    sweepCreations(of: path) { $0 == "log" || $0.hasPrefix("baseline-") }
  }

  /// Removes unfinished directories beside a path: those named by ``temporaryPath(_:_:)`` that
  /// contain only expected entries.
  static func sweepCreations(of path: String, holding canBeThere: (String) -> Bool) {
    let prefix = "\(Files.name(of: path)).", parent = Files.parent(of: path)
    for name in Files.names(in: parent, startingWith: prefix) {
      let number = name.dropFirst(prefix.count).dropLast(4)
      guard name.hasSuffix(".tmp"), !number.isEmpty, number.utf8.allSatisfy({ 48...57 ~= $0 }),
        let parts = try? Files.names(in: "\(parent)/\(name)"), parts.allSatisfy(canBeThere)
      else { continue }
      try? ClaimedDirectory.removeIfAbandoned("\(parent)/\(name)")
    }
  }
}

extension OpenDirectory {
  /// The directories that the log names.
  fileprivate func namesInUse(_ log: LogReader) throws -> Set<String> {
    Set(
      [
        try log.stateMark().map { State.directory($0.generation) },
        try log.checkpoint().map { Checkpoint.directory($0.sequence) },
        Baseline.directory(try log.baseline()),
        Baseline.directory(try log.archiveStart()),
      ].compactMap { $0 })
  }

  /// States, checkpoints and baselines that the log does not name.
  fileprivate func unused(except used: Set<String>) -> [String] {
    Files.names(in: path, startingWith: "").filter { name in
      OpenDirectory.isNamedByLog(name) && !used.contains(name) && !Database.isTemporary(name)
    }
  }

  /// True for a name that the log gives to a state, a checkpoint or a baseline, and for that of an
  /// unfinished one.
  static func isNamedByLog(_ name: String) -> Bool {
    ["state-", "checkpoint-", "baseline-"].contains { name.hasPrefix($0) }
  }

  /// Removes directories that the log does not name. The writer's turn must be held, as by every
  /// process that names one. A name that a killed writer has stored counts, although readers may
  /// not see it.
  func sweepUnused() {
    for path in setUnusedAside() { try? Files.removeDirectory(path) }
  }

  /// Renames directories that the log does not name, so that a late reader finds one whole or not
  /// at all. The writer's turn must be held, as for ``sweepUnused()``.
  ///
  /// - Returns: Directories to be removed, which no caller need wait for. States are removed
  ///   already, since a new one may need the name.
  func setUnusedAside() -> [String] {
    guard let used = try? log.readNewest(namesInUse) else { return [] }
    let aside = unused(except: used).compactMap { try? setAside($0) }
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

extension Database {
  /// Resolves a path that a user gave, and removes slashes at its end: links in it are followed
  /// here, and nowhere else.
  static func located(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return Files.resolved(path)
  }
}
