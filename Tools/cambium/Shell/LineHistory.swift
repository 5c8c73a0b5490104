import Cambium
import FoundationEssentials

/// The lines that were typed into the shell, in a file: `$XDG_STATE_HOME/cambium/history`, else
/// `~/.local/state/cambium/history`. Where that cannot be written, or there is no home, the lines
/// are only kept until the shell ends.
///
/// Each line is added at once, so that shells that run side by side keep those of both. A line that
/// starts with a space is not kept, nor is one of more than 4 KiB. A shell that starts takes the
/// newest thousand; where the file has twice as many, it drops the others.
struct LineHistory {
  static let linesMax = 1000
  static let lineBytesMax = 4 << 10

  private let file: String?

  init(_ environment: [String: String]) {
    let state = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.local/state" : nil }
    file = (state ?? home).map { $0 + "/cambium/history" }
  }

  /// The lines of earlier shells, the newest last.
  func lines() -> [String] {
    guard let file, let data = try? Data(contentsOf: URL(filePath: file)) else { return [] }
    let lines = data.split(separator: ASCII.lineFeed).compactMap { bytes in
      String(validating: bytes, as: UTF8.self)
    }
    let newest = Array(lines.suffix(LineHistory.linesMax))
    if lines.count > 2 * LineHistory.linesMax {
      let text = newest.map { $0 + "\n" }.joined()
      try? Data(text.utf8).write(to: URL(filePath: file), options: .atomic)
    }
    return newest
  }

  /// True if a line is to be remembered at all.
  static func keeps(_ line: String) -> Bool {
    !line.hasPrefix(" ") && line.contains { !$0.isWhitespace }
      && line.utf8.count <= lineBytesMax && !line.utf8.contains(0)
  }

  /// Adds a line, which has no line feed.
  func add(_ line: String) {
    guard let file else { return }
    let folder = URL(filePath: file).deletingLastPathComponent().path
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    System.append(Array((line + "\n").utf8), to: file)
  }
}
