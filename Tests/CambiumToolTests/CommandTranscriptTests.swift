// Goal: the commands do and say what is written in Fixtures/transcripts, where they work and where
// something is wrong. Method: each transcript is run again in a folder of its own.

import Testing

@Suite("The commands", .timeLimit(.minutes(1)))
struct CommandTranscriptTests {
  /// Transcripts that not every system can run, and a command that tests whether this one can.
  private static let demanding = [
    "read-only": "mkdir x && unshare -rm sh -c 'mount --bind x x && mount -o remount,ro,bind x'",
    "busy": "flock . true",
    "full": "test -c /dev/full",
    "unreadable": "[ $(id -u) != 0 ] || setpriv --reuid=65534 --regid=65534 --clear-groups true",
  ]

  @Test("do and say what the transcript says", arguments: try Transcript.names())
  func transcripts(_ name: String) throws {
    guard Self.demanding[name] == nil else { return }
    try Workplace.with { try Transcript.check(name, in: $0) }
  }

  @Test("read where nothing can be written", .enabled(if: canRun("read-only")))
  func readOnly() throws { try Workplace.with { try Transcript.check("read-only", in: $0) } }

  @Test("wait for another writer", .enabled(if: canRun("busy")))
  func busy() throws { try Workplace.with { try Transcript.check("busy", in: $0) } }

  @Test("say that there is no room for the output", .enabled(if: canRun("full")))
  func full() throws { try Workplace.with { try Transcript.check("full", in: $0) } }

  @Test("call a folder that may not be entered unreadable", .enabled(if: canRun("unreadable")))
  func unreadable() throws { try Workplace.with { try Transcript.check("unreadable", in: $0) } }

  private static func canRun(_ name: String) -> Bool {
    guard let probe = demanding[name] else { return true }
    return (try? Workplace.with { try $0.run(probe) }) == ""
  }
}
