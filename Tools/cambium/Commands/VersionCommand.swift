import Cambium

/// `cambium version`: which release this is.
enum VersionCommand {
  static let command = Command(
    name: "version", group: .other,
    summary: "prints the version",
    discussion: "`cambium --version` is the same.",
    options: Option.output(.short, .json),
    examples: ["cambium version --json": "for programs"],
    run: run)

  static func run(_ call: Call) throws {
    switch call.format {
    case .json: try call.output.line("{\"version\":\(JSONText.quoted(Tool.version))}")
    default: try call.output.line("cambium \(Tool.version)")
    }
  }
}
