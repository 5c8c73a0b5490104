import Cambium
import CambiumCommands

/// Cambium's own interface: the commands of the command line, by their names under `/v1/`.
///
///     GET  /v1/log?limit=5&match=actor=anna      lines of JSON, as `cambium log --json` prints
///     POST /v1/undo?rev=58&reason=typo           one object, as `cambium undo --json` prints
///     GET  /v1/changes?after=1200                server-sent events: `cambium tail --json`
///     GET  /v1/live?query=…                      server-sent events: `cambium watch --json`
///     POST /v1/verify                            a job: /v1/jobs/ID
///     GET  /v1/                                  the list of these
///     GET  /v1/openapi.json                      the same for programs
///
/// The table of commands has all of it: their names, parameters, checks, and how each keeps to a
/// caller's scope.
struct CommandInterface: Service {
  static let prefix = "/v1/"

  let database: Database
  let streams: EventStreams
  let changes: ChangeTopics
  let jobs: Jobs
  private let service: CommandService
  private let answered: AnsweredRequests
  /// The threads on which commands run, each until its client has taken what it writes.
  let workers = Workers()

  init(
    _ database: Database, _ answered: AnsweredRequests, _ hub: CommitHub, _ streams: EventStreams
  ) {
    self.database = database
    self.answered = answered
    self.streams = streams
    service = CommandService(database)
    changes = ChangeTopics(database, hub, workers)
    jobs = Jobs(service, workers)
  }

  func answer(_ request: Request) async -> Response {
    var response = await route(request)
    guard request.method == .head else { return response }
    if case .pipe(let pipe) = response.body { pipe.abandon() }
    response.body = .bytes([])
    return response
  }

  private func route(_ request: Request) async -> Response {
    let names = Array(request.segments.dropFirst())
    switch names.first {
    case nil: return read(request) { overview(request) }
    case "openapi.json"? where names.count == 1: return read(request) { OpenAPI.response }
    case "server"? where names.count == 1: return read(request) { serverResponse(request) }
    case "jobs"?: return jobs.answer(request, Array(names.dropFirst()), streams)
    case let name? where names.count == 1: return await command(name, request)
    default: return nothing(request)
    }
  }

  /// Answers a request that only reads, and refuses others.
  private func read(_ request: Request, _ answer: () -> Response) -> Response {
    request.method == .get || request.method == .head ? answer() : .notAllowed("GET, HEAD")
  }

  private func nothing(_ request: Request) -> Response {
    Response(
      404, error: "not_found", "there is nothing at \(request.path)",
      hint: "GET /v1/ lists what there is")
  }

  // MARK: Commands

  private func command(_ name: String, _ request: Request) async -> Response {
    let offers = CommandService.offers.filter { $0.name == name }
    if offers.isEmpty { return nothing(request) }
    let method: CommandRequest.Method = request.method == .post ? .post : .get
    let isKnown = request.method == .post || request.method == .get || request.method == .head
    guard isKnown, let offer = offers.first(where: { $0.method == method }) else {
      let methods = offers.map { $0.method == .get ? "GET, HEAD" : "POST" }
      return .notAllowed(methods.joined(separator: ", "))
    }
    if offer.isWriting && !request.caller.canWrite {
      return Response(
        403, error: "read_only", "nothing may be changed with this token, or on this server",
        hint: "the server must be started with --write, and the token be one that may write")
    }
    let command = CommandRequest(method, name, request)
    if offer.isStream {
      if request.method == .head { return Response(200, headers: [EventStream.mediaType]) }
      return name == "live" ? live(command, request) : changes.answer(command, request, streams)
    }
    if name == "verify" { return jobs.begin(command, request) }
    if !offer.isWriting { return await run(command, request) }
    return await runOnce(command, request)
  }

  /// Runs a command that writes, once for each `Idempotency-Key`. This is the only place that knows
  /// of such keys.
  private func runOnce(_ command: CommandRequest, _ request: Request) async -> Response {
    do {
      guard let kept = try KeptCommand(request, answered, database) else {
        return await run(command, request, isWriting: true)
      }
      if let answer = try kept.answer() { return answer }
      var command = command
      command.keeping = kept
      return try await kept.end(
        await run(command, request, isWriting: true) { kept.begin($0.headers) })
    } catch { return RecordsService.answer(to: error, request.caller) }
  }

  /// Runs a command. One that writes is not given up because it takes long: a part would be done.
  private func run(
    _ command: CommandRequest, _ request: Request, isWriting: Bool = false,
    begin: @escaping @Sendable (CommandAnswer) -> Void = { _ in }
  ) async -> Response {
    let answering = CommandAnswering(request.caller)
    var command = command
    command.isAbandoned = { !isWriting && answering.isAbandoned }
    let (path, service, parameters) = (request.path, self.service, command)
    return await withCheckedContinuation { continuation in
      answering.begin(continuation)
      Task(executorPreference: workers) {
        let ending = await service.run(
          parameters,
          begin: {
            answering.begin($0)
            begin($0)
          }, to: { try answering.write($0) })
        answering.end(ending) { CommandInterface.address(path, $0) }
      }
    }
  }

  /// The address of a request.
  static func address(_ path: String, _ parameters: [(name: String, value: String)]) -> String {
    let pairs = parameters.map { name, value in
      "\(PercentEncoding.encode(name))=\(PercentEncoding.encode(value))"
    }
    return pairs.isEmpty ? path : "\(path)?\(pairs.joined(separator: "&"))"
  }

  // MARK: What there is

  private func overview(_ request: Request) -> Response {
    let commands = CommandService.offers.map { offer -> Value in
      .map([
        "name": .string(offer.name), "method": .string(offer.method.rawValue.uppercased()),
        "href": .string(CommandInterface.prefix + offer.name), "summary": .string(offer.summary),
        "stream": .bool(offer.isStream), "writes": .bool(offer.isWriting),
      ])
    }
    let members: ValueMap = [
      "v": 1, "commands": .array(commands), "openapi": "/v1/openapi.json", "server": "/v1/server",
      "jobs": "/v1/jobs",
    ]
    return Response(json: members)
  }

  private func serverResponse(_ request: Request) -> Response {
    let name = database.path.split(separator: "/").last.map(String.init) ?? "database"
    guard let head = try? database.head else {
      return Response(503, error: "closed", "the database is closed")
    }
    let scope = request.caller.scope
    return Response(json: [
      "v": 1, "database": .string(scope.isRoot ? name : "database"),
      "write": .bool(request.caller.canWrite), "version": .string(CommandService.version),
      "head": .integer(Int64(head.rawValue)), "scope": .string(scope.description),
    ])
  }
}

extension Response {
  init(json members: ValueMap, _ status: Int = 200) {
    self.init(
      status, json: Array((JSONWriter.text(.map(members)) + "\n").utf8),
      headers: [("Cache-Control", "no-store")])
  }

  static func notAllowed(_ methods: String) -> Response {
    Response(
      405, error: "method_not_allowed", "this is asked by \(methods)",
      headers: [("Allow", methods)])
  }
}

extension CommandRequest {
  /// The request for a command that an HTTP request makes; tokens are no parameters of it.
  init(_ method: Method, _ name: String, _ request: Request) {
    let tokens: Set = ["auth", "access_token"]
    self.init(
      method, name,
      request.parameters.filter { !tokens.contains($0.name) }.map { ($0.name, $0.value) })
    body = request.body
    scope = request.caller.scope
    actor = request.caller.name
  }
}
