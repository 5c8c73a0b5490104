// What crashes leave behind, and how it goes.

import LMDB

extension Database {
  /// A place beside a path for something half-made, with a number that nobody else takes.
  static func temporaryPath(_ path: String, _ separator: String) -> String {
    "\(path)\(separator)\(UInt64.random(in: 0...UInt64.max)).tmp"
  }

  /// Removes what a crash has left, in the directory and beside it. What somebody is at work on is
  /// locked and stays. Nothing here is in use, so what cannot be removed now goes another time.
  func sweepLeftovers() {
    if store.isReadOnly { return }
    Database.sweepCreations(of: path)
    for name in Files.names(in: path, startingWith: "") where Database.isTemporary(name) {
      try? ClaimedDirectory.removeIfAbandoned("\(path)/\(name)")
    }
    guard let used = try? store.log.read(namesInUse), !unused(except: used).isEmpty else { return }
    try? writer.exclusively(timeout: .zero) { sweepUnused() }
  }

  /// What is claimed while somebody is at work in it.
  private static func isTemporary(_ name: String) -> Bool {
    name.hasSuffix(".tmp") && ["verify-", "checkpoint-", "part-"].contains { name.hasPrefix($0) }
  }

  /// The directories of the state and the checkpoint that the log names.
  private func namesInUse(_ log: LogReader) throws -> Set<String> {
    let (state, checkpoint) = (try log.stateMark(), try log.checkpoint())
    return Set(
      [
        state.map { State.directory($0.generation) },
        checkpoint.map { Checkpoint.directory($0.sequence) },
      ].compactMap { $0 })
  }

  /// States and checkpoints that the log does not name.
  private func unused(except used: Set<String>) -> [String] {
    Files.names(in: path, startingWith: "").filter { name in
      (name.hasPrefix("state-") || name.hasPrefix("checkpoint-"))
        && !used.contains(name) && !Database.isTemporary(name)
    }
  }

  /// Removes databases that were not completed: directories that are named as such, in which there
  /// is a log at most.
  private static func sweepCreations(of path: String) {
    let prefix = "\(path.split(separator: "/").last ?? "").", parent = Files.parent(of: path)
    for name in Files.names(in: parent, startingWith: prefix) {
      let number = name.dropFirst(prefix.count).dropLast(4)
      guard name.hasSuffix(".tmp"), !number.isEmpty, number.utf8.allSatisfy({ 48...57 ~= $0 }),
        Set(["log"]).isSuperset(of: (try? Files.names(in: "\(parent)/\(name)")) ?? [""])
      else { continue }
      try? ClaimedDirectory.removeIfAbandoned("\(parent)/\(name)")
    }
  }

  /// Removes states and checkpoints that the log does not name. The writer's turn must be held:
  /// whoever names one holds it. What a killed writer has named counts, which readers may not see.
  func sweepUnused() {
    guard let used = try? store.log.readNewest(namesInUse) else { return }
    for name in unused(except: used) { try? removeState(name) }
  }

  /// Renames a state before it is removed, so that one who comes late finds it whole or not at all.
  private func removeState(_ name: String) throws {
    let going = name.hasSuffix(".tmp") ? name : "\(name).tmp"
    if name != going {
      if Files.exists("\(path)/\(going)") { try Files.removeDirectory("\(path)/\(going)") }
      try Files.rename("\(path)/\(name)", to: "\(path)/\(going)")
    }
    try Files.removeDirectory("\(path)/\(going)")
  }
}
