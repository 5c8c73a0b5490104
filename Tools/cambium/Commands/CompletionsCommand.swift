/// `cambium completions`: what a shell needs to complete command lines.
enum CompletionsCommand {
  static let shell = Operand("SHELL", .choice(["bash", "zsh", "fish"]), "the shell")

  static let command = Command(
    name: "completions", group: .other,
    summary: "prints a script that completes commands, options and paths",
    discussion: """
      The shell reads it at its start. It completes commands, options, the values of those that have
      a choice, the names of files and databases, and the paths in a database that the line names.

        bash   source <(cambium completions bash)           in ~/.bashrc
        zsh    source <(cambium completions zsh)            in ~/.zshrc, after compinit
        fish   cambium completions fish | source            in ~/.config/fish/config.fish
      """,
    operands: [shell],
    examples: [
      "cambium completions bash > cambium.bash": "to a file, which bash then sources"
    ],
    run: run)

  static func run(_ call: Call) throws {
    switch call.value(shell).text {
    case "bash": try call.output.write(BashCompletions.script(Commands.all))
    case "zsh": try call.output.write(ZshCompletions.script(Commands.all))
    default: try call.output.write(FishCompletions.script(Commands.all))
    }
  }
}
