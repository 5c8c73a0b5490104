import Cambium

/// Finds the service that answers a request, by its path:
///
///     /v1/records…   models of a store over HTTP
///     /v1…           the commands of the command line
///     /PATH.json     the Firebase dialect
///     /…             the inspector
struct Services: Service {
  private let records: RecordsService
  private let commands: CommandInterface
  private let firebase: FirebaseService
  private let inspector = InspectorService()

  init(_ database: Database, _ hub: CommitHub, _ streams: EventStreams) {
    let answered = AnsweredRequests(database)
    records = RecordsService(
      database: database, answered: answered, hub: hub, streams: streams)
    commands = CommandInterface(database, answered, hub, streams)
    firebase = FirebaseService(
      database: database, answered: answered, hub: hub, events: streams)
  }

  func answer(_ request: Request) async -> Response {
    if RecordsService.takes(request.path) { return await records.answer(request) }
    if request.path == "/v1" || request.path.hasPrefix(CommandInterface.prefix) {
      return await commands.answer(request)
    }
    if request.path.hasSuffix(".json") { return await firebase.answer(request) }
    return await inspector.answer(request)
  }
}
