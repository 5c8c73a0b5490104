// Giving free pages back.
//
// LMDB keeps the pages that are free and uses them again, so its files never shrink. Where much was
// dropped, each file is copied without them:
//
//     data.mdb ──copied──▶ vacuum-<random>.tmp ──synced, walked──▶ renamed over data.mdb
//
// A file that is replaced under a process that has it open would be two files, so this is done only
// while nobody has, and the turn to write is held from before the copy until after the renaming. A
// crash leaves the one file or the other, and both say the same.

import LMDB

/// The sizes of a database's files before and after a vacuum.
public struct Vacuum: Hashable, Sendable {
  /// The sizes of the log's and the state's files before, in bytes.
  public internal(set) var bytesBefore: UInt64 = 0
  /// The sizes of both files now.
  public internal(set) var bytesAfter: UInt64 = 0
}

extension Database {
  /// Gives the free pages of a database's files back to the file system.
  ///
  ///     try Database.vacuum(at: "shop.cambium")
  ///
  /// - Parameters:
  ///   - path: The directory of a database that is not open, in this or any other process.
  ///   - options: The options to open it with, among them the time to wait for a writer.
  /// - Returns: The sizes before and after.
  /// - Throws: ``DatabaseError/alreadyOpen(path:)`` and ``DatabaseError/busy(reason:)`` where it is
  ///   open, ``DatabaseError/noDatabase(path:)``, ``DatabaseError/corrupt(reason:)``,
  ///   ``DatabaseError/full(reason:)``. Each file is then the old one or the new one, and whole.
  /// - Complexity: reads and writes each page in use once; needs disk space for a second log.
  @discardableResult
  public static func vacuum(at path: String, options: Options = Options()) throws -> Vacuum {
    let path = located(path)
    return try naming(path) {
      try withLogAtRest(path, options) { try VacuumRun(path: path, options: options).run() }
    }
  }
}

private struct VacuumRun {
  let path: String
  let options: Database.Options

  func run() throws -> Vacuum {
    var result = Vacuum()
    let log = try Log(at: "\(path)/log", options.environment(readOnly: false))
    let mark: StateMark?
    do {
      defer { log.close() }
      try log.check()
      mark = try log.read { try $0.stateMark() }
      // The copy has no tail, and is compared with the file.
      try log.amend { try $0.removeEntry("tail") }
      try replace("log", &result) {
        try log.copy(to: $0, options.environment(readOnly: false))
        log.close()
      }
    }
    if let mark, mark.isTrusted(boot: boot, mount: mount), mark.fold == StateMark.foldNumber {
      try replaceState(mark, &result)
    }
    return result
  }

  private var boot: String { options.systemStart ?? Platform.bootIdentity() }
  private var mount: String { options.mountIdentity ?? Platform.mountIdentity(of: path) }

  private func replaceState(_ mark: StateMark, _ result: inout Vacuum) throws {
    let name = State.directory(mark.generation)
    let state = try State(
      at: "\(path)/\(name)", generation: mark.generation, options.environment(readOnly: false))
    defer { state.environment.close() }
    try replace(name, &result) { directory in
      try EnvironmentCopy(of: state.environment, to: "\(directory)/data.mdb").run()
      state.environment.close()
    }
  }

  /// Puts a copy in the place of an environment's file; `copy` makes it and closes the environment.
  private func replace(
    _ name: String, _ result: inout Vacuum, _ copy: (_ directory: String) throws -> Void
  ) throws {
    try Database.withTemporaryDirectory("\(path)/vacuum") { directory in
      let (old, new) = ("\(path)/\(name)/data.mdb", "\(directory)/data.mdb")
      let before = try PageWalker.walk(old)
      try copy(directory)
      try check(try PageWalker.walk(new), against: before, name)
      try Files.sync(new)
      result.bytesBefore += Files.size(of: old)
      result.bytesAfter += Files.size(of: new)
      guard Files.isUnused(old) else {
        throw DatabaseError.busy(reason: "another process has \(path) open; close it there first")
      }
      if name == "log" {
        try LogFile(of: path).replace(with: new)
      } else {
        try Files.replace(old, with: new)
      }
      try Files.sync("\(path)/\(name)")
    }
  }

  /// Compares what a copy's pages hold with what the file's did.
  private func check(
    _ copy: PageWalker.Report, against old: PageWalker.Report, _ name: String
  ) throws {
    if let finding = (old.findings + copy.findings).first {
      throw DatabaseError.corrupt(reason: "\(name): \(finding)")
    }
    func entries(_ report: PageWalker.Report) -> [String: UInt64] {
      report.tables.reduce(into: [:]) { $0[$1.name] = $1.entries }
    }
    guard entries(copy) == entries(old) else {
      throw DatabaseError.corrupt(reason: "a copy of \(name) does not hold what it should")
    }
  }
}
