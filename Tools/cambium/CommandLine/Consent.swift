/// Asks before something is lost.
enum Consent {
  /// Goes on only where `--yes` was given, or a person at a terminal says so.
  ///
  /// - Throws: ``Failure``, where the answer is no, or nobody can be asked.
  static func ask(_ question: String, _ invocation: Invocation) throws(Failure) {
    if invocation.has(.yes) { return }
    guard System.isTerminal(System.standardInput), System.isTerminal(System.standardError) else {
      throw Failure(
        .refused, "consent", "\(question.dropLast()) needs a yes, and there is no terminal to ask",
        hint: "add --yes; --dry-run says what would happen")
    }
    System.complain("\(question) [y/N] ")
    let answer = readLine()?.lowercased() ?? ""
    if answer == "y" || answer == "yes" { return }
    throw Failure(.refused, "consent", "nothing was done")
  }
}
