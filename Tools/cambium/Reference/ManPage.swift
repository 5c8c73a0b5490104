import Cambium

/// The man page, written from the table: a page of man(7) for all commands and topics.
struct ManPage {
  let commands: [Command]
  var topics = Topic.all

  func text() -> String {
    var lines = [
      ".TH CAMBIUM 1 \"\" \"cambium \(Tool.version)\" \"Cambium\"",
      ".SH NAME", "cambium \\- keeps data and every change that was ever made to it",
      ".SH SYNOPSIS", ManPage.escaped(Help.usage), ".SH DESCRIPTION",
    ]
    lines += ManPage.paragraphs(
      "A database is a directory. Where a command takes DB and none is named, it is $CAMBIUM_DB, "
        + "else the current directory if it holds one. What follows `--` is no option.")
    for group in Command.Group.allCases {
      let members = commands.filter { $0.group == group }
      if members.isEmpty { continue }
      lines.append(".SH \(group.rawValue.uppercased())")
      lines += members.flatMap(section)
    }
    for topic in topics {
      lines.append(".SH \(ManPage.escaped(topic.name.uppercased()))")
      lines += ManPage.paragraphs(topic.text)
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private func section(_ command: Command) -> [String] {
    var lines = [
      ".SS \(ManPage.escaped(command.name))", ManPage.bold(command.usage), ".PP",
      ManPage.escaped(sentence(command.summary)),
    ]
    lines += [".PP"] + ManPage.paragraphs(command.discussion)
    for operand in command.operands {
      lines += [".TP", ManPage.bold(operand.name), ManPage.escaped(operand.help)]
    }
    for option in command.allOptions {
      let spellings = option.letter.map { "-\($0), \(option.synopsis)" } ?? option.synopsis
      lines += [".TP", ManPage.bold(spellings), ManPage.escaped(option.explanation)]
    }
    for (line, text) in command.examples {
      lines += [".PP", "\(ManPage.escaped(sentence(text, end: ":")))"]
      lines += ManPage.verbatim([line])
    }
    return lines
  }

  /// With a capital and a mark at the end.
  private func sentence(_ text: String, end: String = ".") -> String {
    text.prefix(1).uppercased() + text.dropFirst() + end
  }
}

/// The language of man pages.
extension ManPage {
  /// Paragraphs, as in ``Command/discussion``: lines that start with a space are kept.
  private static func paragraphs(_ text: String) -> [String] {
    var lines: [String] = []
    var kept: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
      if line.first == " " {
        kept.append(line)
        continue
      }
      if !kept.isEmpty { lines += verbatim(kept) }
      kept = []
      lines.append(line.isEmpty ? ".PP" : running(line))
    }
    return kept.isEmpty ? lines : lines + verbatim(kept)
  }

  private static func verbatim(_ lines: [String]) -> [String] {
    [".PP", ".RS 2", ".nf"] + lines.map(escaped) + [".fi", ".RE"]
  }

  private static func bold(_ text: String) -> String { "\\fB\(inner(text))\\fR" }

  /// Running text, in which the words between backquotes become bold.
  private static func running(_ text: String) -> String {
    let parts = text.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
    // A quotation that continues in the next line is left as it is written.
    guard parts.count % 2 == 1 else { return escaped(text) }
    let marked = parts.enumerated().map { index, part in index % 2 == 1 ? bold(part) : inner(part) }
    return guarded(marked.joined())
  }

  private static func escaped(_ text: String) -> String { guarded(inner(text)) }

  /// A line that starts with a dot or a quote would be a request.
  private static func guarded(_ line: String) -> String {
    line.first == "." || line.first == "'" ? "\\&" + line : line
  }

  /// Text in ASCII without a meaning for the formatter.
  private static func inner(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "`": result += "\\(ga"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case "…": result += "..."
      case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
      default: result += "\\[u\(hexadecimal(scalar.value))]"
      }
    }
    return result
  }

  private static func hexadecimal(_ value: UInt32) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
