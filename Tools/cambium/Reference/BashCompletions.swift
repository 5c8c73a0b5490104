/// The script with which bash completes command lines of `cambium`.
///
/// It needs no other package, and runs with the bash 3.2 of macOS too.
enum BashCompletions {
  static func script(_ commands: [Command]) -> String {
    """
    # Completes the commands and options of cambium. In ~/.bashrc:
    #   source <(cambium completions bash)

    # The words that start with what is written.
    _cambium_words() {
      COMPREPLY+=($(compgen -W "$1" -- "$word"))
    }

    # The files (-f) or folders (-d) that do; their names may have spaces.
    _cambium_files() {
      local IFS=$'\\n'
      compopt -o filenames 2>/dev/null
      COMPREPLY+=($(compgen "$1" -- "$word"))
    }

    # The paths in the database that do. bash takes words apart at : and =, which a path may have.
    _cambium_paths() {
      local typed=() count=0 part before= start
      for part in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        part=${part//\\\\/}
        part=${part#[\\'\\"]}
        part=${part%[\\'\\"]}
        if [[ $count -gt 0 && ($part == [:=]* || $before == [:=]*) ]]; then
          typed[count - 1]+=$part
        else
          typed[count++]=$part
        fi
        before=$part
      done
      start=${typed[count - 1]%"${word//\\\\/}"}
      start=${start#--*=}
      while IFS= read -r part; do
        COMPREPLY+=("${part#"$start"}")
      done < <(cambium __paths -- "${typed[@]}" 2>/dev/null)
      compopt -o filenames 2>/dev/null
      case ${COMPREPLY[0]} in */) compopt -o nospace 2>/dev/null ;; esac
    }

    _cambium() {
      local commands="\(commands.map(\.name).joined(separator: " "))"
      local word=${COMP_WORDS[COMP_CWORD]} before=$((COMP_CWORD - 1)) command= previous index
      COMPREPLY=()
      # bash takes --name=value apart at the =.
      if [ "$word" = = ]; then
        word=
      elif [ "${COMP_WORDS[before]}" = = ]; then
        before=$((before - 1))
      fi
      previous=${COMP_WORDS[before]}
      for ((index = 1; index < COMP_CWORD; index++)); do
        case " $commands " in *" ${COMP_WORDS[index]} "*)
          command=${COMP_WORDS[index]}
          break
          ;;
        esac
      done
      case $command in
    \(commands.map(branch).joined(separator: "\n"))
      *) _cambium_words "$commands" ;;
      esac
    }

    complete -F _cambium cambium

    """
  }

  /// The offers after one command: an option's value, options, or operands.
  private static func branch(_ command: Command) -> String {
    var lines = ["  \(command.name))"]
    let options = command.allOptions.filter { $0.value != nil }
    lines.append("    case $previous in")
    for option in options {
      let pattern = option.spellings.joined(separator: " | ")
      lines.append("    \(pattern)) \(action(option.value?.kind.offer ?? .nothing))return ;;")
    }
    lines.append("    esac")
    let names = command.allOptions.map { "--" + $0.name }.joined(separator: " ")
    lines.append("    case $word in")
    lines.append("    -*) _cambium_words \"\(names)\" ;;")
    lines.append("    *) \(command.offers.map(action).joined()):")
    lines.append("      ;;")
    return (lines + ["    esac", "    ;;"]).joined(separator: "\n")
  }

  private static func action(_ offer: Offer) -> String {
    switch offer {
    case .nothing: ""
    case .words(let words): "_cambium_words \"\(words.joined(separator: " "))\"; "
    case .files: "_cambium_files -f; "
    case .folders: "_cambium_files -d; "
    case .paths: "_cambium_paths; "
    }
  }
}
