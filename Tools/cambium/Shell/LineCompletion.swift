import Cambium
import FoundationEssentials

/// Completes the last word of a command line, by the table of commands and by what is in the
/// database and the file system.
struct LineCompletion {
  let commands: [Command]
  /// The shell's own commands, which come first in a line too.
  var builtins: [String] = []
  let here: Surroundings

  /// A word that the last one can become. One that ends with a slash may still be continued.
  typealias Candidate = String

  /// The words that may replace `last`, after these words.
  func candidates(after words: [String], _ last: String) -> [Candidate] {
    guard let name = words.first else {
      return (commands.map(\.name) + builtins).filter { $0.hasPrefix(last) }
    }
    if name == "cd" && builtins.contains(name) { return paths(for: last, here.defaultDatabase) }
    guard let command = commands.first(where: { $0.name == name }) else { return [] }
    let wanted = wanted(command, Array(words.dropFirst()), last)
    let lead = last.dropLast(wanted.written.count)
    return wanted.offers.flatMap { offer in
      values(offer, wanted.written, wanted.database).map { lead + $0 }
    }
  }

  /// Only the paths among the candidates, which the scripts of other shells ask for. Of a word such
  /// as `--into=users/a`, only the part after the `=`.
  func paths(after words: [String], _ last: String) -> [Candidate] {
    guard let name = words.first, let command = commands.first(where: { $0.name == name })
    else { return [] }
    let wanted = wanted(command, Array(words.dropFirst()), last)
    return wanted.offers.contains(.paths) ? paths(for: wanted.written, wanted.database) : []
  }
}

extension LineCompletion {
  /// The offers for a place in the line.
  private struct Wanted {
    var offers: [Offer]
    /// The part of it that is already written.
    var written: String
    var database: String?
  }

  private func wanted(_ command: Command, _ words: [String], _ last: String) -> Wanted {
    var wanted = operand(command, words, last)
    if words.contains("--") { return wanted }
    if let option = optionBeforeValue(command, words.last) {
      wanted.offers = [option.value?.kind.offer ?? .nothing]
    } else if last.hasPrefix("--"), let equals = last.firstIndex(of: "=") {
      let option = command.allOptions.first { "--" + $0.name == last[..<equals] }
      wanted.offers = [option?.value?.kind.offer ?? .nothing]
      wanted.written = String(last[equals...].dropFirst())
    } else if last.hasPrefix("-") {
      wanted.offers = [.words(command.allOptions.map { "--" + $0.name })]
    }
    return wanted
  }

  /// The option that a word is, if the word after it is its value.
  private func optionBeforeValue(_ command: Command, _ word: String?) -> Option? {
    guard let word, Words.isOption(word) else { return nil }
    return command.allOptions.first { option in
      guard option.value != nil else { return false }
      if word.hasPrefix("--") { return word == "--" + option.name }
      return option.letter != nil && word.last == option.letter
    }
  }

  /// The offers for the next operand, and the database that the operands before it name.
  private func operand(_ command: Command, _ words: [String], _ last: String) -> Wanted {
    var reader = Words(command: command, rest: words[...])
    try? reader.read()
    var texts = reader.operands.filter { command.filter == nil || !Match.isMatch($0) }
    var database = here.defaultDatabase
    if command.takesDatabase, let first = texts.first.map(atHome), here.looksLikeDatabase(first) {
      database = first
      texts.removeFirst()
    }
    let operands = Array(command.positionalOperands)
    var offers: [Offer] = []
    if texts.count < operands.count {
      offers = [operands[texts.count].kind.offer]
    } else if let operand = operands.last, operand.repeats {
      offers = [operand.kind.offer]
    }
    return Wanted(
      offers: offers, written: last, database: command.takesDatabase ? database : nil)
  }

  /// A path as the system's shell would have it; only what is most common, a leading `~/`.
  private func atHome(_ path: String) -> String {
    guard path.hasPrefix("~/"), let home = here.environment["HOME"] else { return path }
    return home + path.dropFirst()
  }

  private func values(_ offer: Offer, _ written: String, _ database: String?) -> [Candidate] {
    switch offer {
    case .nothing: []
    case .words(let words): words.filter { $0.hasPrefix(written) }
    case .paths: paths(for: written, database)
    case .files, .folders: files(written, onlyFolders: offer == .folders)
    }
  }

  private func paths(for written: String, _ database: String?) -> [Candidate] {
    guard let database else { return [] }
    return PathOffers(database: database, base: here.base).offers(for: written)
  }

  /// The files whose names start with what is written; a folder ends with a slash.
  private func files(_ written: String, onlyFolders: Bool) -> [Candidate] {
    let lead = written.lastIndex(of: "/").map { String(written[...$0]) } ?? ""
    let start = written.dropFirst(lead.count)
    let folder = lead.isEmpty ? "." : lead
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.sorted().prefix(10_000).compactMap { name in
      guard name.hasPrefix(start), !name.hasPrefix(".") || start.hasPrefix(".") else { return nil }
      var isFolder = false
      _ = FileManager.default.fileExists(atPath: folder + "/" + name, isDirectory: &isFolder)
      if onlyFolders && !isFolder { return nil }
      return lead + name + (isFolder ? "/" : "")
    }
  }
}
