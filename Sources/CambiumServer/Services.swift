import Cambium

/// Finds the service that answers a request, by its path.
struct Services: Service {
  private let commands: CommandInterface

  init(_ database: Database, _ hub: CommitHub, _ streams: EventStreams) {
    commands = CommandInterface(database, hub, streams)
  }

  func answer(_ request: Request) async -> Response {
    if request.path == "/v1/ping" {
      return Response(json: Array("{}".utf8))
    }
    if request.path == "/v1" || request.path.hasPrefix(CommandInterface.prefix) {
      return await commands.answer(request)
    }
    return Response(404, error: "not_found", "there is nothing at \(request.path)")
  }
}
