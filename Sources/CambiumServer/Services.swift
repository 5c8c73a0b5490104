import Cambium

/// Finds the service that answers a request, by its path.
struct Services: Service {
  private let database: Database

  init(_ database: Database, _ hub: CommitHub, _ streams: EventStreams) {
    self.database = database
  }

  func answer(_ request: Request) async -> Response {
    if request.path == "/v1/ping" {
      return Response(json: Array("{}".utf8))
    }
    return Response(404, error: "not_found", "there is nothing at \(request.path)")
  }
}
