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
    guard let unused = try? directory.log.read(directory.unused.names), !unused.isEmpty else {
      return
    }
    try? writer.exclusively(timeout: .zero) { directory.unused.sweep() }
  }

  /// True for the name of a temporary directory, which is locked while a process is working in it.
  static func isTemporary(_ name: String) -> Bool {
    name.hasSuffix(".tmp")
      && ["verify-", "checkpoint-", "part-", "past-", "baseline-", "vacuum-", "erase-"]
        .contains { name.hasPrefix($0) }
  }

  /// Removes databases that were not completed: they contain at most a log and a baseline, and a
  /// branch what it shares besides.
  private static func sweepCreations(of path: String) {
    sweepCreations(of: path) { name in
      name == "log" || ["baseline-", "checkpoint-", "state-"].contains { name.hasPrefix($0) }
    }
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

extension Database {
  /// Resolves a path that a user gave, and removes slashes at its end: links in it are followed
  /// here, and nowhere else.
  static func located(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return Files.resolved(path)
  }
}
