import Cambium

/// A request for a command.
package struct CommandRequest: Sendable {
  package enum Method: String, Sendable { case get, post }

  package var method: Method
  /// The name under which the command is offered: `log`, `restore-node`.
  package var name: String
  package var parameters: [(name: String, value: String)]
  package var body: [UInt8] = []
  /// The node at and below which the caller may look.
  package var scope = NodePath.root
  /// The name under which changes are recorded where the request names nobody.
  package var actor: String?
  /// True once nobody waits for the answer any more; then the command ends soon.
  package var isAbandoned: @Sendable () -> Bool = { false }
  /// Hears how far long work is.
  package var progress: (@Sendable (WorkProgress) -> Void)?
  /// Keeps the answer of a request that is to be made once; nil for any other.
  package var keeping: (any CommandKeeping)?

  package init(
    _ method: Method, _ name: String, _ parameters: [(name: String, value: String)] = []
  ) {
    (self.method, self.name, self.parameters) = (method, name, parameters)
  }
}

/// An answer that is about to be written.
package struct CommandAnswer: Sendable {
  package let mediaType: String
  /// The newest transaction when the command began.
  package let sequence: SequenceNumber
}

/// The outcome of a command.
package enum CommandEnding: Sendable {
  /// All is written. `next` are the parameters of the request for what follows a page.
  case done(next: [(name: String, value: String)]?)
  /// Nothing was found, which is no error.
  case nothing
  case failed(CommandFailure)
}

/// Runs the commands of the command line for requests: the same table, the same checks and the same
/// output, on a database that is open, and without terminal, environment or files.
package struct CommandService: Sendable {
  private let database: Database

  package init(_ database: Database) { self.database = database }

  /// Understands a request and runs its command, on the calling thread as far as the command does.
  ///
  /// - Parameters:
  ///   - request: The request. The caller has checked that it may write.
  ///   - begin: Called before the command runs, once the request is understood.
  ///   - sink: Takes what the command writes; an error that it throws ends the command.
  /// - Returns: The outcome, also after a part was written.
  package func run(
    _ request: CommandRequest, begin: (CommandAnswer) -> Void,
    to sink: @escaping ([UInt8]) throws -> Void
  ) async -> CommandEnding {
    let isPartial = !request.scope.isRoot
    do {
      let (parser, invocation) = try CommandService.read(request)
      let size = try pageSize(request, invocation, parser)
      let served = Served(
        database: database, scope: request.scope, body: request.body, pageSize: size,
        isAbandoned: request.isAbandoned, progress: request.progress, keeping: request.keeping)
      begin(
        CommandAnswer(
          mediaType: parser.mediaType(invocation), sequence: try database.head))
      return try await Served.$current.withValue(served) {
        try await run(invocation, sink, request)
      }
    } catch {
      let failure = Failure(error, database: Served.databaseName)
      let isConditional = request.parameters.contains { $0.name == Option.ifSequence.name }
      let told = CommandFailure(failure, isPartial: isPartial, isConditional: isConditional)
      return told.map { .failed($0) } ?? .nothing
    }
  }

  private func run(
    _ invocation: Invocation, _ sink: @escaping ([UInt8]) throws -> Void, _ request: CommandRequest
  ) async throws -> CommandEnding {
    let output = Output(format: invocation.format, to: sink)
    let call = Call(invocation, output)
    do {
      defer { call.close() }
      try await invocation.command.run(call)
    } catch let end as Page.End {
      try output.finish()
      return .done(next: CommandService.next(request.parameters, end.changes))
    } catch {
      // The rows that were found before count.
      try output.finish()
      throw error
    }
    try output.finish()
    return .done(next: nil)
  }

  private static func next(
    _ parameters: [(name: String, value: String)], _ changes: Page.End.Changes
  ) -> [(name: String, value: String)] {
    var next = parameters
    for change in changes {
      let place = next.firstIndex { $0.name == change.name }
      if let place { next.remove(at: place) }
      if let value = change.value {
        next.insert((change.name, value), at: place ?? next.count)
      }
    }
    return next
  }

  private func pageSize(
    _ request: CommandRequest, _ invocation: Invocation, _ parser: RequestParser
  ) throws -> Int? {
    let text = request.parameters.first { $0.name == RequestParser.page.name }?.value
    guard parser.serving.isPaged, let text else { return nil }
    if invocation.format != .json {
      throw Failure.usage("pages are lines of JSON", hint: "leave out output, or page")
    }
    return Int(text)
  }
}

