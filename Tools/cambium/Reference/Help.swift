/// Writes the help, from the table alone.
struct Help {
  static let usage = "cambium COMMAND [OPTIONS] [DB] [OPERANDS]"

  let commands: [Command]
  var topics = Topic.all
  let style: Style
  /// The largest width of the text.
  let columns: Int

  /// The overview that `cambium` alone prints: the commands by group, and where to find more.
  func overview() -> String {
    var lines = ["cambium keeps data and every change that was ever made to it.", ""]
    lines += ["usage: \(Help.usage)", ""]
    let width = commands.map(\.name.count).max() ?? 0
    for group in Command.Group.allCases {
      let members = commands.filter { $0.group == group }
      if members.isEmpty { continue }
      lines.append(style(.heading, group.rawValue))
      lines += members.flatMap { entry($0.name, $0.summary, width: width) }
    }
    lines += ["", style(.heading, "Examples")]
    lines += ["import", "log", "get"].flatMap { name in
      commands.filter { $0.name == name }.compactMap(\.examples.first).map { "  \($0.key)" }
    }
    lines += ["", style(.heading, "More")] + references()
    return text(lines)
  }

  /// The short help that `-h` prints: the usage, the operands and the options.
  func short(_ command: Command) -> String { text(head(command) + parameters(command)) }

  /// Everything about a command.
  func full(_ command: Command) -> String {
    var lines = head(command) + wrapped(command.discussion) + [""] + parameters(command)
    if !command.examples.isEmpty { lines += ["", style(.heading, "Examples")] }
    for (index, example) in command.examples.enumerated() {
      if index > 0 { lines.append("") }
      lines += ["  \(style(.metadata, "# " + example.value))", "  \(example.key)"]
    }
    return text(lines)
  }

  /// A page that belongs to no command.
  func page(_ topic: Topic) -> String {
    text(wrapped("\(topic.name): \(topic.summary)") + [""] + wrapped(topic.text))
  }
}

/// The parts.
extension Help {
  private func references() -> [String] {
    var entries = [
      ("cambium help COMMAND", "everything about a command"),
      ("cambium COMMAND -h", "its usage and its options"),
    ]
    entries += topics.map { ("cambium help \($0.name)", $0.summary) }
    let width = entries.map(\.0.count).max() ?? 0
    return entries.flatMap { entry($0.0, $0.1, width: width) }
  }

  private func head(_ command: Command) -> [String] {
    wrapped("cambium \(command.name): \(command.summary)") + ["", "usage: \(command.usage)", ""]
  }

  private func parameters(_ command: Command) -> [String] {
    let operands = command.operands.map { ($0.name, $0.help) }
    let options = command.allOptions.map { ($0.label, $0.explanation) }
    let width = min(28, (operands + options).map(\.0.count).max() ?? 0)
    var lines = operands.flatMap { entry($0.0, $0.1, width: width) }
    if !lines.isEmpty { lines.append("") }
    lines.append(style(.heading, "Options"))
    return lines + options.flatMap { entry($0.0, $0.1, width: width) }
  }

  /// A name, and beside it what it is; below it where the name is long.
  private func entry(_ name: String, _ text: String, width: Int) -> [String] {
    let indent = String(repeating: " ", count: width + 4)
    var lines = wrapped(text, indent: indent)
    let label = "  " + name
    if name.count <= width, let first = lines.first {
      lines[0] = Terminal.padded(label, to: width + 4) + first.dropFirst(indent.count)
    } else {
      lines.insert(label, at: 0)
    }
    return lines
  }

  private func text(_ lines: [String]) -> String { lines.map { $0 + "\n" }.joined() }

  /// Breaks paragraphs at the width; lines that start with a space, and empty ones, stay.
  private func wrapped(_ text: String, indent: String = "") -> [String] {
    var lines: [String] = []
    var paragraph = ""
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.first != " " && !line.isEmpty {
        paragraph += " " + line
        continue
      }
      lines += broken(paragraph, indent: indent) + [String(line)]
      paragraph = ""
    }
    return lines + broken(paragraph, indent: indent)
  }

  private func broken(_ paragraph: String, indent: String) -> [String] {
    if paragraph.isEmpty { return [] }
    var lines: [String] = []
    var current = indent
    for word in paragraph.split(separator: " ") {
      let width = Terminal.displayWidth(current) + 1 + Terminal.displayWidth(String(word))
      if current == indent {
        current += word
      } else if width <= columns {
        current += " " + word
      } else {
        lines.append(current)
        current = indent + word
      }
    }
    return lines + [current]
  }
}

extension Option {
  /// The letter and the name, in columns: `-n, --limit N`.
  fileprivate var label: String { (letter.map { "-\($0), " } ?? "    ") + synopsis }

  /// The help, the allowed values, and the default.
  var explanation: String {
    var text = help
    if case .choice(let names) = value?.kind { text += "; one of \(names.joined(separator: ", "))" }
    if repeats { text += "; may be repeated" }
    if let fallback { text += " (default \(fallback))" }
    return text
  }
}
