import Cambium

/// Finds the service that answers a request, by its path.
struct Services: Service {
  private let database: Database
  private let firebase: FirebaseService

  init(_ database: Database, _ hub: CommitHub, _ streams: EventStreams) {
    self.database = database
    firebase = FirebaseService(database: database, hub: hub, events: streams)
  }

  func answer(_ request: Request) async -> Response {
    if request.path == "/v1/ping" {
      return Response(json: Array("{}".utf8))
    }
    if request.path.hasSuffix(".json") && !request.path.hasPrefix("/v1/") {
      return await firebase.answer(request)
    }
    return Response(404, error: "not_found", "there is nothing at \(request.path)")
  }
}