/// The meaning of a request.
extension CommandService {
  /// The command that is offered under a name, and how.
  static func offer(
    _ method: CommandRequest.Method, _ name: String
  ) -> (command: Command, serving: Serving)? {
    let method: Serving.Method = method == .get ? .get : .post
    for command in Commands.all + Commands.hidden {
      for serving in command.servings
      where serving.method == method && (serving.name ?? command.name) == name {
        return (command, serving)
      }
    }
    return nil
  }

  static func read(
    _ request: CommandRequest
  ) throws(Failure) -> (parser: RequestParser, invocation: Invocation) {
    guard let (command, serving) = offer(request.method, request.name) else {
      throw Failure(.missing, "unknown_command", "there is nothing at /v1/\(request.name)")
    }
    let parser = RequestParser(
      command: command, serving: serving, here: Served.here(request.scope))
    if !request.scope.isRoot { try check(request, serving) }
    var parameters = request.parameters
    if let actor = request.actor, !parameters.contains(where: { $0.name == "actor" }),
      parser.options.contains(where: { $0.name == "actor" })
    {
      parameters.append(("actor", actor))
    }
    let invocation = try parser.parse(parameters, hasBody: !request.body.isEmpty)
    try checkPaths(of: invocation, parser, within: request.scope)
    return (parser, invocation)
  }

  /// Refuses what a caller with a scope may not ask at all.
  private static func check(_ request: CommandRequest, _ serving: Serving) throws(Failure) {
    if case .none = serving.scope { throw Failure.outOfScope("this") }
    for (name, value) in request.parameters {
      if serving.rootOnly.contains(name) { throw Failure.outOfScope(name) }
      // For people, transactions are told with counts of all that they did.
      if case .changes = serving.scope, name == "output", value == "short" {
        throw Failure.outOfScope("this form")
      }
    }
  }

  private static func checkPaths(
    of invocation: Invocation, _ parser: RequestParser, within scope: NodePath
  ) throws(Failure) {
    if scope.isRoot { return }
    let operands = parser.operands.filter { $0.kind == .path }.flatMap { invocation.all($0) }
    let options = parser.options.filter { $0.value?.kind == .path }.flatMap { invocation.all($0) }
    for argument in operands + options where !argument.path.isWithin(scope) {
      throw Failure.outOfScope("/" + argument.path.description)
    }
  }
}

extension RequestParser {
  /// The media type of the answer.
  func mediaType(_ invocation: Invocation) -> String {
    mediaType(of: invocation.format, isObject: isObject(invocation))
  }

  func mediaType(of format: OutputFormat, isObject: Bool) -> String {
    switch format {
    case .jsonArray: "application/json"
    case .json, .jsonPretty: isObject ? "application/json" : "application/x-ndjson"
    case .csv: "text/csv; charset=utf-8"
    case .tsv: "text/tab-separated-values; charset=utf-8"
    case .markdown: "text/markdown; charset=utf-8"
    // A value as it is may be anything.
    case .short where command.name == GetCommand.command.name: "application/octet-stream"
    case .short, .table: "text/plain; charset=utf-8"
    }
  }

  private func isObject(_ invocation: Invocation) -> Bool {
    if command.name == InfoCommand.command.name {
      return !([InfoCommand.by] + InfoCommand.lists).contains(where: invocation.has)
    }
    if command.name == QueryCommand.command.name { return invocation.has(QueryCommand.explain) }
    return serving.isObject
  }
}

extension CommandService {
  /// The reason why a request cannot be understood; nil for one that can.
  package func problem(_ request: CommandRequest) -> CommandFailure? {
    do {
      _ = try CommandService.read(request)
      return nil
    } catch {
      return CommandFailure(error, isPartial: !request.scope.isRoot)
    }
  }
}
