import Cambium

/// Finds the service that answers a request, by its path:
///
///     /v1/…        the interface of the server's own
///     /PATH.json   the Firebase dialect
///     /…           the inspector
struct Services: Service {
  private let commands: CommandInterface
  private let firebase: FirebaseService
  private let inspector = InspectorService()

  init(_ database: Database, _ hub: CommitHub, _ streams: EventStreams) {
    commands = CommandInterface(database, hub, streams)
    firebase = FirebaseService(database: database, hub: hub, events: streams)
  }

  func answer(_ request: Request) async -> Response {
    if request.path == "/v1" || request.path.hasPrefix(CommandInterface.prefix) {
      return await commands.answer(request)
    }
    if request.path.hasSuffix(".json") { return await firebase.answer(request) }
    return await inspector.answer(request)
  }
}
