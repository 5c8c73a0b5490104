import FoundationEssentials

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Shows long output a page at a time: `$CAMBIUM_PAGER`, `$PAGER`, else `less`.
///
/// As git does, it sets `LESS=FRSX` unless it is set: quit if one page is enough, keep colours,
/// cut long lines, leave the text on the screen.
@safe final class Pager {
  /// Where to write.
  let descriptor: Int32
  private let command: String
  private let stream: UnsafeMutablePointer<FILE>

  /// Starts the pager.
  ///
  /// - Returns: nil where standard output is no terminal, there is no `less`, or none is wanted
  ///   (`cat`, or an empty name).
  static func start(_ here: Surroundings) -> Pager? {
    guard System.isTerminal(System.standardOutput) else { return nil }
    let environment = here.environment
    let wanted = environment["CAMBIUM_PAGER"] ?? environment["PAGER"]
    let command = wanted ?? (isInstalled("less", environment) ? "less" : "")
    if ["", "cat"].contains(command) { return nil }
    _ = unsafe setenv("LESS", "FRSX", 0)
    guard let stream = unsafe popen(command, "w") else { return nil }
    Signals.leaveInterrupts()
    return unsafe Pager(command, stream)
  }

  private init(_ command: String, _ stream: UnsafeMutablePointer<FILE>) {
    self.command = command
    unsafe self.stream = stream
    descriptor = unsafe fileno(stream)
  }

  /// Tells the pager that this was all, and waits until the user leaves it.
  ///
  /// - Throws: Where the shell, which exits with 127 then, did not find the pager.
  func wait() throws(Failure) {
    guard unsafe pclose(stream) >> 8 == 127 else { return }
    throw Failure(
      .inputOutput, "pager", "the pager “\(command)” could not be started",
      hint: "correct CAMBIUM_PAGER or PAGER, or use --no-pager")
  }

  private static func isInstalled(_ name: String, _ environment: [String: String]) -> Bool {
    environment["PATH", default: ""].split(separator: ":").contains { folder in
      unsafe access("\(folder)/\(name)", X_OK) == 0
    }
  }
}
