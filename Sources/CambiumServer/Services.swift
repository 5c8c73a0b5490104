import Cambium

/// Finds the service that answers a request, by its path.
struct Services: Service {
  private let database: Database
  private let records: RecordsService

  init(_ database: Database, _ hub: CommitHub, _ streams: EventStreams) {
    self.database = database
    let answered = AnsweredRequests(database)
    records = RecordsService(
      database: database, answered: answered, hub: hub, streams: streams)
  }

  func answer(_ request: Request) async -> Response {
    if request.path == "/v1/ping" {
      return Response(json: Array("{}".utf8))
    }
    if RecordsService.takes(request.path) { return await records.answer(request) }
    return Response(404, error: "not_found", "there is nothing at \(request.path)")
  }
}
