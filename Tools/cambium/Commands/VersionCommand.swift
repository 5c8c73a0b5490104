import Cambium

/// `cambium version`: which release this is.
enum VersionCommand {
  static let command = Command(
    name: "version", group: .other,
    summary: "prints the version",
    discussion: "`cambium --version` is the same.",
    options: Option.output(.short, .json),
    examples: [.init("cambium version --json", "for programs")],
    run: run)

  static func run(_ invocation: Invocation, _ output: Output) throws {
    switch invocation.format {
    case .json: try output.line("{\"version\":\(JSONText.quoted(Tool.version))}")
    default: try output.line("cambium \(Tool.version)")
    }
  }
}
