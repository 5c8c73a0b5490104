// Walking the pages of any file of LMDB, without LMDB.

import LMDB

/// The result of a walk over the pages of an LMDB file.
public struct PageExamination: Sendable {
  /// The data file.
  public let path: String
  /// The number of pages in the file.
  public internal(set) var pages: UInt64 = 0
  /// The number of pages in use.
  public internal(set) var used: UInt64 = 0
  /// The number of free pages.
  public internal(set) var free: UInt64 = 0
  /// The tables, each with its number of entries.
  public internal(set) var tables: [(name: String, entries: UInt64)] = []
  /// Descriptions of what LMDB could not have written; at most a hundred.
  public internal(set) var findings: [String] = []

  init(_ path: String) { self.path = path }
}

extension Database {
  /// Reads every page in use of a file of LMDB, ours or another program's, and says what LMDB could
  /// not have written. LMDB is not given the file, so damage cannot end the process.
  ///
  /// Writers of a database wait meanwhile. Nobody may write to another program's file, or pages
  /// that are written look damaged.
  ///
  /// - Parameters:
  ///   - path: A database, of which all files are read; an environment of LMDB; or its data file.
  ///   - options: The options, of which only ``Options/busyTimeout`` counts.
  ///   - progress: Called now and then, on this thread; false cancels.
  /// - Returns: The findings in each file. Damage is a finding, not an error.
  /// - Throws: ``DatabaseError/noDatabase(path:)`` where no such file is there,
  ///   ``DatabaseError/busy(reason:)``, `CancellationError`.
  /// - Complexity: about 0.1 s per 100 MB in use.
  public static func walkPages(
    of path: String, options: Options = Options(), progress: ProgressHandler? = nil
  ) throws -> [PageExamination] {
    let path = located(path)
    return try naming(path) {
      if LogFile(of: path).exists {
        return try withLogAtRest(path, options) {
          try dataFiles(in: path).map { try walk($0, progress) }
        }
      }
      let file = Files.isDirectory(path) ? "\(path)/data.mdb" : path
      guard Files.exists(file) else { throw DatabaseError.noDatabase(path: path) }
      return [try walk(file, progress)]
    }
  }

  /// The log's file, and those of states and checkpoints.
  private static func dataFiles(in path: String) -> [String] {
    let derived = Files.names(in: path, startingWith: "").sorted().filter {
      ($0.hasPrefix("state-") || $0.hasPrefix("checkpoint-")) && !$0.hasSuffix(".tmp")
    }
    return (["log"] + derived).map { "\(path)/\($0)/data.mdb" }.filter { Files.exists($0) }
  }

  private static func walk(_ file: String, _ progress: ProgressHandler?) throws -> PageExamination {
    var found = PageExamination(file)
    do {
      let report = try PageWalker.walk(
        file, progress: ProgressReporter(progress).telling("pages of \(file)"))
      found.pages = report.pages
      found.used = report.used
      found.free = report.free
      found.tables = report.tables.map { ($0.name, $0.entries) }
      found.findings = report.findings.map { "\($0)" }
    } catch let damage as FileDamage {
      found.findings = ["\(damage)"]
    }
    return found
  }
}
