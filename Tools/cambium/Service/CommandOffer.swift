import Cambium

/// A command as the server offers it: all that a description of the interface says of it.
package struct CommandOffer: Sendable {
  /// A parameter.
  package struct Parameter: Sendable {
    package let name: String
    package let help: String
    /// The values that it may have, as JSON Schema.
    package let schema: ValueMap
    package let isRequired: Bool
    /// True if it may be given several times.
    package let repeats: Bool
    /// True if its name alone means yes.
    package let isFlag: Bool
  }

  package let name: String
  package let method: CommandRequest.Method
  package let summary: String
  package let discussion: String
  /// The command line that does the same.
  package let usage: String
  package let parameters: [Parameter]
  /// The meaning of the body, for those that have one.
  package let body: String?
  package let isObject: Bool
  package let isPaged: Bool
  package let isStream: Bool
  /// True if it changes the database.
  package let isWriting: Bool
  /// True if a token for a part of the tree is enough.
  package let isForParts: Bool
  /// The media types of its answers.
  package let mediaTypes: [String]
}

extension CommandService {
  /// All that is offered, in the order of the command line's overview.
  package static let offers: [CommandOffer] = (Commands.all + Commands.hidden).flatMap { command in
    command.servings.map { CommandOffer(command, $0) }
  }

  /// The version of the program.
  package static var version: String { Tool.version }
}

extension CommandOffer {
  fileprivate init(_ command: Command, _ serving: Serving) {
    let parser = RequestParser(command: command, serving: serving, here: Served.here(.root))
    name = serving.name ?? command.name
    method = serving.method == .get ? .get : .post
    summary = serving.summary ?? command.summary
    discussion = command.discussion
    usage = command.usage
    let body = parser.operands.first { $0.name == serving.body }
    parameters =
      parser.operands.filter { $0.kind != .file }.map { operand in
        Parameter(
          name: operand.parameter, help: operand.help, schema: operand.kind.schema,
          isRequired: !operand.isOptional && operand.name != serving.body,
          repeats: operand.repeats, isFlag: false)
      }
      + parser.options.map { option in
        Parameter(
          name: option.name, help: option.help,
          schema: option.value?.kind.schema ?? ["type": "boolean"],
          isRequired: option.isRequired, repeats: option.repeats, isFlag: option.value == nil)
      }
    self.body = body?.help
    (isObject, isPaged, isStream) = (serving.isObject, serving.isPaged, serving.isStream)
    isWriting = serving.method == .post && serving.name != VerifyCommand.verifyJob
    if case .none = serving.scope { isForParts = false } else { isForParts = true }
    mediaTypes = serving.isStream ? ["text/event-stream"] : parser.mediaTypes
  }
}

extension RequestParser {
  fileprivate var mediaTypes: [String] {
    let output = command.options.first { $0.name == "output" }?.value?.kind
    guard case .choice(let names)? = output else { return ["application/json"] }
    var types = Set(
      names.compactMap(OutputFormat.init).map { mediaType(of: $0, isObject: serving.isObject) })
    // These have both, as their parameters say.
    if [InfoCommand.command.name, QueryCommand.command.name].contains(command.name) {
      types.insert("application/json")
    }
    return types.sorted()
  }
}

extension Kind {
  /// The values as JSON Schema; what a text must be like beyond that is said in words.
  fileprivate var schema: ValueMap {
    switch self {
    case .text, .file, .database, .path, .range, .match, .pattern, .subject: ["type": "string"]
    case .moment, .span: ["type": "string", "minLength": 1]
    case .number(let range):
      range.upperBound == .max
        ? ["type": "integer", "minimum": .integer(Int64(range.lowerBound))]
        : [
          "type": "integer", "minimum": .integer(Int64(range.lowerBound)),
          "maximum": .integer(Int64(range.upperBound)),
        ]
    case .choice(let names): ["type": "string", "enum": .array(names.map { .string($0) })]
    }
  }
}
