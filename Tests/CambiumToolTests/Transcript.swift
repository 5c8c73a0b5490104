import Foundation
import Testing

/// A user's session with the program, as a text that is run again and compared.
///
///     # A comment says what it is about. The next names a transcript that comes first.
///     # after: team
///     $ cambium put --create a.cambium visits 0
///     tx 1
///
/// A line with `$ `, and those with `> ` after it, are run by a shell; what follows is all that it
/// prints, standard error included, and its status where that is not zero. Text that differs each
/// time is replaced by a word in capitals: TIME, UUID, DIGEST, SIZE, DURATION, RATE, PAGES, PID.
///
/// `Tools/test --transcripts` writes down what is printed now, instead of comparing; read its diff.
enum Transcript {
  /// The names of the transcripts in their folder, sorted.
  static func names() throws -> [String] {
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return files.map { $0.deletingPathExtension().lastPathComponent }.sorted()
  }

  /// Runs the lines of a transcript, and compares the whole.
  static func check(_ name: String, in place: Workplace) throws {
    let url = folder.appending(path: "\(name).txt")
    let expected = try String(contentsOf: url, encoding: .utf8)
    var actual = ""
    var command: [Substring] = []
    for line in expected.split(separator: "\n", omittingEmptySubsequences: false) {
      if !command.isEmpty && !line.hasPrefix("> ") {
        actual += masked(try place.run(command.joined(separator: "\n")))
        command = []
      }
      if line.hasPrefix("# after: ") { try check(String(line.dropFirst(9)), in: place) }
      if line.hasPrefix("$ ") || line.hasPrefix("> ") { command.append(line.dropFirst(2)) }
      if line.hasPrefix("#") || !command.isEmpty { actual += line + "\n" }
    }
    if actual == expected { return }
    if ProcessInfo.processInfo.environment["CAMBIUM_TRANSCRIPTS"] == "write" {
      return try actual.write(to: url, atomically: true, encoding: .utf8)
    }
    let pairs = zip(
      actual.split(separator: "\n", omittingEmptySubsequences: false),
      expected.split(separator: "\n", omittingEmptySubsequences: false))
    if let (actual, expected) = pairs.first(where: { $0 != $1 }) {
      #expect(actual == expected, "the first difference in \(name)")
    }
    Issue.record("\(name) is now:\n\(actual)")
  }

  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures/transcripts")

  /// Puts words for what differs each time. Dates in the tests' own data are of years before 2020.
  private static func masked(_ text: String) -> String {
    text
      .replacing(#/20[2-9]\d-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z| [-+]\d\d:\d\d)?/#, with: "TIME")
      .replacing(#/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/#, with: "UUID")
      .replacing(#/\b[0-9a-f]{64}\b/#, with: "DIGEST")
      .replacing(#/ +\d+(\.\d)? [kM]?B\b/#, with: " SIZE")
      .replacing(#/\d+\.\d+ s\b/#, with: "DURATION")
      .replacing(#/\d+(\.\d)?k? (operations|rows|commits)\/s/#, with: "RATE")
      .replacing(#/\.\d+\.tmp\b/#, with: ".PID.tmp")
      .replacing(#/pages +\d+/#, with: "pages PAGES")
  }
}
