import Cambium
import FoundationEssentials

/// The reason why a command did not do what was asked, as it is printed: what is wrong, and what to
/// do.
///
///     cambium: error: log has no option --snce
///       usage: cambium log [OPTIONS] [DB] [PATH]
///       hint: did you mean --since?
///
/// A failure without a message ends the process silently with its exit code.
struct Failure: Error, Equatable {
  /// Text with a mark under the place that could not be read.
  struct Excerpt: Equatable {
    let text: String
    /// The place, in bytes of UTF-8 from the start.
    let offset: Int
  }

  let exit: ExitCode
  /// A stable name for programs, in snake case.
  let code: String
  let message: String?
  var excerpt: Excerpt?
  var usage: String?
  var hint: String?

  init(_ exit: ExitCode, _ code: String, _ message: String, hint: String? = nil) {
    self.exit = exit
    self.code = code
    self.message = message
    self.hint = hint
  }

  private init(silent exit: ExitCode) {
    self.exit = exit
    code = "silent"
    message = nil
  }

  /// Ends the process with an exit code and nothing more to say.
  static func silent(_ exit: ExitCode) -> Failure { Failure(silent: exit) }

  /// The user pressed Ctrl-C, and the command stopped at a safe point. `resume` is the command line
  /// that continues, where one can.
  static func stopped(resume: String? = nil) -> Failure {
    guard let resume else { return silent(Signals.isTerminated ? .terminated : .interrupted) }
    return Failure(
      .partial, "interrupted", "interrupted; what was committed is kept",
      hint: "to continue, run: \(resume)")
  }

  /// The operating system refused something; `errno` as it stood after the call.
  /// The command line cannot be understood, or asks for what does not go together.
  static func usage(_ message: String, hint: String? = nil) -> Failure {
    Failure(.usage, "usage", message, hint: hint)
  }

  static func refused(_ message: String, hint: String? = nil) -> Failure {
    Failure(.refused, "refused", message, hint: hint)
  }

  /// Refuses a request for what the caller may not see.
  static func outOfScope(_ what: String) -> Failure {
    Failure(
      .refused, "out_of_scope",
      "\(what) cannot be seen with this token: its scope is a part of the tree",
      hint: "ask within the scope, or with a token for everything")
  }

  static func corrupt(_ message: String, hint: String? = nil) -> Failure {
    Failure(.corrupt, "corrupt", message, hint: hint)
  }

  static func partial(_ message: String, hint: String? = nil) -> Failure {
    Failure(.partial, "partial", message, hint: hint)
  }

  static func inputOutput(_ message: String) -> Failure {
    Failure(.inputOutput, "io_failure", message)
  }

  static func system(_ action: String, errno: Int32) -> Failure {
    Failure.inputOutput("\(action): \(System.message(errno))")
  }
}

extension Failure {
  /// The text for standard error, with a line feed after each line.
  var text: String {
    guard let message else { return "" }
    var lines = ["cambium: error: \(Terminal.escaped(message))"]
    if let excerpt {
      let before = String(decoding: excerpt.text.utf8.prefix(excerpt.offset), as: UTF8.self)
      let column = Terminal.displayWidth(Terminal.escaped(before))
      lines.append("    \(Terminal.escaped(excerpt.text))")
      lines.append("    \(String(repeating: " ", count: column))^")
    }
    if let usage { lines.append("  usage: \(usage)") }
    if let hint { lines.append("  hint: \(Terminal.escaped(hint))") }
    return lines.map { $0 + "\n" }.joined()
  }

  /// The line for programs, which follows the text when the output is JSON.
  var json: String {
    guard let message else { return "" }
    var members = [("code", code), ("message", message)]
    if let hint { members.append(("hint", hint)) }
    let body = members.map { "\(JSONText.quoted($0)):\(JSONText.quoted($1))" }
    return "{\"error\":{\(body.joined(separator: ","))}}\n"
  }
}

/// The quoting of words, so that a shell reads each as one.
enum Shell {
  /// The word itself where it is plain, else in single quotes.
  static func quoted(_ word: String) -> String {
    let plain = word.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: "_-./:=@%+,".utf8.contains(byte)
      }
    }
    if plain && !word.isEmpty { return word }
    return "'"
      + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      + "'"
  }
}
