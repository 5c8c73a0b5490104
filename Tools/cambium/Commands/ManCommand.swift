/// `cambium man`: the man page.
enum ManCommand {
  static let command = Command(
    name: "man", group: .other,
    summary: "prints the man page",
    discussion: """
      It holds what `cambium help` tells of every command and topic, for man and groff to format.
      """,
    examples: [
      "cambium man | man -l -": "reads it",
      "cambium man > /usr/local/share/man/man1/cambium.1": "installs it",
    ],
    run: run)

  static func run(_ call: Call) throws {
    try call.output.write(ManPage(commands: Commands.all).text())
  }
}
