// Goal: help, completions and man page say what the table of commands says, all of it. Method: the
// scripts are run by the shells that they are for, and what they offer is compared with the table;
// the man page is formatted, and searched.

import Testing

@testable import CambiumCommands

@Suite("Completions and man page", .timeLimit(.minutes(1)))
struct ReferenceTests {
  private static func isInstalled(_ program: String) -> Bool {
    (try? Workplace.with { try $0.run("command -v \(program) >/dev/null") }) == ""
  }

  @Test("scripts have every command, option and choice", arguments: ["bash", "zsh", "fish"])
  func scripts(_ shell: String) throws {
    let script = try Workplace.with { try $0.run("cambium completions \(shell)") }
    for command in Commands.all {
      #expect(script.contains("\(command.name)"))
      for option in command.allOptions {
        let name = shell == "fish" ? "-l \(option.name) " : "--\(option.name)"
        #expect(script.contains(name), "\(command.name) \(name)")
        if case .words(let words)? = option.value?.kind.offer {
          #expect(script.contains(words.joined(separator: " ")))
        }
      }
    }
  }

  @Test("scripts are understood by their shells", arguments: ["bash", "zsh", "fish"])
  func syntax(_ shell: String) throws {
    guard Self.isInstalled(shell) else { return print("skipped: \(shell) is not installed") }
    #expect(
      try Workplace.with { place in
        try place.run("cambium completions \(shell) > script && \(shell) -n script")
      } == "")
  }

  @Test("bash offers what the table says, for every command and every option with a choice")
  func bash() throws {
    let lines = Self.questions
    let calls = lines.map { line in
      """
      COMP_WORDS=(\(line.words.map(Shell.quoted).joined(separator: " ")))
      COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _cambium; echo "${COMPREPLY[*]}"
      """
    }
    let script = "source <(cambium completions bash)\n" + calls.joined(separator: "\n")
    let answers = try Self.answers("bash", script)
    try #require(answers.count == lines.count)
    for (line, answer) in zip(lines, answers) {
      #expect(
        answer.split(separator: " ").map(String.init) == line.expected, "\(line.words)")
    }
  }

  @Test("bash completes values after =, the start of a word, and the names of folders")
  func bashWords() throws {
    let answers = try Self.answers(
      "bash",
      """
      mkdir 'a b.cambium' && source <(cambium completions bash)
      ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cambium; echo "${COMPREPLY[*]}"; }
      ask cambium comp
      ask cambium tail --output = js
      ask cambium tail --output =
      ask cambium --color never log --rev
      ask cambium info a
      ask cambium completions ''
      ask cambium help mom
      ask cambium put x y ''
      """)
    #expect(
      answers == [
        "compact compare completions", "json", "short json", "--reverse", "a b.cambium",
        "bash zsh fish", "moments", "a b.cambium",
      ])
  }

  /// Makes a database whose keys have spaces, and what bash takes words apart at.
  private static let fill = """
    cambium put --create a.cambium users/ada '{"name": "Ada"}' -q
    cambium put a.cambium 'users/bob smith' 1 -q
    cambium put a.cambium times/2013-01-01T05:00=x 1 -q
    """

  /// Lines as they are typed, and as a Tab completes them.
  private static let typed: [(line: String, completed: String)] = [
    ("get a.cambium us", "get a.cambium users/"),
    ("get a.cambium users/a", "get a.cambium users/ada "),
    ("get a.cambium users/b", "get a.cambium users/bob\\ smith "),
    ("get a.cambium users/ada/n", "get a.cambium users/ada/name "),
    ("log a.cambium times/2", "log a.cambium times/2013-01-01T05:00=x "),
    ("log a.cambium times/2013-01-01T05:0", "log a.cambium times/2013-01-01T05:00=x "),
    ("import a.cambium x --into us", "import a.cambium x --into users/"),
    ("import a.cambium x --into=us", "import a.cambium x --into=users/"),
  ]

  @Test("bash completes paths", .enabled(if: isInstalled("bash")))
  func bashPaths() throws {
    try Workplace.with { place in
      _ = try place.run(Self.fill)
      let shell = try TerminalSession("bash --norc", in: place, environment: ["PS1": "$ "])
      try shell.read(until: "$ ")
      try shell.type("source <(cambium completions bash)\n", until: "\r\n$ ")
      for (line, completed) in Self.typed {
        // In what it adds, bash takes the meaning from these two.
        let added = completed.dropFirst(line.count)
          .replacing(":", with: "\\:").replacing("=x", with: "\\=x")
        try Self.check(shell, line, line + added)
      }
    }
  }

  @Test("zsh completes paths", .enabled(if: isInstalled("zsh")))
  func zshPaths() throws {
    try Workplace.with { place in
      _ = try place.run(Self.fill)
      let start = "autoload -U compinit; compinit -u -D; source <(cambium completions zsh)"
      let shell = try TerminalSession("zsh -f", in: place, environment: ["PS1": "$ "])
      try shell.read(until: "$ ")
      try shell.type("\(start); echo it is re''ady\n", until: "it is ready")
      // This sequence follows the prompt once zsh reads the terminal itself.
      try shell.read(until: "[?2004h")
      for (line, completed) in Self.typed { try Self.check(shell, line, completed) }
    }
  }

  /// Types a line in the place of the last one, and a Tab.
  private static func check(
    _ shell: TerminalSession, _ line: String, _ completed: String
  ) throws {
    try shell.type("\u{15}cambium \(line)", until: line)
    try shell.type("\t", until: String(completed.dropFirst(line.count)))
  }

  @Test("fish completes paths", .enabled(if: isInstalled("fish")))
  func fishPaths() throws {
    let calls = Self.typed.map { "complete -C 'cambium \($0.line)' | string split -f 1 \\t" }
    let script = (["cambium completions fish | source", Self.fill] + calls).joined(separator: "\n")
    #expect(
      try Self.answers("fish --no-config", script) == [
        "users/", "users/ada", "users/bob smith", "users/ada/name", "times/2013-01-01T05:00=x",
        "times/2013-01-01T05:00=x", "users/", "--into=users/",
      ])
  }

  @Test("fish offers what the table says", .enabled(if: isInstalled("fish")))
  func fish() throws {
    // Two dashes are no start of a word to fish, and what it finds beside the script is not asked.
    let lines = Self.questions.filter { $0.words.count != 3 }
    let calls = lines.map { line in
      let words = line.words.joined(separator: " ")
      return "string join ' ' (complete -C '\(words)' | string split -f 1 \\t | sort -u); or echo"
    }
    let script = "cambium completions fish | source\n" + calls.joined(separator: "\n")
    let answers = try Self.answers("fish", script)
    try #require(answers.count == lines.count)
    for (line, answer) in zip(lines, answers) {
      let found = Set(answer.split(separator: " ").map(String.init))
      #expect(found.isSuperset(of: line.expected), "\(line.words): \(answer)")
    }
  }

  @Test("the man page is formatted without a warning", .enabled(if: isInstalled("groff")))
  func warnings() throws {
    #expect(try Workplace.with { try $0.run("cambium man | groff -man -ww -z") } == "")
  }

  @Test("the man page has what the help has", .enabled(if: isInstalled("groff")))
  func page() throws {
    let formatted = try Workplace.with { place in
      try place.run("cambium man | groff -man -Tutf8 -P-cbou -rLL=3000n -rHY=0")
    }
    let page = Self.squeezed(formatted)
    for command in Commands.all {
      #expect(page.contains(Self.squeezed(command.usage)), "\(command.usage)")
      for operand in command.operands { #expect(page.contains(Self.squeezed(operand.help))) }
      for option in command.allOptions {
        let expected = Self.squeezed("\(option.synopsis) \(option.explanation)")
        #expect(page.contains(expected), "\(command.name): \(expected)")
      }
      for example in command.examples { #expect(page.contains(Self.squeezed(example.key))) }
    }
    for topic in Topic.all {
      for line in topic.text.split(separator: "\n") where line.first == " " {
        #expect(page.contains(Self.squeezed(String(line))), "\(line)")
      }
    }
  }

  /// A line that is begun, and what its last word can become.
  private struct Question {
    let words: [String]
    let expected: [String]
  }

  private static var questions: [Question] {
    let names = Commands.all.map(\.name)
    var questions = [Question(words: ["cambium", ""], expected: names)]
    for command in Commands.all {
      let options = command.allOptions.map { "--" + $0.name }
      questions.append(Question(words: ["cambium", command.name, "--"], expected: options))
      for option in command.options {
        guard case .words(let words)? = option.value?.kind.offer else { continue }
        for spelling in option.spellings {
          questions.append(
            Question(words: ["cambium", command.name, spelling, ""], expected: words))
        }
      }
    }
    return questions
  }

  private static func answers(_ shell: String, _ script: String) throws -> [String] {
    try Workplace.with { place in
      let text = try place.run("\(shell) <<'END OF SCRIPT'\n\(script)\nEND OF SCRIPT")
      return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        .map(String.init)
    }
  }

  /// The words with one space between them, and quotation marks in one form.
  private static func squeezed(_ text: String) -> String {
    text.replacing("…", with: "...").split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
