/// The exit status of the process. The numbers are a promise to scripts; `cambium help exit-codes`
/// prints them.
enum ExitCode: Int32, CaseIterable, Sendable {
  case success = 0
  case negative = 1
  case usage = 2
  case missing = 3
  case corrupt = 4
  case busy = 5
  case unsupported = 6
  case refused = 7
  case inputOutput = 8
  case partial = 9
  case interrupted = 130
  case brokenPipe = 141
  case terminated = 143

  /// The explanation of the number in the help.
  var meaning: String {
    switch self {
    case .success: "done, found, or sound"
    case .negative: "ran, but the answer is no: nothing matched, or the input is bad"
    case .usage: "the command line cannot be understood"
    case .missing: "no such database, node or moment"
    case .corrupt: "stored bytes are damaged"
    case .busy: "another writer holds the database (--wait waits longer)"
    case .unsupported: "another version of cambium wrote the database"
    case .refused: "not allowed: a bad value, a failed --if-seq, or history that was compacted"
    case .inputOutput: "the disk is full, not readable, or failing"
    case .partial: "stopped half-way, and can be resumed as the message says"
    case .interrupted: "interrupted by Ctrl-C"
    case .brokenPipe: "the reader of the output went away (silent)"
    case .terminated: "terminated"
    }
  }
}
