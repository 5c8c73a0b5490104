/// The script with which fish completes command lines of `cambium`, with what each word means.
enum FishCompletions {
  static func script(_ commands: [Command]) -> String {
    """
    # Completes the commands and options of cambium. In ~/.config/fish/config.fish:
    #   cambium completions fish | source

    set -g __cambium_commands \(commands.map(\.name).joined(separator: " "))

    # Whether the command of the line is this one; without a name, whether there is none yet.
    function __cambium_is
        set -l words (commandline -opc)
        for word in $words[2..-1]
            if contains -- $word $__cambium_commands
                test "$word" = "$argv[1]"
                return
            end
        end
        test -z "$argv[1]"
    end

    # The paths in the database that start with what is written.
    function __cambium_paths
        set -l words (commandline -opc)
        set -l last (commandline -ct)
        cambium __paths -- $words[2..-1] "$last" 2>/dev/null
    end

    complete -c cambium -e
    complete -c cambium -f

    """ + commands.flatMap(lines).map { "complete -c cambium -n \($0)\n" }.joined()
  }

  /// The command's name, its options and its operands.
  private static func lines(_ command: Command) -> [String] {
    let condition = "'__cambium_is \(command.name)'"
    return ["__cambium_is -a \(command.name) -d \(quoted(command.summary))"]
      + command.allOptions.map { "\(condition) \(specification($0))" }
      + command.offers.map { "\(condition) \(arguments($0))" }
  }

  private static func specification(_ option: Option) -> String {
    var words = ["-l \(option.name)"]
    if let letter = option.letter { words.append("-s \(letter)") }
    if let offer = option.value?.kind.offer {
      words.append(offer == .files ? "-r -F" : "-x \(arguments(offer))")
    }
    return (words.filter { !$0.isEmpty } + ["-d \(quoted(option.help))"]).joined(separator: " ")
  }

  private static func arguments(_ offer: Offer) -> String {
    switch offer {
    case .nothing: ""
    case .words(let words): "-a \(quoted(words.joined(separator: " ")))"
    case .files: "-F"
    case .folders: "-a '(__fish_complete_directories)'"
    case .paths: "-a '(__cambium_paths)'"
    }
  }

  private static func quoted(_ text: String) -> String {
    let escaped = text.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
    return "'\(escaped)'"
  }
}
