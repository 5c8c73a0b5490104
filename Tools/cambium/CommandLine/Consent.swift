/// Asks before something is lost.
enum Consent {
  /// Continues only if `--yes` was given, or a person at a terminal agrees.
  ///
  /// - Parameters:
  ///   - action: The action to be confirmed, as in “drop 5 transactions for good”.
  ///   - call: Where `--yes` may be.
  ///
  /// - Throws: ``Failure``, where the answer is no, or nobody can be asked.
  static func ask(to action: String, _ call: Call) throws(Failure) {
    if call.has(.yes) { return }
    guard System.isTerminal(System.standardInput), System.isTerminal(System.standardError) else {
      throw Failure(
        .refused, "consent", "“\(action)” needs a yes, and there is no terminal to ask",
        hint: "add --yes; --dry-run says what would happen")
    }
    System.complain("\(action)? [y/N] ")
    let answer = readLine()?.lowercased() ?? ""
    if answer == "y" || answer == "yes" { return }
    throw Failure(.refused, "consent", "nothing was done")
  }
}
