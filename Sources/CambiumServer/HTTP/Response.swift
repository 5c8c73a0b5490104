/// The answer to a request.
struct Response: Sendable {
  enum Body: Sendable {
    case bytes([UInt8])
    /// Written while it is sent: a long list, or a stream of events.
    case pipe(BodyPipe)
  }

  var status: Int
  /// Names and values, in the order in which they are sent. The server adds those that every
  /// answer has.
  var headers: [(name: String, value: String)] = []
  var body: Body = .bytes([])

  init(_ status: Int, headers: [(name: String, value: String)] = [], body: Body = .bytes([])) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// An answer in JSON.
  init(
    _ status: Int = 200, json: [UInt8], headers: [(name: String, value: String)] = []
  ) {
    self.init(
      status, headers: [("Content-Type", "application/json; charset=utf-8")] + headers,
      body: .bytes(json))
  }

  /// The value of a header, whatever the case of its name.
  subscript(header name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}

/// A part of the server that answers the requests of a part of its paths.
protocol Service: Sendable {
  /// Answers a request. It may block its thread, which is one of the server's workers.
  func answer(_ request: Request) async -> Response
}
