import LMDB

/// The size of the database that a workload leaves: the pages in use of log and state, the depth of
/// the deepest tree, and the segments of the archive.
struct Shape: CustomStringConvertible {
  private var parts: [String] = []

  /// Looks at the files of a database that nobody writes.
  init(_ database: String) throws {
    let names = try Files.names(in: database).sorted()
    for name in names where name == "log" || name.hasPrefix("state-") {
      let file = "\(database)/\(name)/data.mdb"
      guard System.exists(file) else { continue }
      let usage = try PageUsage(of: file)
      let depth = usage.tables.map(\.tree.depth).max() ?? 0
      var part = "\(name) \(usage.usedBytes / 4096) pages, \(depth) deep"
      let segments = usage.tables.first { $0.name == "segments" }?.tree.entries ?? 0
      if segments > 0 { part += ", \(segments) segments" }
      parts.append(part)
    }
  }

  var description: String { parts.joined(separator: "; ") }
}
