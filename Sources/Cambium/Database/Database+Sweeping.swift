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
    for name in Files.names(in: path, startingWith: "verify-") where name.hasSuffix(".tmp") {
      try? ClaimedDirectory.removeIfAbandoned("\(path)/\(name)")
    }
    guard let own = try? store.log.read({ try $0.stateMark() })?.generation,
      Files.names(in: path, startingWith: "state-").contains(where: { $0 != State.directory(own) })
    else { return }
    try? writer.exclusively(timeout: .zero) {
      let mark = try store.log.read { try $0.stateMark() }
      sweepStates(except: mark?.generation)
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

  /// Removes states that are not in use. The writer's turn must be held: whoever makes a state
  /// holds it.
  func sweepStates(except generation: UInt64?) {
    for name in Files.names(in: path, startingWith: "state-") {
      if name == generation.map({ State.directory($0) }) { continue }
      try? removeState(name)
    }
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
