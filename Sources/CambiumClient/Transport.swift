// The door to the network: a test puts one in front of it that loses, repeats and delays.

/// A request to the server.
package struct TransportRequest: Sendable {
  package var method: String
  /// The path and what is behind the `?`, percent-encoded.
  package var path: String
  package var headers: [String: String]
  package var body: [UInt8]

  package init(
    _ method: String, _ path: String, headers: [String: String] = [:], body: [UInt8] = []
  ) {
    self.method = method
    self.path = path
    self.headers = headers
    self.body = body
  }
}

/// A whole answer; of a stream, its head.
package struct TransportAnswer: Sendable {
  package var status: Int
  package var body: [UInt8]

  package init(status: Int, body: [UInt8] = []) {
    self.status = status
    self.body = body
  }
}

/// An answer whose body comes bit by bit.
package struct TransportStream: Sendable {
  package var head: TransportAnswer
  package var pieces: AsyncThrowingStream<[UInt8], any Error>
  /// Ends the connection.
  package var close: @Sendable () -> Void

  package init(
    head: TransportAnswer, pieces: AsyncThrowingStream<[UInt8], any Error>,
    close: @escaping @Sendable () -> Void
  ) {
    self.head = head
    self.pieces = pieces
    self.close = close
  }
}

/// There is no answer: the server may or may not have got the request.
package struct TransportFailure: Error, Equatable, CustomStringConvertible {
  package var description: String

  package init(_ description: String) { self.description = description }
}

/// Sends requests.
package protocol Transport: Sendable {
  /// Sends a request, and waits for the whole answer.
  ///
  /// - Throws: ``TransportFailure``, `CancellationError`.
  func send(_ request: TransportRequest) async throws -> TransportAnswer

  /// Sends a request, and waits for the head of the answer; the body of one that is refused is in
  /// the head.
  ///
  /// - Throws: ``TransportFailure``, `CancellationError`; so do the pieces.
  func stream(_ request: TransportRequest) async throws -> TransportStream

  /// Ends every connection.
  func close()
}
