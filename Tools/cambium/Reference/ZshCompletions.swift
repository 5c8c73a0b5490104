/// The script with which zsh completes command lines of `cambium`, with what each word means.
enum ZshCompletions {
  static func script(_ commands: [Command]) -> String {
    """
    #compdef cambium
    # Completes the commands and options of cambium. In ~/.zshrc, after compinit:
    #   source <(cambium completions zsh)
    # or as a file named _cambium in a folder of $fpath.

    # The paths in the database that start with what is written; a space follows none that goes on.
    _cambium_paths() {
      local -a found inner
      found=("${(@f)$(cambium __paths -- "${(@Q)words[1,CURRENT-1]}" "${(Q)IPREFIX}${(Q)PREFIX}" \
        2>/dev/null)}")
      inner=(${(M)found:#*/})
      found=(${found:#*/})
      compadd -S '' -a inner
      compadd -a found
    }

    _cambium() {
      local curcontext=$curcontext state line
      local -a commands
      commands=(
    \(commands.map(entry).joined(separator: "\n"))
      )
      _arguments -C '1:command:->command' '*::argument:->argument'
      case $state in
      command) _describe -t commands 'command' commands ;;
      argument)
        case $words[1] in
    \(commands.map(branch).joined(separator: "\n"))
        esac
        ;;
      esac
    }

    if [ "$funcstack[1]" = _cambium ]; then
      _cambium "$@"
    else
      compdef _cambium cambium
    fi

    """
  }

  private static func entry(_ command: Command) -> String {
    "    " + quoted("\(command.name):\(command.summary)")
  }

  private static func branch(_ command: Command) -> String {
    var lines = ["    \(command.name))", "      _arguments -s -S : \\"]
    lines += command.allOptions.map { "        \(specification($0)) \\" }
    lines.append("        \(operands(command))")
    return (lines + ["      ;;"]).joined(separator: "\n")
  }

  /// An option, as `_arguments` takes it: what it excludes, its spellings, its help, its value.
  private static func specification(_ option: Option) -> String {
    let isFlag = option.value == nil
    let spellings =
      ["--\(option.name)\(isFlag ? "" : "=")"]
      + (option.letter.map { ["-\($0)\(isFlag ? "" : "+")"] } ?? [])
    let exclusion = option.repeats ? "*" : "(\(option.spellings.joined(separator: " ")))"
    var rest = "[\(escaped(option.help))]"
    if let value = option.value { rest += ":\(escaped(value.name)):\(action(value.kind.offer))" }
    if spellings.count == 1 { return quoted(exclusion + spellings[0] + rest) }
    return "\(quoted(exclusion)){\(spellings.joined(separator: ","))}\(quoted(rest))"
  }

  private static func operands(_ command: Command) -> String {
    let actions = command.offers.map(action)
    if actions.isEmpty { return quoted("*:operand:") }
    if actions.count == 1 { return quoted("*:operand:\(actions[0])") }
    let alternatives = actions.map { "\"operands:operand:\($0)\"" }.joined(separator: " ")
    return quoted("*:operand:{_alternative \(alternatives)}")
  }

  private static func action(_ offer: Offer) -> String {
    switch offer {
    case .nothing: ""
    case .words(let words): "(\(words.joined(separator: " ")))"
    case .files: "_files"
    case .folders: "_files -/"
    case .paths: "_cambium_paths"
    }
  }

  /// Text within a specification, where brackets and colons have a meaning.
  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      if "\\[]:".contains(character) { result.append("\\") }
      result.append(character)
    }
  }

  private static func quoted(_ text: String) -> String {
    "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
  }
}
