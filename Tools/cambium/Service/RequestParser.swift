import Cambium

/// Understands a request by the table of commands, as ``Parser`` does a command line.
///
///     path=a/b & limit=5 & reverse & match=actor=anna   ──▶   Invocation
///
/// Everything that is not offered is unknown, so that no request names a file of the server.
struct RequestParser {
  let command: Command
  let serving: Serving
  let here: Surroundings

  /// Options that say how a terminal is written to, or how long the command may wait.
  static let never: Set<String> = [
    "help", "no-pager", "color", "progress", "quiet", "wait", "json",
  ]

  /// The parameter for the number of rows of a page.
  static let page = Option(
    "page", "N", .number(1...10_000),
    "end after N rows; a last line then has `next`, the address of what follows")

  /// The parameter for where a stream of transactions begins.
  static let after = Option(
    "after", "N", .number(0...Int.max),
    "begin after transaction N; else with the next one. Last-Event-ID goes before it")

  var operands: [Operand] {
    command.operands.filter {
      $0.kind != .database && !isLeftOut($0.parameter)
        && ($0.kind != .file || serving.body == $0.name)
    }
  }

  var options: [Option] {
    command.options.filter {
      let kind = $0.value?.kind
      return kind != .file && kind != .database && $0.meaning == nil && !isLeftOut($0.name)
        && !RequestParser.never.contains($0.name) && !serving.fixed.contains($0.name)
    } + (serving.isPaged ? [RequestParser.page] : [])
      + (serving.name == TailCommand.streamName ? [RequestParser.after] : [])
  }

  private func isLeftOut(_ name: String) -> Bool { serving.without.contains(name) }

  /// Reads the parameters.
  ///
  /// - Throws: ``Failure`` for one that is unknown, comes twice, or cannot be read.
  func parse(
    _ parameters: [(name: String, value: String)], hasBody: Bool
  ) throws(Failure) -> Invocation {
    try checkNames(parameters)
    var arguments: [String: [Argument]] = [:]
    for operand in operands {
      // A file that a request brings is its body; none of the server's can be named.
      var texts =
        operand.kind == .file
        ? [] : parameters.filter { $0.name == operand.parameter }.map(\.value)
      if operand.name == serving.body && texts.isEmpty && hasBody { texts = ["-"] }
      if texts.isEmpty {
        if operand.isOptional {
          arguments[operand.name] = fallback(operand)
          continue
        }
        let isBody = operand.name == serving.body
        throw Failure.usage(
          isBody
            ? "the request has no body: \(operand.help)"
            : "\(operand.parameter) is missing: \(operand.help)")
      }
      arguments[operand.name] = try texts.map { text throws(Failure) in
        try operand.kind.read(self.text(text, of: operand), operand.parameter, here)
      }
    }
    for option in options {
      let texts = try texts(of: option, parameters)
      if texts.isEmpty && option.isRequired { throw Failure.usage("\(option.name) is missing") }
      if texts.isEmpty { continue }
      arguments["--" + option.name] = try texts.map { text throws(Failure) in
        guard let kind = option.value?.kind else { return Argument(text: text, reading: .text) }
        return try kind.read(kind == .path ? absolute(text) : text, option.name, here)
      }
    }
    // Events have lines of JSON.
    if serving.isStream { arguments["--output"] = [Argument(text: "json", reading: .text)] }
    for name in serving.fixed { arguments["--" + name] = [Argument(text: "", reading: .text)] }
    return Invocation(command: command, database: Served.databaseName, arguments: arguments)
  }

  private func checkNames(_ parameters: [(name: String, value: String)]) throws(Failure) {
    let named = operands.filter { $0.kind != .file }
    let known = named.map { ($0.parameter, $0.repeats) } + options.map { ($0.name, $0.repeats) }
    var seen: Set<String> = []
    for (name, _) in parameters {
      guard let (_, repeats) = known.first(where: { $0.0 == name }) else {
        let names = known.map(\.0)
        let hint = Suggestion.nearest(to: name, in: names).map { "did you mean \($0)?" }
        throw Failure(
          .usage, "unknown_parameter", "\(command.name) has no parameter “\(name)”",
          hint: hint ?? "it has \(names.joined(separator: ", "))")
      }
      if !seen.insert(name).inserted && !repeats {
        throw Failure.usage("\(name) is given twice")
      }
    }
  }

  private func texts(
    of option: Option, _ parameters: [(name: String, value: String)]
  ) throws(Failure) -> [String] {
    let texts = parameters.filter { $0.name == option.name }.map(\.value)
    if option.value != nil {
      if !texts.isEmpty { return texts }
      let fallback = option.name == "output" && offersJSON(option) ? "json" : option.fallback
      return fallback.map { [$0] } ?? []
    }
    switch texts.first {
    case nil, "false"?, "0"?: return []
    case ""?, "true"?, "1"?: return [""]
    case let text?: throw Failure.usage("\(option.name) is true or false, not “\(text)”")
    }
  }

  private func offersJSON(_ option: Option) -> Bool {
    if case .choice(let names)? = option.value?.kind { names.contains("json") } else { false }
  }

  /// Paths begin at the root, unlike those of a shell that is somewhere.
  private func absolute(_ text: String) -> String { text.hasPrefix("/") ? text : "/" + text }

  private func text(_ text: String, of operand: Operand) -> String {
    if operand.kind == .path { return absolute(text) }
    // The words after a collection are a clause, whose first word a request need not repeat.
    return operand.name.hasPrefix("where ") && !text.hasPrefix("where ") ? "where " + text : text
  }

  private func fallback(_ operand: Operand) -> [Argument]? {
    guard operand.kind == .path, !here.base.isRoot else { return nil }
    return [Argument(text: "/" + here.base.description, reading: .path(here.base))]
  }
}
